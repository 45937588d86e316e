import type { Attempt } from '../base/response-info.js';
import { APIError, NotFoundError, QueueTimeoutError } from '../errors/api.js';
import { mostSent } from '../errors/call.js';
import { codeIn } from '../errors/cause.js';
import type { Sent } from '../errors/connection.js';
import { APIConnectionError, APITimeoutError } from '../errors/connection.js';
import { ResponseValidationError } from '../errors/validation.js';
import type { StopReason } from '../events/events.js';
import { MIN_ATTEMPT } from '../request/timeouts.js';

/** Milliseconds. The first backoff is a random part of `FIRST`; the range doubles with each retry, up to `LONGEST`. */
const FIRST_BACKOFF = 500;
export const MAX_BACKOFF = 8_000;
/** The most retries after failures that may be permanent, whatever `maxRetries` is. */
const MAX_RETRIES_BY_STATUS: Readonly<Record<number, number>> = {
  408: 2,
  425: 1,
  500: 2,
  502: 2,
  504: 2,
  // Of Cloudflare, and of overloaded models:
  520: 2,
  521: 2,
  522: 2,
  523: 2,
  524: 2,
  529: 2,
  530: 2,
};

/** The codes of a kept connection that the server closed just as it was reused. Browsers give no codes. */
const CLOSED = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** Wait this many milliseconds and retry, or stop. */
export type RetryDecision = { readonly wait: number; readonly stop?: undefined } | { readonly stop: StopReason };

/** A call whose last attempt failed: what the decision reads of it. */
export interface FailedCall {
  readonly request: { readonly method: string; readonly upload?: { readonly repeatable: boolean } | undefined };
  readonly options: { readonly idempotencyKey?: string | undefined };
  readonly timeouts: { readonly timeLeft: number; readonly runtime: { readonly random: () => number } };
  readonly attempts: readonly Attempt[];
  readonly maxRetries: number;
  readonly maxRetryAfter: number;
  readonly sent: Sent;
}

/** Decides whether and when a failed attempt is retried. Changes nothing. */
export function nextWait(error: unknown, call: FailedCall): RetryDecision {
  const { attempts, maxRetries, maxRetryAfter, request, timeouts } = call;
  if (error instanceof QueueTimeoutError) return { stop: 'retry-after-too-long' };
  if (error instanceof APITimeoutError && error.kind === 'deadline') return { stop: 'no-time-left' };
  if (request.upload?.repeatable === false || !isRepeatable(error, call)) return { stop: 'not-repeatable' };
  if (attempts.length > maxRetries || isExhausted(error, attempts)) return { stop: 'retries-used-up' };
  const retryAfter = error instanceof APIError ? error.retryAfter : undefined;
  if (retryAfter !== undefined && retryAfter > maxRetryAfter) return { stop: 'retry-after-too-long' };
  const wait = wasClosedOnReuse(error, call) ? 0 : backoff(attempts.length, retryAfter, timeouts.runtime.random);
  if (wait + MIN_ATTEMPT > timeouts.timeLeft) return { stop: 'no-time-left' };
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
function wasClosedOnReuse(error: unknown, { request, attempts }: FailedCall): boolean {
  if (request.method !== 'GET' || attempts.length > 1 || !(error instanceof APIConnectionError)) return false;
  return error.phase === 'headers' && CLOSED.includes(codeIn(error.cause) ?? '');
}

/** Failures that another attempt rarely fixes, whatever `maxRetries` is. */
function isExhausted(error: unknown, attempts: readonly Attempt[]): boolean {
  // A host name that cannot be resolved now rarely resolves a second later.
  if (error instanceof APIConnectionError) return attempts.length > 1 && codeIn(error.cause) === 'ENOTFOUND';
  if (!(error instanceof APIError)) return false;
  const alike = attempts.filter(({ status }) => status === error.status);
  return alike.length > (MAX_RETRIES_BY_STATUS[error.status] ?? Number.POSITIVE_INFINITY);
}

/** Repeating a POST may do its work a second time. Repeating any other request changes nothing more. */
function isRepeatable(error: unknown, { request: { method }, options, sent }: FailedCall): boolean {
  const isSafeToRepeat = method !== 'POST' || mostSent(sent, sentBy(error)) === 'no';
  if (error instanceof APITimeoutError && error.kind === 'idle') return false;
  if (error instanceof APIConnectionError || error instanceof ResponseValidationError)
    return error.retryable && isSafeToRepeat;
  if (!(error instanceof APIError)) return false;
  // The first request with this key is still being processed.
  if (error.status === 409) return options.idempotencyKey !== undefined && method === 'POST';
  return isSafeToRepeat && (error.status === 429 || error.status === 503 || error.status in MAX_RETRIES_BY_STATUS);
}

/** A DELETE that was repeated and finds nothing says why: its first attempt may have been done. */
export function explainNotFound(error: unknown, { request, sent }: FailedCall): void {
  if (error instanceof NotFoundError && request.method === 'DELETE' && sent !== 'no')
    error.message = `${error.message.replace(/[^.!?]$/, '$&.')} An earlier attempt of this call may have deleted it.`;
}

/** Whether the service may have carried out an attempt that failed with this error. */
export function sentBy(error: unknown): Sent {
  if (error instanceof APIConnectionError || error instanceof APIError) return error.sent;
  return error instanceof ResponseValidationError ? 'yes' : 'no'; // a success that cannot be read
}
