import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Admission, type Observation, Pacer } from '../../src/transport/pacer.js';
import { type ManualRuntime, manualRuntime, seededRandom, settled } from '../helpers/manual-runtime.js';

/** A caller in the queue, and whether it was admitted. */
function waiting(admission: Admission | undefined) {
  const caller = { admitted: admission === undefined, cancel: () => admission?.cancel() };
  admission?.ready.then(() => {
    caller.admitted = true;
  });
  return caller;
}

/** A pacer that has seen the rate limit headers of a window. */
function pacerIn(window: Observation, runtime: ManualRuntime = manualRuntime()) {
  const pacer = new Pacer(runtime);
  const arrive = (bucket = 'gateway') => waiting(pacer.admit(bucket));
  const answer = (observed: Observation = {}, bucket = 'gateway') => pacer.release(bucket, observed);
  arrive();
  answer(window);
  return { runtime, pacer, arrive, answer };
}

describe('pacing', () => {
  test('admits every call before the first rate limit headers', () => {
    const runtime = manualRuntime();
    const pacer = new Pacer(runtime);

    expect(Array.from({ length: 1_000 }, () => pacer.admit('gateway')).every((turn) => turn === undefined)).toBe(true);
    expect(runtime.pending).toBe(0);
  });

  test('admits every call if no response has rate limit headers', () => {
    const { arrive, answer } = pacerIn({});
    const callers = Array.from({ length: 500 }, () => arrive());
    answer({});

    expect(callers.every(({ admitted }) => admitted)).toBe(true);
  });

  test('admits the remaining calls of the window, counting those in flight, and the others at its end', async () => {
    const { arrive, runtime } = pacerIn({ limit: 10, remaining: 3, untilReset: 5_000 });
    const callers = Array.from({ length: 6 }, () => arrive());

    expect(callers.map(({ admitted }) => admitted)).toEqual([true, true, true, false, false, false]);
    await runtime.advance(4_999);
    expect(callers.filter(({ admitted }) => admitted)).toHaveLength(3);
    await runtime.advance(1);
    expect(callers.every(({ admitted }) => admitted)).toBe(true);
  });

  test('admits nothing before the retry_after of a 429, and then all that the window allows', async () => {
    const { arrive, answer, runtime } = pacerIn({ limit: 10, remaining: 9, untilReset: 60_000 });
    arrive();
    answer({ limit: 10, remaining: 9, untilReset: 60_000, blockedFor: 2_000 });
    const callers = [arrive(), arrive()];

    await runtime.advance(1_999);
    expect(callers.map(({ admitted }) => admitted)).toEqual([false, false]);
    await runtime.advance(1);
    expect(callers.map(({ admitted }) => admitted)).toEqual([true, true]);
  });

  test('keeps a longer cooldown after a shorter one', async () => {
    const { arrive, answer, runtime } = pacerIn({});
    for (const blockedFor of [5_000, 1_000]) {
      arrive();
      arrive();
      answer({ blockedFor });
    }
    const caller = arrive();

    await runtime.advance(4_999);
    expect(caller.admitted).toBe(false);
    await runtime.advance(1);
    expect(caller.admitted).toBe(true);
  });

  test('never raises the remaining calls of a window after responses out of order', () => {
    const { arrive, answer } = pacerIn({ limit: 10, remaining: 4, untilReset: 9_000 });
    arrive();
    arrive();
    answer({ limit: 10, remaining: 1, untilReset: 9_000 });
    answer({ limit: 10, remaining: 3, untilReset: 9_000 });

    expect([arrive().admitted, arrive().admitted]).toEqual([true, false]);
  });

  test('treats a later end as a new window with its own remaining calls', async () => {
    const { arrive, answer } = pacerIn({ limit: 10, remaining: 1, untilReset: 1_000 });
    arrive();
    const next = arrive();
    expect(next.admitted).toBe(false);

    answer({ limit: 10, remaining: 8, untilReset: 10_000 });
    await settled();

    expect(next.admitted).toBe(true);
  });

  test.each([
    { window: { limit: 5, remaining: 0, untilReset: 300_001 }, because: 'it is too long for a window' },
    { window: { limit: 5, remaining: 0, untilReset: 0 }, because: 'it is over' },
    { window: { limit: 5, remaining: 0, untilReset: -1 }, because: 'it is over' },
    { window: { limit: 5, remaining: 0 }, because: 'its end is unknown' },
    { window: { limit: 5, untilReset: 1_000 }, because: 'its remaining calls are unknown' },
  ])('ignores $window: $because', ({ window }) => {
    expect(pacerIn(window).arrive().admitted).toBe(true);
  });

  test('respects a retry_after of at most one day: a longer one is taken for a mistake', async () => {
    const { arrive, answer, runtime } = pacerIn({});
    arrive();
    answer({ blockedFor: 1e15 });
    const caller = arrive();

    await runtime.advance(86_399_999);
    expect(caller.admitted).toBe(false);
    await runtime.advance(1);
    expect(caller.admitted).toBe(true);
  });

  test('does not count calls of an earlier window that have no response yet against the new one', async () => {
    const { arrive, runtime } = pacerIn({ limit: 4, remaining: 4, untilReset: 1_000 });
    const callers = Array.from({ length: 8 }, () => arrive());

    await runtime.advance(1_000);

    expect(callers.every(({ admitted }) => admitted)).toBe(true);
    expect(arrive().admitted).toBe(false);
  });

  test('admits nothing while the body of an error response is still arriving', () => {
    const { arrive, pacer } = pacerIn({});
    const free = pacer.hold('gateway');
    const caller = pacer.admit('gateway');
    expect(caller).toBeDefined();
    free();
    expect(arrive().admitted).toBe(true);
  });

  test('starts slowly after a 429 that the rate limit headers do not explain', async () => {
    const { arrive, answer, runtime } = pacerIn({ limit: 9_000, remaining: 8_990, untilReset: 60_000 });
    for (let n = 0; n < 50; n += 1) arrive();
    for (let n = 0; n < 50; n += 1)
      answer({ limit: 9_000, remaining: 8_900, untilReset: 60_000, refused: true, blockedFor: 1_000 });
    const callers = Array.from({ length: 50 }, () => arrive());

    await runtime.advance(2_000);

    expect(callers.filter(({ admitted }) => admitted).length).toBeLessThan(20);
    await runtime.advance(2_000);
    expect(callers.every(({ admitted }) => admitted)).toBe(true);
  });

  test('raises an estimated limit that was too low', async () => {
    const { arrive, answer, pacer, runtime } = pacerIn({});
    const refusal = { refused: true, blockedFor: 1_000 };
    arrive();
    answer(refusal);
    await runtime.advance(1_000);
    arrive();
    answer({ refused: false });
    arrive();
    answer(refusal);
    let sent = 0;
    for (let n = 0; n < 3_000; n += 1) {
      void (async () => {
        await pacer.admit('gateway')?.ready;
        await new Promise<void>((go) => runtime.setTimer(go, 100));
        sent += 1;
        answer({ refused: false });
      })();
    }

    await runtime.advance(30_000);

    expect(sent).toBe(3_000);
  });
});

