import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Availability } from '../../src/redis/availability.js';
import { redisLimiter } from '../../src/redis/limiter.js';
import { RedisBucket } from '../../src/redis/redis-bucket.js';
import { manualRuntime, settled } from '../helpers/manual-runtime.js';

/** The numbers of a step that are looked at, by their position in the arguments of the script. */
const NUMBERS = { sentAt: 1, wanted: 3, inFlight: 5, accepted: 6, retryAfter: 10, wasAlone: 11 };
const EPOCH = 1_700_000_000_000;

/**
 * A queue whose Redis grants everything while it is up, at `remaining` of 100 requests. With `askAfter` it grants
 * nothing for so many ms.
 */
function queueWith({ remaining = 0, processes = 1, askAfter = 0 } = {}) {
  const runtime = manualRuntime();
  const redis = { isUp: true, latency: 0, clock: EPOCH, steps: [] as Record<string, number>[] };
  const run = async (_keys: string[], args: string[]): Promise<unknown> => {
    const step = Object.fromEntries(Object.entries(NUMBERS).map(([name, at]) => [name, Number(args[at])]));
    redis.steps.push(step);
    if (!redis.isUp) throw new Error('gone');
    if (redis.latency > 0) await new Promise<void>((resolve) => runtime.setTimer(resolve, redis.latency));
    const limit = remaining === 0 ? 0 : 100;
    const granted = askAfter > 0 ? 0 : step.wanted;
    return [redis.clock + runtime.now(), granted, askAfter, 1, limit, remaining, limit * 600, 0, processes];
  };
  const availability = new Availability(runtime, 500, () => {});
  const limiter = { runtime, availability, run, process: 'one', processes: 1, timeout: 500 };
  const queue = new RedisBucket(limiter, Promise.resolve(['key']));
  const acquire = async () => {
    const permit = queue.acquire();
    await settled();
    return permit;
  };
  return { runtime, redis, queue, acquire };
}

describe('a step', () => {
  test('has the time by the clock of Redis, once it is known', async () => {
    const { runtime, redis, acquire } = queueWith();
    await runtime.advance(50);
    await acquire();
    await runtime.advance(100);
    await acquire();

    expect(redis.steps.map(({ sentAt }) => sentAt)).toEqual([0, EPOCH + 150]);
  });

  test('has the time by the clock of Redis, also once that has gone back', async () => {
    const { runtime, redis, acquire } = queueWith();
    await acquire();
    redis.clock -= 3_600_000;
    await runtime.advance(100);
    await acquire();
    await runtime.advance(100);
    await acquire();

    expect(redis.steps.map(({ sentAt }) => sentAt)).toEqual([0, EPOCH + 100, EPOCH + 200 - 3_600_000]);
  });

  test('reports an accepted request once, within 15 ms, and a 429 at once', async () => {
    const { runtime, redis, acquire } = queueWith();
    const [first, second] = [await acquire(), await acquire()];
    first.release({ rejected: false });
    await runtime.advance(14);
    expect(redis.steps).toHaveLength(2);
    await runtime.advance(1);
    expect(redis.steps[2]).toMatchObject({ wanted: 0, inFlight: 1, accepted: 1, retryAfter: 0 });

    second.release({ rejected: true, retryAfter: 5_000 });
    await runtime.advance(1);

    expect(redis.steps[3]).toMatchObject({ inFlight: 0, accepted: 0, retryAfter: 5_000 });
    expect(runtime.pending).toBe(0);
  });
});

test('a response that arrives during a step is reported after it, a 429 at once', async () => {
  const { runtime, redis, queue, acquire } = queueWith();
  const permits = [await acquire(), await acquire()];
  for (const [observed, wait] of [
    [{ rejected: false }, 15],
    [{ rejected: true }, 0],
  ] as const) {
    redis.steps.length = 0;
    redis.latency = 50;
    void queue.acquire();
    permits.shift()?.release(observed);
    await runtime.advance(50 + wait - 1);
    expect(redis.steps).toHaveLength(1);
    await runtime.advance(1);
    redis.latency = 0;
    expect(redis.steps).toHaveLength(2);
    await runtime.advance(100);
  }
});

