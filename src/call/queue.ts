import { ignoreErrors, isThenable } from '../base/ignore-errors.js';
import type { RateLimit } from '../base/response-info.js';
import { MAX_TIMER } from '../base/runtime.js';
import { QueueTimeoutError } from '../errors/api.js';
import { ConfigurationError, ContextGatewayError } from '../errors/base.js';
import { fetchHeaders } from '../platform/fetch.js';
import type { Permit, RateLimiter, RateLimitObservation } from '../rate-limit/rate-limiter.js';
import type { ServiceResponse } from '../response/service-response.js';
import type { Call, CallAttempt } from './call.js';

/** Milliseconds in which the body of a 429 arrives. */
const LEAST_HOLD = 1_000;
/** Milliseconds. */
const A_DAY = 86_400_000;
/** A reset and the date it is measured by have whole seconds, so a window of 60 s may look like 62. */
const WHOLE_SECONDS = 2_000;

/**
 * Waits until the limiter admits the attempt, for at most `maxRetryAfter`. `known` is the last known rate limit.
 *
 * @throws {QueueTimeoutError} when the wait is too long
 */
export async function acquire(
  { call, record }: CallAttempt,
  limiter: RateLimiter | undefined,
  known: RateLimit | undefined,
): Promise<Permit | undefined> {
  const { timeouts, bucket, reporter } = call;
  const { runtime } = timeouts;
  let requested: Permit | Promise<Permit> | undefined;
  let since = 0;
  try {
    requested = limiter?.acquire(bucket);
    if (!isThenable(requested) && requested?.ready === undefined) return requested;
    timeouts.queuedFor = bucket;
    since = runtime.now();
    const permit = isThenable(requested) ? await timeouts.wait(requested) : requested;
    if (permit?.ready === undefined) return permit;
    await queueFor(call, permit.ready, permit.expectedWait, known);
    record.delay += runtime.now() - since;
    return permit;
  } catch (cause) {
    // Also a permit that arrives after the call has ended.
    ignoreErrors(async () => (await requested)?.release());
    if (cause instanceof ContextGatewayError) throw cause;
    throw new ConfigurationError('The RateLimiter passed as pacing threw. Its error is the cause.', { cause });
  } finally {
    if (reporter !== undefined && timeouts.queuedFor !== undefined) reporter.queued += runtime.now() - since;
    timeouts.queuedFor = undefined;
  }
}

async function queueFor(
  call: Call,
  ready: Promise<void>,
  expectedWait: number | undefined,
  known: RateLimit | undefined,
): Promise<void> {
  const { timeouts, bucket, reporter, maxRetryAfter } = call;
  const { runtime } = timeouts;
  const since = runtime.now();
  let timer: unknown;
  const timedOut = new Promise<never>((_, reject) => {
    const refuse = (): void => {
      // Once the expected time has passed, the rest is unknown.
      const rest = Math.ceil((expectedWait ?? 0) - (runtime.now() - since));
      reject(queueTimeout(call, rest > 0 ? rest : undefined, known));
    };
    const longest = expectedWait === undefined ? maxRetryAfter : maxRetryAfter + WHOLE_SECONDS;
    if (maxRetryAfter === 0 || (expectedWait ?? 0) > longest) refuse();
    else timer = runtime.setTimer(refuse, Math.min(longest, MAX_TIMER));
  });
  reporter?.emit({ type: 'queued', bucket, expectedWait });
  try {
    await timeouts.wait(Promise.race([timedOut, ready]));
  } finally {
    runtime.clearTimer(timer);
    reporter?.emit({ type: 'dequeued', bucket, waited: runtime.now() - since });
  }
}

function queueTimeout(call: Call, retryAfter: number | undefined, rateLimit: RateLimit | undefined): QueueTimeoutError {
  const { bucket, maxRetryAfter, attempts, area } = call;
  const again = attempts.length === 0 ? '' : ' again';
  // If it has waited for so long already, what is left says nothing.
  const longer = (retryAfter ?? 0) > maxRetryAfter ? ` of ${Math.ceil((retryAfter ?? 0) / 1_000)} s` : '';
  return new QueueTimeoutError(429, {
    message: `The rate limit of ${bucket} is used up, so the request was not sent${again}. The wait${longer} exceeds maxRetryAfter (${maxRetryAfter} ms): call again later, or raise maxRetryAfter.`,
    area: area.name,
    sent: 'no',
    retryAfter,
    rateLimit: rateLimit?.remaining === 0 ? rateLimit : undefined, // other values are older than the event that closed the limit
    headers: fetchHeaders(new Headers()),
    body: undefined,
  });
}

/** How long a 429 holds other calls until its body is read. Its header may say 0, and its body a second. */
export function firstHold(retryAfter: number | undefined, { maxRetryAfter }: Call): number {
  return Math.min(Math.max(LEAST_HOLD, retryAfter || maxRetryAfter), maxRetryAfter);
}

/** How long a 429 that was read holds them. A wait of a day or more is taken for a mistake, of which only its own call fails. */
export function knownHold(retryAfter: number | undefined, { maxRetryAfter }: Call): number | undefined {
  return retryAfter === undefined || retryAfter < A_DAY ? retryAfter : maxRetryAfter;
}

/** What a limiter learns of a response. Field by field: a spread of the rate limit would take 3 % of a call. */
export function observed({ rateLimit }: ServiceResponse, rejected: boolean, retryAfter?: number): RateLimitObservation {
  const { limit, remaining, resetAfter }: Partial<RateLimit> = rateLimit ?? {};
  return { limit, remaining, resetAfter, rejected, retryAfter };
}