test('a caller is admitted even if the cooldown ends between two reads of the clock', async () => {
  for (let blockedFor = 1; blockedFor < 12; blockedFor += 1) {
    const runtime = manualRuntime();
    let looks = 0;
    const now = () => {
      looks += 1;
      return runtime.now() + looks;
    };
    const pacer = new Pacer({ ...runtime, now });
    pacer.admit('gateway');
    pacer.release('gateway', { refused: true, blockedFor });
    const caller = waiting(pacer.admit('gateway'));

    await runtime.advance(100);

    expect(caller.admitted).toBe(true);
  }
});

describe('the expected wait', () => {
  const expected = (pacer: Pacer) => pacer.admit('gateway')?.expected;

  test('is the rest of a cooldown', () => {
    const { pacer, arrive, answer } = pacerIn({});
    arrive();
    answer({ blockedFor: 45_000 });

    expect(expected(pacer)).toBe(45_000);
  });

  test('is the rest of the window, plus whole windows for callers further back', () => {
    const { pacer } = pacerIn({ limit: 2, remaining: 0, untilReset: 10_000 });

    expect(Array.from({ length: 5 }, () => expected(pacer))).toEqual([10_000, 10_000, 20_000, 20_000, 30_000]);
  });
});

describe('buckets', () => {
  test('a throttled bucket does not delay another one', () => {
    const { arrive } = pacerIn({ limit: 5, remaining: 0, untilReset: 60_000 });

    expect(arrive('gateway').admitted).toBe(false);
    expect(arrive('compact').admitted).toBe(true);
    expect(arrive('context').admitted).toBe(true);
  });
});

