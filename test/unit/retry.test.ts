import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Attempt } from '../../src/base/response-info.js';
import { type FailedCall, nextWait } from '../../src/call/retry.js';
import { RetryBudget } from '../../src/call/retry-budget.js';
import { apiError } from '../../src/errors/api.js';
import { ConfigurationError } from '../../src/errors/base.js';
import {
  APIAbortError,
  APIConnectionError,
  APITimeoutError,
  ClientClosedError,
  type Phase,
  ResponseTooLargeError,
  type Sent,
} from '../../src/errors/connection.js';
import { RequestValidationError, ResponseValidationError } from '../../src/errors/validation.js';
import { sentOf } from '../../src/response/error-details.js';
import { seededRandom } from '../helpers/manual-runtime.js';

const headers = { get: () => undefined, toHeaders: () => new Headers() };

const fail = (code: number, body: unknown, retryAfter?: number) =>
  apiError(code, { message: `${code}`, area: 'gateway', sent: sentOf(code, body), headers, body, retryAfter });
const status = (code: number, retryAfter?: number) => fail(code, undefined, retryAfter);

/** An error in the documented format, so one from the service itself. */
const refused = (code: number) => fail(code, { error: { message: 'busy', type: 'service_unavailable' } });

const broken = (phase: Phase, sent: Sent, retryable = true) =>
  new APIConnectionError('broken', { phase, sent, retryable });

/** This many attempts that failed in the same way. */
const failed = (times: number, attempt: Partial<Attempt> = { error: 'APIConnectionError' }): Attempt[] =>
  Array.from({ length: times }, () => ({ delay: 0, duration: 1, ...attempt }));

const DEFAULTS = {
  method: 'GET',
  repeatable: true,
  maxRetries: 5,
  maxRetryAfter: 60_000,
  timeLeft: Number.POSITIVE_INFINITY,
  attempts: failed(1),
  sent: 'no' as Sent,
  hasIdempotencyKey: false,
  random: () => 0.5,
};
type Facts = Partial<typeof DEFAULTS>;

/** A call whose attempt failed, of which the decision reads no more than this. */
function facts(more: Facts = {}): FailedCall {
  const { method, repeatable, timeLeft, hasIdempotencyKey, random, ...rest } = { ...DEFAULTS, ...more };
  return {
    request: { method, upload: { repeatable } },
    timeouts: { timeLeft, runtime: { random } },
    options: { idempotencyKey: hasIdempotencyKey ? 'key' : undefined },
    ...rest,
  };
}

/** How often a call is sent if it fails in the same way every time. */
function sends(failure: () => Error, method: string, more: Facts = {}): number {
  const { status: code } = failure() as { status?: number };
  const attempt = code === undefined ? { error: 'APIConnectionError' } : { status: code };
  for (let times = 1; ; times += 1) {
    if (nextWait(failure(), facts({ method, attempts: failed(times, attempt), ...more })).stop) return times;
  }
}

