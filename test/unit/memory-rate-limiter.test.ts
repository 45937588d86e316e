import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryRateLimiter } from '../../src/rate-limit/memory-rate-limiter.js';
import type { Permit, RateLimitObservation } from '../../src/rate-limit/rate-limiter.js';
import { type ManualRuntime, manualRuntime, seededRandom, settled } from '../helpers/manual-runtime.js';

/** A call with its permit, and whether it was admitted. */
function track(permit: Permit) {
  const call = { admitted: permit.ready === undefined, permit };
  permit.ready?.then(() => {
    call.admitted = true;
  });
  return call;
}

/** A limiter that has seen one response. */
function limiterAfter(observed: RateLimitObservation, runtime: ManualRuntime = manualRuntime()) {
  const limiter = new MemoryRateLimiter(runtime);
  const arrive = (bucket = 'gateway') => track(limiter.acquire(bucket));
  arrive().permit.release(observed);
  return { runtime, limiter, arrive };
}

describe('the limit', () => {
  test('admits every call if no response has rate limit headers', () => {
    const { arrive, runtime } = limiterAfter({ rejected: false });
    const calls = Array.from({ length: 1_000 }, () => arrive());

    expect(calls.every(({ admitted }) => admitted)).toBe(true);
    expect(runtime.pending).toBe(0);
  });

  test('admits the remaining calls of the window, counting those in flight, and the others at its end', async () => {
    const { arrive, runtime } = limiterAfter({ limit: 10, remaining: 3, resetAfter: 5_000 });
    const calls = Array.from({ length: 6 }, () => arrive());

    expect(calls.map(({ admitted }) => admitted)).toEqual([true, true, true, false, false, false]);
    await runtime.advance(4_999);
    expect(calls.filter(({ admitted }) => admitted)).toHaveLength(3);
    await runtime.advance(1);
    expect(calls.every(({ admitted }) => admitted)).toBe(true);
  });

  test('admits the next call if one fails without a response', async () => {
    const { arrive } = limiterAfter({ limit: 10, remaining: 1, resetAfter: 5_000 });
    const [first, second] = [arrive(), arrive()];
    expect(second.admitted).toBe(false);

    first.permit.release();
    await settled();

    expect(second.admitted).toBe(true);
  });

  test('treats the requests in flight in the last window as part of that window', async () => {
    const { arrive, runtime } = limiterAfter({ limit: 4, remaining: 4, resetAfter: 1_000 });
    const calls = Array.from({ length: 8 }, () => arrive());

    await runtime.advance(1_000);

    expect(calls.every(({ admitted }) => admitted)).toBe(true);
    const next = arrive();
    calls[0]?.permit.release(); // sent in the last window, so it frees no place in this one
    await settled();
    expect(next.admitted).toBe(false);
    calls[7]?.permit.release();
    await settled();
    expect(next.admitted).toBe(true);
  });

  test('admits nothing while the body of a 429 is still arriving, and the next call after it', async () => {
    const { arrive, runtime } = limiterAfter({});
    const { permit } = arrive();
    permit.hold?.(10_000);
    const call = arrive();
    await runtime.advance(9_000);
    expect(call.admitted).toBe(false);

    permit.release({ rejected: false });
    await settled();

    expect(call.admitted).toBe(true);
  });

  test('waits no longer than ten seconds for the body of a 429, whose request may have been abandoned', async () => {
    const { arrive, runtime } = limiterAfter({});
    arrive().permit.hold?.(10_000);
    const calls = [arrive(), arrive()];

    await runtime.advance(9_999);
    expect(calls.map(({ admitted }) => admitted)).toEqual([false, false]);
    await runtime.advance(1);
    expect(calls.map(({ admitted }) => admitted)).toEqual([true, true]);
  });

  test('the limit of one bucket does not delay another', () => {
    const { arrive } = limiterAfter({ limit: 5, remaining: 0, resetAfter: 60_000 });

    expect([arrive('gateway').admitted, arrive('compact').admitted]).toEqual([false, true]);
  });
});

test('a call is admitted even if the block ends between two reads of the clock', async () => {
  for (let retryAfter = 500; retryAfter < 512; retryAfter += 1) {
    const runtime = manualRuntime();
    let looks = 0;
    const now = () => {
      looks += 1;
      return runtime.now() + looks;
    };
    const limiter = new MemoryRateLimiter({ ...runtime, now });
    limiter.acquire('gateway').release({ rejected: true, retryAfter });
    const call = track(limiter.acquire('gateway'));

    await runtime.advance(600);

    expect(call.admitted).toBe(true);
  }
});