describe('the queue', () => {
  test('is first in, first out, even for callers that arrive after the window reopens', async () => {
    const { arrive, answer, runtime } = pacerIn({ limit: 1, remaining: 0, untilReset: 1_000 });
    const callers = [arrive(), arrive(), arrive()];
    const order = () => callers.map(({ admitted }) => admitted);

    await runtime.advance(1_000);
    expect(order()).toEqual([true, false, false]);
    callers.push(arrive());
    answer();
    await settled();
    expect(order()).toEqual([true, true, false, false]);
    answer();
    await settled();
    expect(order()).toEqual([true, true, true, false]);
  });

  test('is not overtaken by a caller that arrives at the moment the window ends', async () => {
    const { arrive, runtime } = pacerIn({ limit: 1, remaining: 0, untilReset: 1_000 });
    const late: ReturnType<typeof arrive>[] = [];
    runtime.setTimer(() => late.push(arrive()), 1_000);
    const early = arrive();

    await runtime.advance(1_000);

    expect([early.admitted, late[0]?.admitted]).toEqual([true, false]);
  });

  test('skips a caller that has cancelled', async () => {
    const { arrive, runtime } = pacerIn({ limit: 2, remaining: 0, untilReset: 1_000 });
    const [first, second, third] = [arrive(), arrive(), arrive()];
    first.cancel();

    await runtime.advance(1_000);

    expect([first.admitted, second.admitted, third.admitted]).toEqual([false, true, true]);
  });

  test('admits the next caller if one cancels at the moment it is admitted', async () => {
    const { arrive, pacer, runtime } = pacerIn({ limit: 1, remaining: 0, untilReset: 1_000 });
    const first = pacer.admit('gateway');
    const second = arrive();
    first?.ready.then(() => first.cancel());

    await runtime.advance(1_000);

    expect(second.admitted).toBe(true);
  });

  test('leaves no timer once every caller has cancelled', async () => {
    const { arrive, runtime } = pacerIn({ limit: 5, remaining: 0, untilReset: 1_000 });
    const callers = [arrive(), arrive()];
    expect(runtime.pending).toBe(1);
    for (const { cancel } of callers) cancel();
    expect(runtime.pending).toBe(0);
  });
});

/** A service that allows `limit` requests in each window, and responds after `latency` ms. */
function windowedService(runtime: ManualRuntime, limits: { limit: number; window: number; latency: number }) {
  const { window, latency } = limits;
  let startedAt = 0;
  let used = 0;
  const sends: number[] = [];
  let refusals = 0;
  const serve = (): Promise<{ refused: boolean; observed: Observation }> => {
    const now = runtime.now();
    sends.push(now);
    while (now >= startedAt + window) {
      startedAt += window;
      used = 0;
    }
    const { limit } = limits;
    const refused = used >= limit;
    if (refused) refusals += 1;
    else used += 1;
    const remaining = limit - used;
    const resetAt = startedAt + window;
    return new Promise((resolve) => {
      runtime.setTimer(() => {
        const untilReset = resetAt - runtime.now();
        resolve({ refused, observed: { limit, remaining, untilReset, blockedFor: refused ? untilReset : undefined } });
      }, latency);
    });
  };
  return { serve, sends, counts: () => ({ refusals, sent: sends.length }) };
}

/** Repeats a call until it succeeds. */
async function call(pacer: Pacer, serve: ReturnType<typeof windowedService>['serve']): Promise<void> {
  for (;;) {
    await pacer.admit('gateway')?.ready;
    const { refused, observed } = await serve();
    pacer.release('gateway', observed);
    if (!refused) return;
  }
}

test('500 calls after a first one, at 100 per window, get at most 1 % 429s within 1.15 of the ideal time', async () => {
  const runtime = manualRuntime();
  const service = windowedService(runtime, { limit: 100, window: 10_000, latency: 20 });
  const pacer = new Pacer(runtime);
  void call(pacer, service.serve);
  await runtime.advance(50);
  let done = 0;
  for (let n = 0; n < 500; n += 1)
    void call(pacer, service.serve).then(() => {
      done += 1;
    });

  await runtime.advance(60_000);

  expect(done).toBe(500);
  const { refusals, sent } = service.counts();
  expect(refusals).toBeLessThanOrEqual(sent / 100);
  // 501 calls need five full windows and one more call, so the ideal time ends right after the fifth window.
  expect(Math.max(...service.sends)).toBeLessThanOrEqual(50_000 * 1.15);
});

test('a burst of 500 calls all succeed after one shared cooldown', async () => {
  const runtime = manualRuntime();
  const service = windowedService(runtime, { limit: 100, window: 10_000, latency: 20 });
  const pacer = new Pacer(runtime);
  let done = 0;
  for (let n = 0; n < 500; n += 1)
    void call(pacer, service.serve).then(() => {
      done += 1;
    });

  await runtime.advance(60_000);

  expect(done).toBe(500);
  // Only the 400 calls above the limit that were sent before the first response got a 429.
  expect(service.counts().refusals).toBe(400);
  expect(service.sends.some((at) => at > 20 && at < 10_000)).toBe(false);
});

