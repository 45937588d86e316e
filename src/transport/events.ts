import type { RateLimit } from '../api-promise.js';
import type { Area } from '../errors/api.js';
import type { CompletionUsage } from '../errors/base.js';
import type { ValidationIssue } from '../errors/issues.js';

/** Why a failed call is not tried again. */
export type StopReason = 'not-repeatable' | 'retries-used-up' | 'hint-too-long' | 'no-time-left' | 'budget-empty';

/**
 * What every event says. Paths are written as in the interface (`/api/memory/{memoryId}`), or as `client.request` was given them:
 * ids, keys and texts are in none.
 */
export interface CallFacts {
  /** Numbers the calls of one client from 1, to tell which events belong together. */
  readonly call: number;
  readonly area: Area;
  readonly method: string;
  readonly path: string;
}

/** A call begins: its arguments are right. Told in the caller's own turn, so that a tracer finds the span it belongs to. */
export interface StartEvent extends CallFacts {
  readonly type: 'start';
  /** The model that is asked, where the call has one. */
  readonly model: string | undefined;
  readonly streamed: boolean;
}

/** One attempt is about to be sent. `attempt` counts from 1. */
export interface RequestEvent extends CallFacts {
  readonly type: 'request';
  readonly attempt: number;
  /**
   * Sends a header with this attempt, such as `traceparent`, and says whether it does: one that the caller set stays as it is.
   * Those that `headers` cannot set, it cannot either.
   */
  readonly setHeader: (name: string, value: string) => boolean;
}

/** Status and headers of an attempt are here. `duration` in ms. */
export interface ResponseEvent extends CallFacts {
  readonly type: 'response';
  readonly attempt: number;
  readonly status: number;
  readonly duration: number;
  readonly requestId: string | undefined;
}

/** The call begins to wait because the service would refuse it now: the limit of this bucket is used up. */
export interface QueuedEvent extends CallFacts {
  readonly type: 'queued';
  readonly bucket: string;
}

/** The call has left the queue after `waited` ms: it goes now, or it has ended, as the next events say. */
export interface PacedEvent extends CallFacts {
  readonly type: 'paced';
  readonly bucket: string;
  readonly waited: number;
}

/** An attempt failed and is followed by another one after `wait` ms. `reason` is the status, or the name of the error. */
export interface RetryEvent extends CallFacts {
  readonly type: 'retry';
  readonly attempt: number;
  readonly reason: number | string;
  readonly wait: number;
}

/** The call failed for good, or its stream ended badly. `stop` says why it is not tried again. */
export interface FailureEvent extends CallFacts {
  readonly type: 'failure';
  readonly attempt: number;
  readonly reason: number | string;
  readonly stop: StopReason;
}

/** A response is not what is documented, and `validation` is `'report'`. */
export interface ValidationEvent extends CallFacts {
  readonly type: 'validation';
  readonly issues: readonly ValidationIssue[];
}

/** The call is over: once for every call that began, plain or streamed, however it ends. Times in ms. */
export interface DoneEvent extends CallFacts {
  readonly type: 'done';
  /** `left`: the reader of a stream left it before its end. `aborted`: by a signal, or because the client was closed. */
  readonly outcome: 'success' | 'error' | 'aborted' | 'left';
  /** The name of the error. */
  readonly error: string | undefined;
  /** The status of the last attempt's response, if one came. */
  readonly status: number | undefined;
  readonly attempts: number;
  /** From its beginning to its end; of a stream, to its last event. */
  readonly duration: number;
  /** Spent in queues for rate limits. */
  readonly queued: number;
  /** Of a stream, from the last request to its first chunk. */
  readonly timeToFirstChunk: number | undefined;
  /** Of a stream, the longest wait for an event after the first chunk. */
  readonly largestGap: number | undefined;
  /** The model that was asked. */
  readonly model: string | undefined;
  /** The model that answered, by its own account. */
  readonly responseModel: string | undefined;
  /** Why each choice ended. */
  readonly finishReasons: readonly string[];
  /** As the service counted, or an estimate by bytes where a stream brought text and no count. */
  readonly usage: CompletionUsage | undefined;
  readonly usageEstimated: boolean;
  /** Bytes of bodies, all attempts together; those received, once they are decompressed. */
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
}

/** What `onEvent` receives. */
export type ClientEvent =
  | (StartEvent | RequestEvent | ResponseEvent | RetryEvent | FailureEvent)
  | (QueuedEvent | PacedEvent | ValidationEvent | DoneEvent);

/** Told what happens in the calls of a client. What it throws is ignored. */
export type Listener = (event: ClientEvent) => void;

/** An event without the facts its call adds. */
export type EventBody<E extends ClientEvent = ClientEvent> = E extends ClientEvent ? Omit<E, keyof CallFacts> : never;

/** What the response to a completion says of itself. */
export interface CompletionFacts {
  readonly model: string | undefined;
  readonly finishReasons: readonly string[];
  readonly usage: CompletionUsage | undefined;
  /** UTF-8 bytes of the text, as far as it came. Of a stream. */
  readonly written?: number;
}