test.each([
  { name: 'a block', observed: { rejected: true, retryAfter: 60_000 } },
  { name: 'a window', observed: { limit: 5, remaining: 0, resetAfter: 60_000 } },
  { name: 'the body of a 429', observed: undefined },
])('a clock that goes back ends the wait for $name', async ({ observed }) => {
  const runtime = manualRuntime();
  let shift = 5_000;
  const { arrive } = limiterAfter({}, { ...runtime, now: () => runtime.now() + shift });
  const { permit } = arrive();
  if (observed === undefined) permit.hold?.(60_000);
  else permit.release(observed);
  const waiting = arrive();
  expect(waiting.admitted).toBe(false);

  shift = 0;
  const next = arrive();
  await settled();

  expect([waiting.admitted, next.admitted]).toEqual([true, true]);
});

describe('the expected wait', () => {
  test('is the rest of a block, and unknown in a window without a response', async () => {
    expect(limiterAfter({ rejected: true, retryAfter: 45_000 }).arrive().permit.expectedWait).toBe(45_000);

    const { arrive, runtime } = limiterAfter({ limit: 1, remaining: 0, resetAfter: 10_000 });
    await runtime.advance(10_000);
    arrive();
    expect(arrive().permit.expectedWait).toBe(0);
  });

  test('is the rest of the window, plus whole windows for calls further back', () => {
    const { arrive } = limiterAfter({ limit: 2, remaining: 0, resetAfter: 10_000 });

    const waits = Array.from({ length: 5 }, () => arrive().permit.expectedWait);

    expect(waits).toEqual([10_000, 10_000, 20_000, 20_000, 30_000]);
  });
});

describe('the queue', () => {
  test('is first in, first out, even for calls that arrive after the window reopens', async () => {
    const { arrive, runtime } = limiterAfter({ limit: 1, remaining: 0, resetAfter: 1_000 });
    const calls = [arrive(), arrive(), arrive()];
    const order = () => calls.map(({ admitted }) => admitted);

    await runtime.advance(1_000);
    expect(order()).toEqual([true, false, false]);
    calls.push(arrive());
    calls[0]?.permit.release();
    await settled();
    expect(order()).toEqual([true, true, false, false]);
    calls[1]?.permit.release();
    await settled();
    expect(order()).toEqual([true, true, true, false]);
  });

  test('is not overtaken by a call that arrives at the moment the window ends', async () => {
    const { arrive, runtime } = limiterAfter({ limit: 1, remaining: 0, resetAfter: 1_000 });
    const late: ReturnType<typeof arrive>[] = [];
    runtime.setTimer(() => late.push(arrive()), 1_000);
    const early = arrive();

    await runtime.advance(1_000);

    expect([early.admitted, late[0]?.admitted]).toEqual([true, false]);
  });
});

type Report = 'headers' | 'retry-after' | 'nothing';

/** A service that allows `limit` requests in each window and responds after `latency` ms, and a limiter for its calls. */
function limitedService(limits: { limit: number; window: number; latency: number }, report: Report = 'headers') {
  const runtime = manualRuntime();
  const limiter = new MemoryRateLimiter(runtime);
  const sends: number[] = [];
  let [startedAt, used, rejections] = [0, 0, 0];
  const serve = async (): Promise<RateLimitObservation> => {
    const { limit, window, latency } = limits;
    const now = runtime.now();
    sends.push(now);
    for (; now >= startedAt + window; startedAt += window) used = 0;
    const rejected = used >= limit;
    if (rejected) rejections += 1;
    else used += 1;
    const remaining = limit - used;
    const resetAt = startedAt + window;
    await new Promise<void>((resolve) => runtime.setTimer(resolve, latency));
    const resetAfter = resetAt - runtime.now();
    // Retry-After is in whole seconds.
    const retryAfter = rejected && report !== 'nothing' ? Math.ceil(resetAfter / 1_000) * 1_000 : undefined;
    return { ...(report === 'headers' && { limit, remaining, resetAfter }), rejected, retryAfter };
  };
  /** Starts that many calls, repeated until they succeed. Lists how often each was rejected, once it has succeeded. */
  const crowd = (callers: number): number[] => {
    const counts: number[] = [];
    const call = async () => {
      for (let rejections = 0; ; rejections += 1) {
        const permit = limiter.acquire('gateway');
        await permit.ready;
        const observed = await serve();
        permit.release(observed);
        if (!observed.rejected) return counts.push(rejections);
      }
    };
    for (let n = 0; n < callers; n += 1) void call();
    return counts;
  };
  return { crowd, serve, sends, rejections: () => rejections, limiter, runtime };
}

