import type { FaultResponse } from '../../faults/rule.js';
import type { PromptTokens } from '../../text/prompt-tokens.js';
import type { ReachedLimit } from '../rate-limit.js';
import type { Attempt, Outcome, Similar } from './request-record.js';
import type { SentBody } from './sent-body.js';

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
  /** The header of session tokens, in lower case, which may have any name. */
  sessionHeader?: string | undefined;
  /** At most `LOGGED_BYTES`, in a buffer of its own. */
  body?: Uint8Array | undefined;
  isBodyCut: boolean;
  receivedAt: number;
  finishedAt?: number | undefined;
  status?: number | undefined;
  outcome: Outcome;
  events?: number | undefined;
  tokens?: { prompt: number; completion: number } | undefined;
  /** For a completion: what its answer came from. */
  answeredBy?: string | undefined;
  /** For a completion: the tokens of its messages. */
  prompt?: PromptTokens | undefined;
  fault?: string | undefined;
  /** The fault as its rule has it. */
  faultResponse?: FaultResponse | undefined;
  error?: string | undefined;
  /** The code of its error. */
  code?: string | undefined;
  /** What it is about, read from its body on first use. */
  subject?: { model: string | undefined; conversation: string | undefined; asked?: string | undefined } | undefined;
  /** The beginning of its reply, read from it on first use. */
  replied?: string | undefined;
  /** The file that it uploaded. */
  file?: string | undefined;
  /** The response: a string, or the recorded part of a streamed body. */
  response?: { headers: Record<string, string>; body: string | SentBody; isBodyCut?: boolean } | undefined;
  limit?: ReachedLimit | undefined;
  attempt?: Attempt | undefined;
  similar?: Similar | undefined;
  /** Whether a page of another machine sent it, without a valid key. */
  isForeign: boolean;
  /** Whether the inspector's playground sent it, with its own key. It counts towards limits of its own. */
  isOfPlayground?: boolean | undefined;
  /** Whether it came with a case of another emulator. */
  isImported?: boolean | undefined;
}
