import { ignoreErrors, isThenable } from '../../base/ignore-errors.js';
import type { Permit, RateLimiter, RateLimitObservation } from '../../base/rate-limiter.js';
import type { HeaderSource, RateLimit } from '../../base/response-info.js';
import { MAX_TIMER } from '../../base/runtime.js';
import { QueueTimeoutError } from '../../errors/api.js';
import { ConfigurationError, ContextGatewayError } from '../../errors/base.js';
import type { Call } from '../call/call.js';

/** A call's permit to send one request. Never throws, whatever the limiter does. */
export class CallPermit {
  #permit: Permit | undefined;
  /** Milliseconds in the queue. */
  readonly waited: number;

  constructor(permit: Permit | undefined, waited: number) {
    this.#permit = permit;
    this.waited = waited;
  }

  /** A 429 whose body has not arrived yet. */
  hold(): void {
    ignoreErrors(() => this.#permit?.hold?.());
  }

  /** Only the first call counts. */
  release(observed?: RateLimitObservation): void {
    const permit = this.#permit;
    this.#permit = undefined;
    ignoreErrors(() => permit?.release(observed));
  }
}

/**
 * Waits until the limiter admits the call, for at most `maxRetryAfter`. `known` is the last known rate limit.
 *
 * @throws {QueueTimeoutError} when the wait is too long
 */
export async function acquire(
  call: Call,
  limiter: RateLimiter | undefined,
  known: RateLimit | undefined,
): Promise<CallPermit> {
  try {
    const requested = limiter?.acquire(call.bucket);
    if (!isThenable(requested) && requested?.ready === undefined) return new CallPermit(requested, 0);
    return await awaitPermit(call, requested, known);
  } catch (cause) {
    if (cause instanceof ContextGatewayError) throw cause;
    throw new ConfigurationError('The RateLimiter passed as pacing threw. Its error is the cause.', { cause });
  }
}

async function awaitPermit(
  call: Call,
  requested: Permit | PromiseLike<Permit>,
  known: RateLimit | undefined,
): Promise<CallPermit> {
  const { timeouts, bucket, reporter, runtime } = call;
  const since = runtime.now();
  timeouts.queuedFor = bucket;
  try {
    const permit = isThenable(requested) ? await timeouts.wait(requested) : requested;
    return new CallPermit(permit, permit?.ready === undefined ? 0 : await queueFor(call, permit, permit.ready, known));
  } catch (cause) {
    // If the call ended before the limiter responded, a late permit is returned.
    if (isThenable(requested)) ignoreErrors(() => requested.then((late) => late?.release()));
    else ignoreErrors(() => requested.release());
    throw cause;
  } finally {
    timeouts.queuedFor = undefined;
    if (reporter !== undefined) reporter.queued += runtime.now() - since;
  }
}

/** Returns the milliseconds in the queue. */
async function queueFor(
  call: Call,
  permit: Permit,
  ready: Promise<void>,
  known: RateLimit | undefined,
): Promise<number> {
  const { timeouts, bucket, reporter, maxRetryAfter, runtime } = call;
  const { expectedWait = 0 } = permit;
  const since = runtime.now();
  let timer: unknown;
  const timedOut = new Promise<never>((_, reject) => {
    const refuse = (): void => {
      // Once the expected time has passed, the rest is unknown.
      const rest = Math.ceil(expectedWait - (runtime.now() - since));
      reject(queueTimeout(call, rest > 0 ? rest : undefined, known));
    };
    const longest = permit.expectedWait === undefined ? maxRetryAfter : maxRetryAfter + WHOLE_SECONDS;
    if (maxRetryAfter === 0 || expectedWait > longest) refuse();
    else timer = runtime.setTimer(refuse, Math.min(longest, MAX_TIMER));
  });
  reporter?.emit({ type: 'queued', bucket, expectedWait: permit.expectedWait });
  try {
    await timeouts.wait(Promise.race([timedOut, ready]));
    return runtime.now() - since;
  } finally {
    runtime.clearTimer(timer);
    reporter?.emit({ type: 'dequeued', bucket, waited: runtime.now() - since });
  }
}

function queueTimeout(call: Call, retryAfter: number | undefined, rateLimit: RateLimit | undefined): QueueTimeoutError {
  const { bucket, maxRetryAfter, attempts, area } = call;
  const again = attempts.length === 0 ? '' : ' again';
  const longer = retryAfter === undefined ? '' : ` of ${Math.ceil(retryAfter / 1_000)} s`;
  return new QueueTimeoutError(429, {
    message: `The rate limit of ${bucket} is used up, so the request was not sent${again}. The wait${longer} exceeds maxRetryAfter (${maxRetryAfter} ms): call again later, or raise maxRetryAfter.`,
    area: area.name,
    sent: 'no',
    retryAfter,
    rateLimit: rateLimit?.remaining === 0 ? rateLimit : undefined, // other values are older than the event that closed the limit
    headers: NO_HEADERS,
    body: undefined,
  });
}

/** A reset and the date it is measured by have whole seconds, so a window of 60 s may look like 62. */
const WHOLE_SECONDS = 2_000;

const NO_HEADERS: HeaderSource = { get: () => undefined, toHeaders: () => new Headers() };
