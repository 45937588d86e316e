import { isUnknownHost, wasClosed } from '#platform';
import type { Attempt } from '../api-promise.js';
import { APIError } from '../errors/api.js';
import { mostSent } from '../errors/call.js';
import type { Sent } from '../errors/connection.js';
import { APIConnectionError, APITimeoutError } from '../errors/connection.js';
import { ResponseValidationError } from '../errors/validation.js';
import { isServiceError } from './body.js';
import type { StopReason } from './events.js';
import { SHORTEST_ATTEMPT } from './timeouts.js';

/** What repeating a request can do: nothing (`safe`), the same again (`idempotent`), or the work a second time (`effect`). */
export type Operation = 'safe' | 'idempotent' | 'effect';

export function operationOf(method: string): Operation {
  if (method === 'GET') return 'safe';
  return method === 'POST' ? 'effect' : 'idempotent';
}

/** Milliseconds: the first backoff is a random part of `FIRST`, each further one of twice as much, up to `LONGEST`. */
const FIRST_BACKOFF = 500;
export const LONGEST_BACKOFF = 8_000;
/** Failures that need not be temporary are tried again this often at the most, whatever `maxRetries` is. */
const MOST_OF_A_KIND: Readonly<Record<number, number>> = { 408: 2, 425: 1, 500: 2, 502: 2, 504: 2 };

/** Everything the decision rests on besides the error. */
export interface RetryFacts {
  readonly operation: Operation;
  /** Whether the body can be sent a second time. */
  readonly repeatable: boolean;
  readonly maxRetries: number;
  readonly maxRetryAfter: number;
  /** Milliseconds until the deadline. */
  readonly timeLeft: number;
  /** What was sent so far, the failed attempt included. */
  readonly attempts: readonly Attempt[];
  /** Whether an earlier one may have been carried out. */
  readonly sent: Sent;
  /** Whether the body that says when to come back could not be read to its end. */
  readonly hintMissed: boolean;
  /** Whether the caller named an idempotency key. */
  readonly keyed: boolean;
  /** 0 to 1. */
  readonly random: () => number;
}

/** Wait so many milliseconds and try again, or stop. */
export type Verdict = { readonly wait: number; readonly stop?: undefined } | { readonly stop: StopReason };

/** Whether and when a failed attempt is followed by another one. Pure: the same facts give the same verdict. */
export function nextWait(error: unknown, facts: RetryFacts): Verdict {
  if (error instanceof APITimeoutError && error.kind === 'deadline') return { stop: 'no-time-left' };
  if (!facts.repeatable || !isRepeatable(error, facts)) return { stop: 'not-repeatable' };
  if (facts.attempts.length > facts.maxRetries || wasTriedEnough(error, facts)) return { stop: 'retries-used-up' };
  const hint = error instanceof APIError ? error.retryAfter : undefined;
  if (hint !== undefined && hint > facts.maxRetryAfter) return { stop: 'hint-too-long' };
  const least = facts.hintMissed ? Math.max(hint ?? 0, LONGEST_BACKOFF) : hint;
  const wait = wasClosedOnReuse(error, facts) ? 0 : backoff(facts.attempts.length, least, facts.random);
  if (wait + SHORTEST_ATTEMPT > facts.timeLeft) return { stop: 'no-time-left' };
  return { wait };
}

/** Full jitter, and never before the service asks for it; a hint is stretched a little so that not everybody comes back at once. */
function backoff(failures: number, hint: number | undefined, random: () => number): number {
  const jitter = random() * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (failures - 1));
  if (hint === undefined) return jitter;
  return Math.max(hint, jitter) + random() * Math.min(1_000, hint / 10);
}

/** Nothing is wrong with the service then: what has no effect goes out again at once, once. */
function wasClosedOnReuse(error: unknown, { operation, attempts }: RetryFacts): boolean {
  if (operation !== 'safe' || attempts.length > 1 || !(error instanceof APIConnectionError)) return false;
  return error.phase === 'headers' && wasClosed(error.cause ?? error);
}

/** Some failures are hardly mended by one more try, whatever `maxRetries` says. */
function wasTriedEnough(error: unknown, { attempts }: RetryFacts): boolean {
  // A name that is not known now is hardly known in a second.
  if (error instanceof APIConnectionError) return attempts.length > 1 && isUnknownHost(error.cause ?? error);
  if (!(error instanceof APIError)) return false;
  const alike = attempts.filter(({ status }) => status === error.status);
  return alike.length > (MOST_OF_A_KIND[error.status] ?? Number.POSITIVE_INFINITY);
}

function isRepeatable(error: unknown, { operation, keyed, sent }: RetryFacts): boolean {
  const harmless = operation !== 'effect' || mostSent(sent, sentBy(error)) === 'no';
  if (error instanceof APITimeoutError && error.kind === 'idle') return false;
  if (error instanceof APIConnectionError || error instanceof ResponseValidationError)
    return error.retryable && harmless;
  if (!(error instanceof APIError)) return false;
  // The first request under this key is still at work.
  if (error.status === 409) return keyed && operation === 'effect';
  return harmless && (error.status === 429 || error.status === 503 || error.status in MOST_OF_A_KIND);
}

/** Whether the service can have carried out an attempt that failed so. */
export function sentBy(error: unknown): Sent {
  if (error instanceof APIConnectionError) return error.sent;
  if (error instanceof ResponseValidationError) return 'yes'; // a success, though one that cannot be read
  if (!(error instanceof APIError)) return 'no';
  const { status, body } = error;
  // A proxy's page may hide work that was done; only the service itself can say that it refused.
  if (status === 503 || status === 401 || status === 403) return isServiceError(body) ? 'no' : 'maybe';
  return status < 400 || status === 408 || status === 409 || status === 425 || status >= 500 ? 'maybe' : 'no';
}

/** How much of the budget a retry costs, and what the budget holds. */
const BUDGET = 100;
const COST = 10;
const COST_WHEN_REFUSED = 5;

/**
 * Keeps a failing service from being asked two more times by every call. Retries cost, successes pay back; first attempts
 * are never held up. One for each client; ends with it.
 */
export class RetryBudget {
  #left = BUDGET;

  /** What a retry after this error costs. A rate limit with a hint costs nothing where the pacer holds everybody back. */
  cost(error: unknown, paced: boolean): number {
    if (!(error instanceof APIError)) return COST;
    if (error.status === 429 && paced && (error.retryAfter ?? 0) > 0) return 0;
    return error.status === 429 || error.status === 503 ? COST_WHEN_REFUSED : COST;
  }

  take(cost: number): boolean {
    if (this.#left < cost) return false;
    this.#left -= cost;
    return true;
  }

  /** A call succeeded: its retries' cost comes back, or one token where it needed none. */
  refund(spent: number): void {
    this.#left = Math.min(BUDGET, this.#left + Math.max(1, spent));
  }
}