test('calls wait without asking Redis while the window is closed', async () => {
  const { runtime, redis, acquire } = queueWith({ askAfter: 5_000 });
  const first = await acquire();
  await runtime.advance(1_000);
  const second = await acquire();

  expect([first.expectedWait, second.expectedWait]).toEqual([5_000, 4_000]);
  expect(redis.steps).toHaveLength(1);
  await runtime.advance(4_000);
  expect(redis.steps.map(({ wanted }) => wanted)).toEqual([1, 2]);

  first.release();
  second.release();
  expect(runtime.pending).toBe(0);
  await acquire();
  expect(redis.steps).toHaveLength(3);
});

test('a clock of this process that goes back, as after fake timers, ends its waits', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(3_600_000);
  const evalsha = vi.fn(async () => [EPOCH, 0, 60_000, 1, 0, 0, 0, 0, 1]);
  const limiter = redisLimiter({ client: { eval: evalsha, evalsha }, name: 'one' });
  const first = await limiter.acquire('gateway');
  vi.useRealTimers();

  const second = await limiter.acquire('gateway');

  expect(evalsha).toHaveBeenCalledTimes(2);
  for (const permit of [first, second]) permit.release();
});

test('no timer is left if the last call leaves during a step that grants nothing', async () => {
  const { runtime, redis, acquire } = queueWith({ askAfter: 5_000 });
  const permit = await acquire();
  redis.latency = 50;
  await runtime.advance(5_010);
  permit.release();
  await runtime.advance(40);

  expect(redis.steps).toHaveLength(2);
  expect(runtime.pending).toBe(0);
});

describe('without Redis', () => {
  test('a process checks once a second whether it is back, asks for nothing meanwhile, and says that it was alone', async () => {
    const { runtime, redis, acquire } = queueWith();
    redis.isUp = false;
    await acquire();
    expect(redis.steps).toMatchObject([{ wanted: 1, wasAlone: 0 }]);

    await runtime.advance(999);
    await acquire();
    expect(redis.steps).toHaveLength(1);
    redis.isUp = true;
    await runtime.advance(1);
    await acquire();
    expect(redis.steps[1]).toMatchObject({ wanted: 0, wasAlone: 1 });
    await acquire();
    await acquire();

    expect(redis.steps.slice(2)).toMatchObject([
      { wanted: 1, wasAlone: 1 },
      { wanted: 1, wasAlone: 0 },
    ]);
  });

  test('a waiting call is sent as soon as a block ends, not only when Redis is tried again', async () => {
    const { runtime, redis, acquire } = queueWith();
    await runtime.advance(5_000);
    const first = await acquire();
    redis.isUp = false;
    first.release({ rejected: true, retryAfter: 700 });
    await runtime.advance(1);
    let sent = false;
    void (await acquire()).ready?.then(() => {
      sent = true;
    });

    await runtime.advance(698);
    expect(sent).toBe(false);
    await runtime.advance(1);
    expect(sent).toBe(true);
  });

  test('each outage starts a new share, among the processes that Redis counted', async () => {
    const { runtime, redis, acquire } = queueWith({ remaining: 40, processes: 4 });
    (await acquire()).release();
    await runtime.advance(15);
    const sendAll = async () => {
      for (let sent = 0; sent < 100; sent += 1) {
        const permit = await acquire();
        permit.release();
        await runtime.advance(15);
        if (permit.ready !== undefined) return sent;
      }
      return Number.POSITIVE_INFINITY;
    };

    redis.isUp = false;
    expect(await sendAll()).toBe(10);
    redis.isUp = true;
    await runtime.advance(1_000);
    for (const _ of ['asks whether Redis is back', 'is sent']) (await acquire()).release();
    await runtime.advance(15);
    redis.isUp = false;

    expect(await sendAll()).toBe(10);
  });
});
