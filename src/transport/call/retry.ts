import { isUnknownHost, wasClosed } from '#platform';
import type { Attempt } from '../../base/response-info.js';
import { APIError, QueueTimeoutError } from '../../errors/api.js';
import { mostSent } from '../../errors/call.js';
import type { Sent } from '../../errors/connection.js';
import { APIConnectionError, APITimeoutError } from '../../errors/connection.js';
import { ResponseValidationError } from '../../errors/validation.js';
import type { StopReason } from '../events/events.js';
import { MIN_ATTEMPT } from './timeouts.js';

/** Milliseconds. The first backoff is a random part of `FIRST`; the range doubles with each retry, up to `LONGEST`. */
const FIRST_BACKOFF = 500;
export const MAX_BACKOFF = 8_000;
/** The most retries after failures that may be permanent, whatever `maxRetries` is. */
const MAX_RETRIES_BY_STATUS: Readonly<Record<number, number>> = { 408: 2, 425: 1, 500: 2, 502: 2, 504: 2 };

/** The facts for the decision, besides the error. */
export interface RetryFacts {
  /** Repeating a POST may do its work a second time. Repeating any other request changes nothing more. */
  readonly method: string;
  /** Whether the body can be sent a second time. */
  readonly repeatable: boolean;
  readonly maxRetries: number;
  readonly maxRetryAfter: number;
  /** Milliseconds until the deadline. */
  readonly timeLeft: number;
  /** The attempts so far, including the failed one. */
  readonly attempts: readonly Attempt[];
  /** Whether the service may have carried out an earlier attempt. */
  readonly sent: Sent;
  /** Whether a body that may contain the wait could not be read to its end. */
  readonly missedRetryAfter: boolean;
  /** Whether the caller named an idempotency key. */
  readonly hasIdempotencyKey: boolean;
  /** 0 to 1. */
  readonly random: () => number;
}

/** Wait this many milliseconds and retry, or stop. */
export type RetryDecision = { readonly wait: number; readonly stop?: undefined } | { readonly stop: StopReason };

/** Decides whether and when a failed attempt is retried. Pure. */
export function nextWait(error: unknown, facts: RetryFacts): RetryDecision {
  if (error instanceof QueueTimeoutError) return { stop: 'retry-after-too-long' };
  if (error instanceof APITimeoutError && error.kind === 'deadline') return { stop: 'no-time-left' };
  if (!facts.repeatable || !isRepeatable(error, facts)) return { stop: 'not-repeatable' };
  if (facts.attempts.length > facts.maxRetries || isExhausted(error, facts)) return { stop: 'retries-used-up' };
  const retryAfter = error instanceof APIError ? error.retryAfter : undefined;
  if (retryAfter !== undefined && retryAfter > facts.maxRetryAfter) return { stop: 'retry-after-too-long' };
  const least = facts.missedRetryAfter ? Math.max(retryAfter ?? 0, MAX_BACKOFF) : retryAfter;
  const wait = wasClosedOnReuse(error, facts) ? 0 : backoff(facts.attempts.length, least, facts.random);
  if (wait + MIN_ATTEMPT > facts.timeLeft) return { stop: 'no-time-left' };
  return { wait };
}

/**
 * Full jitter, and never earlier than the service allows. A wait from the service is extended a little, so that clients
 * do not all retry at once.
 */
function backoff(failures: number, retryAfter: number | undefined, random: () => number): number {
  const jitter = random() * Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** (failures - 1));
  if (retryAfter === undefined) return jitter;
  return Math.max(retryAfter, jitter) + random() * Math.min(1_000, retryAfter / 10);
}

/** A kept connection closed just as it was reused. The service is fine, so a GET is repeated at once, once. */
function wasClosedOnReuse(error: unknown, { method, attempts }: RetryFacts): boolean {
  if (method !== 'GET' || attempts.length > 1 || !(error instanceof APIConnectionError)) return false;
  return error.phase === 'headers' && wasClosed(error.cause ?? error);
}

/** Failures that another attempt rarely fixes, whatever `maxRetries` is. */
function isExhausted(error: unknown, { attempts }: RetryFacts): boolean {
  // A host name that cannot be resolved now rarely resolves a second later.
  if (error instanceof APIConnectionError) return attempts.length > 1 && isUnknownHost(error.cause ?? error);
  if (!(error instanceof APIError)) return false;
  const alike = attempts.filter(({ status }) => status === error.status);
  return alike.length > (MAX_RETRIES_BY_STATUS[error.status] ?? Number.POSITIVE_INFINITY);
}

function isRepeatable(error: unknown, { method, hasIdempotencyKey, sent }: RetryFacts): boolean {
  const isSafeToRepeat = method !== 'POST' || mostSent(sent, sentBy(error)) === 'no';
  if (error instanceof APITimeoutError && error.kind === 'idle') return false;
  if (error instanceof APIConnectionError || error instanceof ResponseValidationError)
    return error.retryable && isSafeToRepeat;
  if (!(error instanceof APIError)) return false;
  // The first request with this key is still being processed.
  if (error.status === 409) return hasIdempotencyKey && method === 'POST';
  return isSafeToRepeat && (error.status === 429 || error.status === 503 || error.status in MAX_RETRIES_BY_STATUS);
}

/** Whether the service may have carried out an attempt that failed with this error. */
export function sentBy(error: unknown): Sent {
  if (error instanceof APIConnectionError || error instanceof APIError) return error.sent;
  return error instanceof ResponseValidationError ? 'yes' : 'no'; // a success that cannot be read
}

/** The size of the retry budget, and the cost of a retry. */
const BUDGET = 100;
const COST = 10;
const COST_WHEN_REFUSED = 5;

/**
 * Limits retries while the service is failing, when each call would otherwise send two more requests by default.
 * Retries cost points, and successes restore them. First attempts are never held back. One for each client.
 */
export class RetryBudget {
  #remaining = BUDGET;

  /** The cost of a retry after this error. A 429 costs nothing if a limiter holds all calls back. */
  cost(error: unknown, paced: boolean): number {
    if (!(error instanceof APIError)) return COST;
    if (error.status === 429 && paced) return 0;
    return error.status === 429 || error.status === 503 ? COST_WHEN_REFUSED : COST;
  }

  take(cost: number): boolean {
    if (this.#remaining < cost) return false;
    this.#remaining -= cost;
    return true;
  }

  /** A call succeeded: restores the cost of its retries, or one point if it needed none. */
  refund(spent: number): void {
    this.#remaining = Math.min(BUDGET, this.#remaining + Math.max(1, spent));
  }
}
