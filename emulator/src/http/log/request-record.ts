import type { FaultResponse } from '../../faults/rule.js';
import type { PromptTokens } from '../../text/prompt-tokens.js';
import type { ReachedLimit } from '../rate-limit.js';
import type { Attempt, Outcome, Similar } from './log-entry.js';

/** The main facts of a request. */
export interface RequestSummary {
  requestId: string;
  method: string;
  /** Path with query. */
  path: string;
  /** The name of its API key, or the user of its session; undefined without a valid one. */
  caller: string | undefined;
  /** ISO 8601. */
  receivedAt: string;
  /** Milliseconds on the emulator's clock until the response was complete. */
  duration: number | undefined;
  status: number | undefined;
  outcome: Outcome;
  /** The number of events sent, for a stream. */
  events: number | undefined;
  /** For a completion: tokens of its messages, and tokens sent. */
  tokens: { prompt: number; completion: number } | undefined;
  /** The fault that was applied, if any. */
  fault: string | undefined;
  /** For a completion, what its answer came from: `built-in`, `scripted reply`, `upstream` or `recording`. */
  answeredBy?: string | undefined;
  /** The limit that refused it. */
  limit?: ReachedLimit | undefined;
  /** Given if it is a further attempt of one call. */
  attempt?: Attempt | undefined;
  /** Given if it looks like a repetition of a failed request, and nothing says whether it is. */
  similar?: Similar | undefined;
  /** The code of its error, or the type of an error without one. */
  code?: string | undefined;
  /** The model of a completion. */
  model?: string | undefined;
  /** The conversation that it is about. */
  conversation?: string | undefined;
  /** The beginning of what a completion was asked. */
  asked?: string | undefined;
  /** The beginning of its reply, or the message of an error, once it has ended. */
  replied?: string | undefined;
  /** Who ended the response before its end. */
  stoppedBy?: 'client' | 'fault' | 'upstream' | 'emulator' | undefined;
  /** The id of the file that it uploaded. */
  file?: string | undefined;
  /** Whether it came with a case of another emulator. */
  isImported?: boolean | undefined;
  /** Whether a page of another machine sent it, without a valid key. The log keeps the last 50 of these. */
  isForeign?: boolean | undefined;
}

/** A request that has ended. */
export interface EndedRequest extends RequestSummary {
  /** For a 500: the error in the emulator or in a reply function, with its stack. */
  error: string | undefined;
}

/** A request with its response. Contains no keys or tokens. */
export interface RequestRecord extends EndedRequest {
  /** For a completion: the tokens of its messages. */
  prompt?: PromptTokens | undefined;
  /** The fault that was applied, as its rule has it. */
  faultResponse?: FaultResponse | undefined;
  headers: Record<string, string>;
  /** At most 64 KB of the body's text; undefined if it could not be read. */
  body: string | undefined;
  /** Whether the body was longer than 64 KB, or could not be read to its end. */
  isBodyCut: boolean;
  /** Whether `body` is what was sent: not cut, without a hidden key, and text. */
  isBodyExact: boolean;
  /** The response; undefined until it starts. */
  response: RecordedResponse | undefined;
}

/** A response, as it was sent. */
export interface RecordedResponse {
  headers: Record<string, string>;
  /** At most 64 KB of the body's text. */
  body: string;
  /** Whether the body was longer than 64 KB. */
  isBodyCut: boolean;
  /** The events within those 64 KB, for a stream. `at` is in milliseconds since the request arrived. */
  events: { at: number; text: string }[] | undefined;
}

/** An event of a stream that was just sent: its number from 0, and its milliseconds since the request arrived. */
export interface SentEvent {
  index: number;
  at: number;
  text: string;
}
