import type { RequestRecord } from './request-record.js';
import type { SentBody } from './sent-body.js';

/** What its record has in another form, or what is found out when it is read. */
type Read =
  | 'caller'
  | 'receivedAt'
  | 'duration'
  | 'model'
  | 'conversation'
  | 'asked'
  | 'headers'
  | 'body'
  | 'isBodyExact'
  | 'response'
  | 'isForeign';

/** One request in progress. Converted to a record only when it is read. */
export interface LogEntry extends Omit<RequestRecord, Read> {
  /** Counts the requests of the log, which sets it. */
  order?: number;
  /** The name of its key or user, looked up on first use. */
  owner?: { name: string | undefined };
  /**
   * Alternating names and values. Not the request's `Headers`, which would keep the request and its connection in
   * memory.
   */
  headers: readonly string[];
  /** The header of session tokens, in lower case, which may have any name. */
  sessionHeader?: string | undefined;
  /** At most `LOGGED_BYTES`, in a buffer of its own. */
  body?: Uint8Array | undefined;
  receivedAt: number;
  finishedAt?: number | undefined;
  /** What it is about, read from its body on first use. */
  subject?: { model: string | undefined; conversation: string | undefined; asked?: string | undefined } | undefined;
  /** The response: a string, or the recorded part of a streamed body. */
  response?: { headers: Record<string, string>; body: string | SentBody; isBodyCut?: boolean } | undefined;
  /** Whether a page of another machine sent it, without a valid key. */
  isForeign: boolean;
  /** Whether the inspector's playground sent it, with its own key. It counts towards limits of its own. */
  isOfPlayground?: boolean | undefined;
}