/** A service whose 429 has Retry-After and no limit, as documented for the Context API. */
function terseService(runtime: ManualRuntime, limits: { limit: number; window: number; latency: number }) {
  const service = windowedService(runtime, limits);
  const serve: typeof service.serve = async () => {
    const { refused, observed } = await service.serve();
    // Retry-After is in whole seconds.
    const blockedFor = refused ? Math.ceil((observed.blockedFor ?? 0) / 1_000) * 1_000 : undefined;
    return { refused, observed: { refused, blockedFor } };
  };
  return { ...service, serve };
}

test.each([
  { callers: 1_000, limit: 100, window: 10_000, latency: 20 },
  { callers: 1_000, limit: 300, window: 60_000, latency: 20 },
  { callers: 100, limit: 20, window: 60_000, latency: 50 },
  { callers: 500, limit: 100, window: 10_000, latency: 300 },
])('after a 429 without a limit, $callers callers start slowly and learn the limit of $limit', async (given) => {
  const { callers, limit, window } = given;
  const runtime = manualRuntime();
  const service = terseService(runtime, given);
  const pacer = new Pacer(runtime);
  const refusals: number[] = [];
  const callUntilServed = async () => {
    for (let refused = 0; ; refused += 1) {
      await pacer.admit('gateway')?.ready;
      const answer = await service.serve();
      pacer.release('gateway', answer.observed);
      if (!answer.refused) return refusals.push(refused);
    }
  };
  for (let n = 0; n < callers; n += 1) void callUntilServed();

  await runtime.advance((Math.ceil(callers / limit) + 2) * window);

  expect(refusals).toHaveLength(callers);
  // After the first burst at most a tenth get a 429, and no call gets so many that it fails.
  const afterTheBurst = service.counts().refusals - (callers - limit);
  expect(afterTheBurst).toBeLessThanOrEqual(callers / 10);
  expect(Math.max(...refusals)).toBeLessThanOrEqual(2);
});

test('a 429 between successful calls does not lead to a slow start', async () => {
  const runtime = manualRuntime();
  const pacer = new Pacer(runtime);
  for (let n = 0; n < 20; n += 1) pacer.admit('gateway');
  pacer.release('gateway', { refused: true, blockedFor: 1_000 });
  for (let n = 0; n < 19; n += 1) pacer.release('gateway', { refused: false });
  const callers = Array.from({ length: 20 }, () => waiting(pacer.admit('gateway')));

  await runtime.advance(1_000);

  expect(callers.every(({ admitted }) => admitted)).toBe(true);
});

test('the rate of calls follows an unannounced limit that is raised', async () => {
  const runtime = manualRuntime();
  const limits = { limit: 10, window: 1_000, latency: 5 };
  const service = terseService(runtime, limits);
  const pacer = new Pacer(runtime);
  let done = 0;
  for (let n = 0; n < 2_000; n += 1) {
    void (async () => {
      for (let served = false; !served; ) {
        await pacer.admit('gateway')?.ready;
        const { refused, observed } = await service.serve();
        pacer.release('gateway', observed);
        served = !refused;
      }
      done += 1;
    })();
  }

  await runtime.advance(10_000);
  limits.limit = 40;
  await runtime.advance(90_000);

  // With the limit of the first 10 s it would take 200 s.
  expect(done).toBe(2_000);
});

test('any arrivals, responses and cancellations keep the order and leave no open call and no timer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.record({ after: fc.integer({ min: 0, max: 400 }), patience: fc.integer({ min: 1, max: 5_000 }) }), {
        maxLength: 25,
      }),
      fc.integer(),
      async (limit, arrivals, seed) => {
        const runtime = manualRuntime();
        const random = seededRandom(seed);
        const service = windowedService(runtime, { limit, window: 1_000, latency: 5 });
        const pacer = new Pacer(runtime);
        const sent: number[] = [];
        let open = 0;
        const arrive = async (place: number, patience: number): Promise<void> => {
          open += 1;
          const admission = pacer.admit('gateway');
          const gaveUp = await new Promise<boolean>((resolve) => {
            if (admission === undefined) return resolve(false);
            runtime.setTimer(() => resolve(true), patience);
            void admission.ready.then(() => resolve(false));
          });
          if (gaveUp) admission?.cancel();
          else {
            sent.push(place);
            const { observed } = await service.serve();
            pacer.release('gateway', random() < 0.1 ? {} : observed);
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
