/** What both processes of the chaos run know: which fault meets which attempt, and what the right answer is. */

/** Everything in the client's time goes fifty times as fast: a hint of a second is 20 ms. Sockets and timers are real. */
export const SPEED = 50;

export const KINDS = ['safe', 'idempotent', 'effect', 'stream', 'upload'] as const;
export type Kind = (typeof KINDS)[number];

/** Canaries: none of them may be read anywhere. */
export const KEY = 'svc_sk_chaoscanary0123456789';
export const PROMPT = 'prompt-canary-0123456789';

/** Share of the attempts, in per mille, that meet each fault. What is left is answered well. */
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
] as const;
export type Fault = (typeof FAULTS)[number][0] | 'none';

/** Independent of scheduling: a seed that fails can be run again. In a hunt for one mistake, every third attempt meets `often`. */
export function faultOf(seed: number, operation: string, attempt: number, often: Fault = 'none'): Fault {
  let at = fraction(seed, `${operation}#${attempt}`) * 1_000;
  if (often !== 'none' && at > 650) return often;
  for (const [fault, share] of FAULTS) {
    at -= share;
    if (at < 0) return fault;
  }
  return 'none';
}

/** 0 to 1, the same for the same seed and text (FNV-1a, mixed). */
export function fraction(seed: number, text: string): number {
  let hash = (2_166_136_261 ^ seed) >>> 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 2_246_822_507) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 3_266_489_909) >>> 0;
  return ((hash ^ (hash >>> 16)) >>> 0) / 4_294_967_296;
}

/** What a model says to this operation, in the pieces it comes in. */
export function piecesOf(operation: string): string[] {
  return Array.from({ length: 12 }, (_, at) => `${operation} sagt ü€😀 ${at} `);
}

/** The window of the limit that one phase runs against: so many requests in so many of the client's seconds. */
export const WINDOW = { limit: 50, seconds: 20 };

/** What the server counted. */
export interface Ledger {
  readonly requests: number;
  readonly connections: number;
  /** Effects by operation. */
  readonly commits: Readonly<Record<string, number>>;
  /** Requests by operation. */
  readonly sends: Readonly<Record<string, number>>;
  /** Milliseconds between the end of a hint and the next request of its operation; negative is early. */
  readonly slack: readonly number[];
  /** Requests that reached the address redirects lead to. */
  readonly trapped: number;
  /** The most requests that any one window was sent. */
  readonly fullestWindow: number;
  /** Requests that held another operation's payload. */
  readonly mixedUp: number;
}

/** How one call ended. */
export interface Outcome {
  readonly operation: string;
  readonly kind: Kind;
  /** `success`, `left` for a stream that was left early, or the error's name. */
  readonly end: string;
  readonly detail?: string | undefined;
  readonly sent?: string | undefined;
  /** By attempt: its status, or its error's name. */
  readonly attempts: readonly (number | string)[];
  readonly duration: number;
  /** Real milliseconds. */
  readonly deadline: number;
  /** Milliseconds it went on after its deadline. */
  readonly overrun?: number | undefined;
  /** Milliseconds from the abort to the end. */
  readonly abort?: number | undefined;
  /** What was wrong with the outcome itself, if anything. */
  readonly problem?: string | undefined;
}

/** What the loaded process saw. */
export interface Report {
  readonly outcomes: readonly Outcome[];
  readonly outage: { readonly calls: number; readonly sends: number };
  readonly window: { readonly calls: number; readonly failed: number };
  readonly retries: Readonly<Record<string, number>>;
  readonly stops: Readonly<Record<string, number>>;
  readonly leaks: readonly string[];
  readonly unhandled: readonly string[];
  readonly timers: number;
  readonly listeners: number;
  /** Connections with an answer without end after all calls are over, and all connections after `close()`. */
  readonly hanging: number;
  readonly connectionsClosed: number;
  readonly memory: {
    readonly start: number;
    readonly peak: number;
    readonly heapStart: number;
    readonly heapEnd: number;
  };
  /** Milliseconds, p99: how late timers were, and how long the client's own work held the event loop up. */
  readonly lateness: number;
  /** The same of half of them (ms). */
  readonly usualLateness: number;
  readonly heldUp: number;
  readonly seconds: number;
}