describe('the retry matrix, with five retries allowed', () => {
  test.each<[is: string, failure: () => Error, sends: number[]]>([
    ['N: nothing was sent', () => broken('connect', 'no'), [6, 6, 6]],
    ['N: a certificate', () => broken('connect', 'no', false), [1, 1, 1]],
    ['N: a timeout while connecting', () => timeout('attempt', 'no'), [6, 6, 6]],
    ['A: cut off before a response', () => broken('headers', 'maybe'), [6, 6, 1]],
    ['A: a timeout before headers', () => timeout('attempt', 'maybe'), [6, 6, 1]],
    ['R: 429', () => status(429), [6, 6, 6]],
    ['R: 503 of a proxy', () => status(503), [6, 6, 1]],
    ['R: 503 of the service itself', () => refused(503), [6, 6, 6]],
    ...[408, 500, 502, 504, 520, 521, 522, 523, 524, 529, 530].map(
      (code) => [`E: ${code}`, () => status(code), [3, 3, 1]] as [string, () => Error, number[]],
    ),
    ['E: 425', () => status(425), [2, 2, 1]],
    ...[200, 301, 400, 401, 403, 404, 405, 409, 413, 415, 422, 501, 525, 599].map(
      (code) => [`E: ${code}`, () => status(code), [1, 1, 1]] as [string, () => Error, number[]],
    ),
    ['B: cut off in the body', () => broken('body', 'yes'), [6, 6, 1]],
    ['B: not JSON', () => unreadable(true), [6, 6, 1]],
    ['B: an invalid response', () => unreadable(false), [1, 1, 1]],
    ['B: too large', () => new ResponseTooLargeError('The response', 8, 'body'), [1, 1, 1]],
    ['the deadline', () => timeout('deadline', 'no'), [1, 1, 1]],
    ['S: a silent stream', () => timeout('idle', 'yes'), [1, 1, 1]],
    ['an abort', () => new APIAbortError(), [1, 1, 1]],
    ['a closed client', () => new ClientClosedError(), [1, 1, 1]],
    ['a missing credential', () => new ConfigurationError('c'), [1, 1, 1]],
    ['invalid arguments', () => new RequestValidationError([]), [1, 1, 1]],
    ['any other error', () => new TypeError('a bug'), [1, 1, 1]],
  ])('%s: a GET, a DELETE and a POST are sent so many times', (_, failure, expected) => {
    expect(['GET', 'DELETE', 'POST'].map((method) => sends(failure, method))).toEqual(expected);
  });

  test('a 409 is retried with an idempotency key, since the first request is still running', () => {
    expect(sends(() => status(409), 'POST', { hasIdempotencyKey: true })).toBe(6);
    expect(sends(() => status(500), 'POST', { hasIdempotencyKey: true })).toBe(1);
    expect(sends(() => broken('headers', 'maybe'), 'POST', { hasIdempotencyKey: true })).toBe(1);
  });

  test('a 429 or 503 does not repeat an effect that an earlier attempt may have had', () => {
    expect(sends(() => status(429), 'POST', { sent: 'maybe' })).toBe(1);
    expect(sends(() => refused(503), 'POST', { sent: 'yes' })).toBe(1);
    expect(sends(() => refused(503), 'DELETE', { sent: 'yes' })).toBe(6);
  });

  test('a body that can only be sent once is never sent again', () => {
    for (const failure of [() => status(503), () => status(429, 0), () => broken('connect', 'no')]) {
      expect(sends(failure, 'POST', { repeatable: false })).toBe(1);
    }
  });

  test.each([0, 2])('maxRetries %d allows that many attempts after the first', (maxRetries) => {
    expect(sends(() => refused(503), 'POST', { maxRetries })).toBe(maxRetries + 1);
  });

  test('an unknown host is looked up only once more', () => {
    const unknown = () => withCode('ENOTFOUND', 'connect', 'no');

    expect(sends(unknown, 'GET')).toBe(2);
    expect(sends(() => withCode('EAI_AGAIN', 'connect', 'no'), 'GET')).toBe(6);
  });

  test('a GET whose kept connection closed is retried once without a delay', () => {
    const closed = withCode('ECONNRESET', 'headers', 'maybe');

    expect(nextWait(closed, facts({ attempts: failed(1) }))).toEqual({ wait: 0 });
    expect(nextWait(closed, facts({ attempts: failed(2) }))).toEqual({ wait: 500 });
    expect(nextWait(closed, facts({ method: 'DELETE' }))).toEqual({ wait: 250 });
    expect(nextWait(closed, facts({ method: 'POST' }))).toEqual({ stop: 'not-repeatable' });
  });
});

function timeout(kind: 'attempt' | 'deadline' | 'idle', sent: Sent): APITimeoutError {
  return new APITimeoutError('late', { kind, phase: sent === 'no' ? 'connect' : 'headers', sent });
}

function unreadable(retryable: boolean): ResponseValidationError {
  return new ResponseValidationError('odd', { body: '', retryable });
}

function withCode(code: string, phase: Phase, sent: Sent): APIConnectionError {
  return new APIConnectionError('broken', { phase, sent, cause: Object.assign(new Error(code), { code }) });
}

