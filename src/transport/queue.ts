import { ignoreErrors, isThenable } from '../base/ignore-errors.js';
import type { HeaderSource, RateLimit } from '../base/response-info.js';
import { LONGEST_TIMER } from '../base/runtime.js';
import { RateLimitError } from '../errors/api.js';
import { ConfigurationError, ContextGatewayError } from '../errors/base.js';
import type { Call } from './call.js';
import type { Admission, RateLimiter } from './pacer.js';

/**
 * Waits until the limiter admits the call, for at most `maxRetryAfter`. `known` is the last known rate limit. Returns
 * the milliseconds in the queue.
 */
export async function awaitTurn(
  call: Call,
  limiter: RateLimiter | undefined,
  known: RateLimit | undefined,
): Promise<number> {
  const asked = ask(call, limiter);
  if (asked === undefined) return 0;
  const { timeouts, bucket, reporter, runtime } = call;
  const since = runtime.now();
  timeouts.queuedFor = bucket;
  try {
    const admission = isThenable(asked) ? await keptWithin(call, limiter, asked) : asked;
    return admission === undefined ? 0 : await inQueue(call, admission, known);
  } finally {
    timeouts.queuedFor = undefined;
    if (reporter !== undefined) reporter.queued += runtime.now() - since;
  }
}

async function inQueue(call: Call, admission: Admission, known: RateLimit | undefined): Promise<number> {
  const { timeouts, bucket, reporter, maxRetryAfter, runtime } = call;
  const { expected } = admission;
  const since = runtime.now();
  let timer: unknown;
  const tooLong = new Promise<never>((_, reject) => {
    const refuse = (): void => {
      // Once the expected time has passed, the rest is unknown.
      const rest = Math.ceil((expected ?? 0) - (runtime.now() - since));
      call.notQueued = notQueued(call, rest > 0 ? rest : undefined, known);
      reject(call.notQueued);
    };
    if (maxRetryAfter === 0 || (expected ?? 0) > maxRetryAfter + WHOLE_SECONDS) refuse();
    else {
      const longest = expected === undefined ? maxRetryAfter : maxRetryAfter + WHOLE_SECONDS;
      timer = runtime.setTimer(refuse, Math.min(longest, LONGEST_TIMER));
    }
  });
  reporter?.emit({ type: 'queued', bucket });
  try {
    await timeouts.wait(Promise.race([tooLong, admission.ready]));
    return runtime.now() - since;
  } catch (cause) {
    ignoreErrors(() => admission.cancel());
    throw limiterFailure(cause);
  } finally {
    runtime.clearTimer(timer);
    reporter?.emit({ type: 'dequeued', bucket, waited: runtime.now() - since });
  }
}

function ask({ bucket }: Call, limiter: RateLimiter | undefined): ReturnType<RateLimiter['admit']> {
  try {
    return limiter?.admit(bucket);
  } catch (cause) {
    throw limiterFailure(cause);
  }
}

/** Waits for a limiter that responds asynchronously; this is not yet a place in the queue. */
async function keptWithin(
  { bucket, timeouts }: Call,
  limiter: RateLimiter | undefined,
  asked: PromiseLike<Admission | undefined>,
): Promise<Admission | undefined> {
  try {
    return await timeouts.wait(asked);
  } catch (cause) {
    // The call ended before the limiter responded: a late admission is returned.
    ignoreErrors(() => asked.then((late) => (late ? late.cancel() : limiter?.release(bucket, {}))));
    throw limiterFailure(cause);
  }
}

/** The service would reject the request, so it is neither sent nor queued. */
function notQueued(call: Call, expected: number | undefined, rateLimit: RateLimit | undefined): RateLimitError {
  const { bucket, maxRetryAfter, attempts, area } = call;
  const again = attempts.length === 0 ? '' : ' again';
  const longer = expected === undefined ? '' : ` of ${Math.ceil(expected / 1_000)} s`;
  return new RateLimitError(429, {
    message: `The rate limit of ${bucket} is used up, so the request was not sent${again}. The wait${longer} exceeds maxRetryAfter (${maxRetryAfter} ms): call again later, or raise maxRetryAfter.`,
    area: area.name,
    sent: 'no',
    retryAfter: expected,
    rateLimit: rateLimit?.remaining === 0 ? rateLimit : undefined, // other values are older than the event that closed the limit
    headers: NO_HEADERS,
    body: undefined,
  });
}

/** A reset and the date it is measured by have whole seconds, so a window of 60 s may look like 62. */
const WHOLE_SECONDS = 2_000;

const NO_HEADERS: HeaderSource = { get: () => undefined, toHeaders: () => new Headers() };

function limiterFailure(cause: unknown): ContextGatewayError {
  if (cause instanceof ContextGatewayError) return cause;
  return new ConfigurationError('The RateLimiter passed as pacing threw. Its error is the cause.', { cause });
}