test('500 calls after a first one, at 100 per window, get at most 1 % 429s within 1.15 of the ideal time', async () => {
  const { crowd, sends, rejections, runtime } = limitedService({ limit: 100, window: 10_000, latency: 20 });
  crowd(1);
  await runtime.advance(50);
  const counts = crowd(500);

  await runtime.advance(60_000);

  expect(counts).toHaveLength(500);
  expect(rejections()).toBeLessThanOrEqual(sends.length / 100);
  // 501 calls need five full windows and one more call, so the ideal time ends right after the fifth window.
  expect(Math.max(...sends)).toBeLessThanOrEqual(50_000 * 1.15);
});

test('a burst of 500 calls all succeed after one shared block', async () => {
  const { crowd, sends, rejections, runtime } = limitedService({ limit: 100, window: 10_000, latency: 20 });
  const counts = crowd(500);

  await runtime.advance(60_000);

  expect(counts).toHaveLength(500);
  // Only the 400 calls above the limit that were sent before the first response got a 429.
  expect(rejections()).toBe(400);
  expect(sends.some((at) => at > 20 && at < 10_000)).toBe(false);
});

test.each([
  { report: 'retry-after', callers: 1_000, limit: 300, window: 60_000, latency: 20 },
  { report: 'retry-after', callers: 100, limit: 20, window: 60_000, latency: 50 },
  { report: 'retry-after', callers: 500, limit: 100, window: 10_000, latency: 300, most: 1 / 5 },
  { report: 'nothing', callers: 1_000, limit: 50, window: 2_000, latency: 20 },
  { report: 'nothing', callers: 500, limit: 100, window: 10_000, latency: 300, most: 1 / 5 },
] as const)(
  'with a limit of $limit per $window ms whose 429 says $report, $callers calls succeed and few get a 429',
  async (given) => {
    const { callers, limit, window, report, most } = { most: 1 / 10, ...given };
    const { crowd, rejections, runtime } = limitedService(given, report);
    const counts = crowd(callers);

    await runtime.advance((Math.ceil(callers / limit) + 2) * window * 1.3);

    expect(counts).toHaveLength(callers);
    // After the first burst at most a tenth get a 429 (more if 429s are slow), and no call gets so many that it fails.
    expect(rejections() - (callers - limit)).toBeLessThanOrEqual(callers * most);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  },
);

test('the rate of calls follows an unannounced limit that is raised', async () => {
  const limits = { limit: 10, window: 1_000, latency: 5 };
  const { crowd, runtime } = limitedService(limits, 'retry-after');
  const counts = crowd(2_000);

  await runtime.advance(10_000);
  limits.limit = 40;
  await runtime.advance(90_000);

  // With the limit of the first 10 s it would take 200 s.
  expect(counts).toHaveLength(2_000);
});

test('any arrivals, responses and departures keep the order and leave no open call and no timer', async () => {
  const arrival = fc.record({ after: fc.nat(400), patience: fc.integer({ min: 1, max: 5_000 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(arrival, { maxLength: 25 }),
      fc.integer(),
      async (limit, arrivals, seed) => {
        const random = seededRandom(seed);
        const { serve, limiter, runtime } = limitedService({ limit, window: 1_000, latency: 5 });
        const sent: number[] = [];
        let open = 0;
        const arrive = async (place: number, patience: number): Promise<void> => {
          open += 1;
          const permit = limiter.acquire('gateway');
          const left = await new Promise<boolean>((resolve) => {
            if (permit.ready === undefined) return resolve(false);
            runtime.setTimer(() => resolve(true), patience);
            void permit.ready.then(() => resolve(false));
          });
          if (left) permit.release();
          else {
            sent.push(place);
            const observed = await serve();
            permit.release(random() < 0.1 ? {} : observed);
          }
          open -= 1;
        };
        for (const [place, { after, patience }] of arrivals.entries()) {
          await runtime.advance(after);
          void arrive(place, patience);
        }
        await runtime.advance(40_000);

        expect(open).toBe(0);
        expect(sent).toEqual([...sent].sort((a, b) => a - b));
        expect(runtime.pending).toBe(0);
      },
    ),
    { numRuns: 40 },
  );
});
