import type { ReachedLimit } from './rate-limit.js';
import type { SentBody } from './sent-body.js';

/**
 * How a request ended: `pending` until the response is complete; `aborted` if the client disconnected first; `reset` and
 * `cut` come from faults.
 */
export type Outcome = 'pending' | 'answered' | 'aborted' | 'reset' | 'cut';

/** A request that repeats one that failed: a further attempt of the same call. */
export interface Attempt {
  /** The id of the first request of the call. */
  call: string;
  /** 2 for the first repetition. */
  number: number;
  /**
   * What joins them: the header `Idempotency-Key` or `traceparent`, or else the same method, path, credential and body
   * within a minute after the wait that was asked for.
   */
  by: 'idempotency-key' | 'traceparent' | 'same request';
}

/** One request in progress. Converted to a record only when it is read. */
export interface LogEntry {
  requestId: string;
  /** Counts the requests of the log, which sets it. */
  order?: number;
  /** The name of its key or user, looked up on first use. */
  owner?: { name: string | undefined };
  method: string;
  path: string;
  /**
   * Alternating names and values. Not the request's `Headers`, which would keep the request and its connection in
   * memory.
   */
  headers: readonly string[];
  /** At most `LOGGED_BYTES`, in a buffer of its own. */
  body: Uint8Array | undefined;
  isBodyCut: boolean;
  receivedAt: number;
  finishedAt: number | undefined;
  status: number | undefined;
  outcome: Outcome;
  events: number | undefined;
  tokens: { prompt: number; completion: number } | undefined;
  /** For a completion: what its answer came from. */
  answeredBy?: string | undefined;
  fault: string | undefined;
  error: string | undefined;
  /** The response: a string, or the recorded part of a streamed body. */
  response: { headers: Record<string, string>; body: string | SentBody; isBodyCut?: boolean } | undefined;
  limit: ReachedLimit | undefined;
  attempt: Attempt | undefined;
  /** Whether a page of another machine sent it, without a valid key. */
  isForeign: boolean;
}
