/** What both processes of the chaos run share: the fault of each attempt, and the correct response. */

/** The client's clock runs 50 times as fast, so a hint of 1 s is 20 ms. Sockets and timers are real. */
export const SPEED = 50;

export const KINDS = ['safe', 'idempotent', 'effect', 'stream', 'upload'] as const;
export type Kind = (typeof KINDS)[number];

/** Canaries, which must not appear in any error or event. */
export const KEY = 'svc_sk_chaoscanary0123456789';
export const PROMPT = 'prompt-canary-0123456789';

/** The share of attempts with each fault, in per mille. All others get a correct response. */
const FAULTS = [
  ['429 with a hint in its body', 32],
  ['429 with a hint in its headers', 15],
  ['429 without a hint', 10],
  ['503', 22],
  ["a proxy's 503", 5],
  ['500', 15],
  ['502', 8],
  ['504', 8],
  ['408', 3],
  ['425', 2],
  ['409', 2],
  ['reset before it is read', 15],
  ['reset after it is done', 20],
  ['closed after it is done', 15],
  ['cut in the headers', 15],
  ['cut in a chunked body', 10],
  ['cut before its length', 10],
  ['cut with its connection', 8],
  ['silent before the headers', 6],
  ['silent in the body', 6],
  ['gzip', 15],
  ['damaged gzip', 10],
  ['truncated stream', 15],
  ['error in the stream', 10],
  ['HTML', 5],
  ['wrong shape', 5],
  ['garbage', 5],
  ['oversized', 3],
  ['redirect', 5],
  ['an error that quotes the request', 6],
  ['a page that quotes the request', 4],
] as const;
export type Fault = (typeof FAULTS)[number][0] | 'none';

/** Independent of scheduling, so that a failing seed can be repeated. */
export function faultOf(seed: number, operation: string, attempt: number): Fault {
  let at = fraction(seed, `${operation}#${attempt}`) * 1_000;
  for (const [fault, share] of FAULTS) {
    at -= share;
    if (at < 0) return fault;
  }
  return 'none';
}

/** A number from 0 to 1 that depends only on seed and text (FNV-1a, mixed). */
export function fraction(seed: number, text: string): number {
  let hash = (2_166_136_261 ^ seed) >>> 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 2_246_822_507) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 3_266_489_909) >>> 0;
  return ((hash ^ (hash >>> 16)) >>> 0) / 4_294_967_296;
}

/** The reply of the model to this operation, in pieces. */
export function piecesOf(operation: string): string[] {
  return Array.from({ length: 12 }, (_, at) => `${operation} sagt ü€😀 ${at} `);
}

/** The rate limit in one phase: requests per window, and the length of the window in the client's seconds. */
export const WINDOW = { limit: 50, seconds: 20 };

/**
 * A limit whose 429 says nothing, like nginx's `limit_req`, and twice as many calls as it allows. In the seconds of a
 * slower clock, because the waits are short.
 */
export const BARE = { limit: 50, seconds: 2, calls: 200, speed: 5 };

/** The choices of a completion of some megabytes. Each has four fields with a wrong type. */
export const FLOOD = 50_000;

/** What the server has counted. */
export interface Ledger {
  readonly requests: number;
  readonly connections: number;
  /** Effects by operation. */
  readonly commits: Readonly<Record<string, number>>;
  /** Requests by operation. */
  readonly sends: Readonly<Record<string, number>>;
  /** Milliseconds between the end of a hint and the next request of its operation. Negative is too early. */
  readonly slack: readonly number[];
  /** Connections to the target of the redirects. */
  readonly trapped: number;
  /** The most requests in any one window. */
  readonly fullestWindow: number;
  /** Requests in the phase of 429s that say nothing, and those that got one. */
  readonly bare: { readonly requests: number; readonly rejected: number };
  /** Requests with the payload of another operation. */
  readonly mixedUp: number;
}

/** How one call ended. */
export interface Outcome {
  readonly operation: string;
  readonly kind: Kind;
  /** `success`, `left` for a stream that its reader left, or the name of the error. */
  readonly end: string;
  readonly detail?: string | undefined;
  readonly sent?: string | undefined;
  /** The status or the error name of each attempt. */
  readonly attempts: readonly (number | string)[];
  readonly duration: number;
  /** In real ms. */
  readonly deadline: number;
  /** Milliseconds from a plain timer with the delay of the deadline to the end, if the call ended after its deadline. */
  readonly overrun?: number | undefined;
  /** Milliseconds from the abort to the end. */
  readonly abort?: number | undefined;
  /** What is wrong with the outcome, if anything. */
  readonly problem?: string | undefined;
}

/** What the process under test has seen. */
export interface Report {
  readonly outcomes: readonly Outcome[];
  readonly outage: { readonly calls: number; readonly sends: number };
  readonly window: { readonly calls: number; readonly failed: number };
  /** Calls that failed in the phase of 429s that say nothing. */
  readonly bareFailed: number;
  readonly retries: Readonly<Record<string, number>>;
  readonly stops: Readonly<Record<string, number>>;
  /** Printed forms of errors, events and clients that show the key, and those that show a prompt. */
  readonly leaks: readonly string[];
  readonly quotes: readonly string[];
  readonly unhandled: readonly string[];
  readonly timers: number;
  readonly listeners: number;
  /** Connections with an endless response after all calls have ended, and all connections after `close()`. */
  readonly hanging: number;
  readonly connectionsClosed: number;
  readonly memory: {
    readonly start: number;
    readonly peak: number;
    readonly heapStart: number;
    readonly heapEnd: number;
  };
  /** How late timers fired, p99 in ms. */
  readonly lateness: number;
  /** How long the client's own work blocked the event loop, p99 in ms. */
  readonly heldUp: number;
  readonly flood: Flood;
  readonly batch: Batch;
  readonly seconds: number;
}

/** A batch of 60,000 calls: results that are missing, how often a timer of 5 ms ran, and by how many bytes memory grew. */
export interface Batch {
  readonly missing: number;
  readonly ticks: number;
  readonly grown: number;
}

/** What became of a completion with 200,000 mistakes. */
export interface Flood {
  /** The name of its error, how many characters it prints, and how many ms of CPU time it took. */
  readonly error: string;
  readonly printed: number;
  readonly took: number;
  /** The choices that were returned where mistakes are only reported. */
  readonly returned: number;
}