describe('the delay', () => {
  test.each([
    { attempt: 1, longest: 500 },
    { attempt: 2, longest: 1_000 },
    { attempt: 5, longest: 8_000 },
  ])('the delay before retry $attempt is a random part of $longest ms', ({ attempt, longest }) => {
    const at = (random: number) =>
      nextWait(status(503), facts({ attempts: failed(attempt, { status: 503 }), random: () => random }));

    expect(at(0)).toEqual({ wait: 0 });
    expect(at(0.5)).toEqual({ wait: longest / 2 });
    expect(at(1 - Number.EPSILON)).toEqual({ wait: expect.closeTo(longest, 5) });
  });

  test('is never shorter than the hint, and longer by at most a tenth of it and 1 s', () => {
    fc.assert(
      fc.property(fc.nat(60_000), fc.integer({ min: 1, max: 5 }), fc.integer(), (hint, attempt, seed) => {
        const failure = facts({ attempts: failed(attempt, { status: 429 }), random: seededRandom(seed) });
        const { wait } = nextWait(status(429, hint), failure) as { wait: number };

        expect(wait).toBeGreaterThanOrEqual(hint);
        expect(wait).toBeLessThanOrEqual(Math.max(hint, 500 * 2 ** (attempt - 1)) + Math.min(1_000, hint / 10));
      }),
    );
    expect(nextWait(status(429, 0), facts({ random: () => 0.5 }))).toEqual({ wait: 250 });
  });
});

describe('a hint', () => {
  test.each([
    { hint: 60_000, timeLeft: Infinity, verdict: { wait: 60_500 } },
    { hint: 60_001, timeLeft: Infinity, verdict: { stop: 'retry-after-too-long' } },
    { hint: 5_000, timeLeft: 5_259, verdict: { stop: 'no-time-left' } },
    { hint: 5_000, timeLeft: 5_260, verdict: { wait: 5_250 } },
    { hint: undefined, timeLeft: 259, verdict: { stop: 'no-time-left' } },
    { hint: undefined, timeLeft: -5, verdict: { stop: 'no-time-left' } },
    { hint: 1_001, maxRetryAfter: 1_000, verdict: { stop: 'retry-after-too-long' } },
  ])(
    '$hint ms, with $timeLeft ms left and a maxRetryAfter of $maxRetryAfter ms, leads to $verdict',
    ({ hint, verdict, ...more }) => {
      expect(nextWait(status(429, hint), facts(more))).toEqual(verdict);
    },
  );
});

describe('the retry budget', () => {
  const refused = () =>
    new APIConnectionError('refused', {
      ...{ phase: 'connect', sent: 'no', retryable: true },
      cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
    });
  /** How many retries it allows after an error, and what they cost. */
  const taken = (budget: RetryBudget, error: unknown, now = 0): number[] => {
    const costs: number[] = [];
    for (let cost = budget.take(error, false, now); cost !== undefined; cost = budget.take(error, false, now))
      costs.push(cost);
    return costs;
  };

  test('costs 5 per retry, and nothing after a 429 if a limiter delays all calls anyway', () => {
    const budget = new RetryBudget();

    for (const error of [broken('connect', 'no'), status(500), status(503, 5_000)])
      expect(budget.take(error, true, 0)).toBe(5);
    expect(budget.take(status(429, 5_000), true, 0)).toBe(0);
    expect(budget.take(status(429), false, 0)).toBe(5);
  });

  test('allows a hundred retries more than there are successes, and is never refilled beyond them', () => {
    const budget = new RetryBudget();
    budget.refund(1_000);

    expect(taken(budget, status(500))).toHaveLength(100);
    for (let success = 0; success < 5; success += 1) budget.refund(0);
    expect(taken(budget, status(500))).toHaveLength(1);
  });

  test('allows a hundred more for nothing after connections that are refused for less than a second', () => {
    const budget = new RetryBudget();
    budget.take(refused(), false, 5_000);

    const costs = taken(budget, refused(), 5_999);
    expect(costs).toEqual([...Array(99).fill(0), ...Array(100).fill(5)]);
    expect(budget.take(refused(), false, 6_001)).toBeUndefined();
  });

  test('charges for refused connections after their first second, which begins again after a success', () => {
    const budget = new RetryBudget();

    const at = (now: number) => budget.take(refused(), false, now);
    expect([at(0), at(999), at(1_000), at(9_000)]).toEqual([0, 0, 5, 5]);
    budget.refund(0);
    expect([at(20_000), at(20_999), at(21_000)]).toEqual([0, 0, 5]);
  });
});
