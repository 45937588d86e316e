import { setTimeout as sleep } from 'node:timers/promises';
import { type Admission, ConfigurationError, type Observation, type RateLimiter } from 'context-gateway';
import { type RedisLimiterEvent, type RedisLimiterOptions, redisLimiter } from 'context-gateway/redis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Availability } from '../../src/redis/availability.js';
import { Bucket } from '../../src/redis/bucket.js';
import type { Time } from '../../src/redis/time.js';
import { CLIENTS, type ClientName, openClient } from './clients.js';
import { missing, RedisServer } from './redis-server.js';

/** For what happens in its own time: a slow machine is no failure. */
const PATIENT = { timeout: 30_000 };

let server: RedisServer;
const opened: (() => void)[] = [];
beforeAll(async () => {
  if (!missing) server = await RedisServer.start();
});
afterAll(async () => {
  for (const close of opened) close();
  if (!missing) await server.kill();
});

/** A server that a test may end, and that ends with the file where the test fails before. */
async function ownServer(): Promise<RedisServer> {
  const own = await RedisServer.start();
  opened.push(() => void own.kill());
  return own;
}

/** Every test has an account of its own. */
let account = 0;
beforeEach(() => {
  account += 1;
});

function limiterOf(options: Partial<RedisLimiterOptions> & { library?: ClientName } = {}): RateLimiter {
  const { client, close } = openClient(options.library ?? 'redis', server.port);
  opened.push(close);
  return redisLimiter({ client, name: `account ${account}`, timeout: 5_000, ...options });
}

/** A call in the queue: whether it was let go. */
function asked(limiter: RateLimiter, bucket = 'gateway') {
  const call = { gone: false, admission: undefined as Admission | undefined };
  const answered = Promise.resolve(limiter.admit(bucket)).then((admission) => {
    call.admission = admission;
    if (admission === undefined) call.gone = true;
    admission?.ready.then(() => {
      call.gone = true;
    });
  });
  return { call, answered };
}

/** So many calls at once: how many of them may go at once. */
async function goAtOnce(limiter: RateLimiter, count: number, bucket = 'gateway'): Promise<number> {
  const all = Array.from({ length: count }, () => asked(limiter, bucket));
  await Promise.all(all.map(({ answered }) => answered));
  return all.filter(({ call }) => call.gone).length;
}

/** One call is answered with these figures, and Redis has heard of it. */
async function answer(limiter: RateLimiter, observed: Observation, bucket = 'gateway'): Promise<void> {
  await goAtOnce(limiter, 1, bucket);
  limiter.release(bucket, { refused: false, ...observed });
  await sleep(60);
}

const window = (remaining: number, untilReset = 60_000): Observation => ({ limit: 100, remaining, untilReset });

test('a missing redis-server is named', () => {
  if (missing) console.warn('SKIPPED: redis-server is not installed here. The tests of redisLimiter run where it is.');
  expect(process.env.REQUIRE_REDIS ? missing : false).toBe(false);
});

describe.skipIf(missing)('one limit for several limiters', () => {
  test('nothing is held back before an answer has told of a limit', async () => {
    expect(await goAtOnce(limiterOf(), 500)).toBe(500);
  });

  test.each(CLIENTS)('what one is told holds for all, with a client of %s', async (library) => {
    const [first, second] = [limiterOf({ library }), limiterOf({ library })];
    await answer(first, window(10));

    expect(await goAtOnce(second, 8)).toBe(8);
    expect(await goAtOnce(first, 5)).toBe(2);
    expect(await goAtOnce(second, 5)).toBe(0);
  });

  test('answers make room, unless they say that there is none', async () => {
    const [first, second] = [limiterOf(), limiterOf()];
    await answer(first, window(3));
    await goAtOnce(first, 3);
    first.release('gateway', {}); // it failed without an answer
    await sleep(60);

    expect(await goAtOnce(second, 2)).toBe(1);
  });

  test('buckets and accounts are apart', async () => {
    const limiter = limiterOf();
    await answer(limiter, window(0));

    expect(await goAtOnce(limiter, 1)).toBe(0);
    expect(await goAtOnce(limiter, 1, 'compact')).toBe(1);
    expect(await goAtOnce(limiterOf({ name: `another ${account}` }), 1)).toBe(1);
  });

  test('all go when the window ends, first come, first served', async () => {
    const limiter = limiterOf();
    await answer(limiter, window(0, 2_000));
    const calls = Array.from({ length: 3 }, () => asked(limiter));
    await Promise.all(calls.map(({ answered }) => answered));
    expect(calls.map(({ call }) => call.gone)).toEqual([false, false, false]);
    expect(calls[0]?.call.admission?.expected).toBeLessThanOrEqual(2_000);

    await vi.waitFor(() => expect(calls.map(({ call }) => call.gone)).toEqual([true, true, true]), PATIENT);
  });

  test('the hint of a 429 stops all, and one who gives up leaves no gap', async () => {
    const [first, second] = [limiterOf(), limiterOf()];
    await answer(first, { ...window(0, 2_000), refused: true, blockedFor: 2_000 });
    const early = asked(second);
    const late = asked(second);
    await Promise.all([early.answered, late.answered]);
    expect([early.call.gone, late.call.gone]).toEqual([false, false]);

    early.call.admission?.cancel();
    await vi.waitFor(() => expect(late.call.gone).toBe(true), PATIENT);

    expect(early.call.gone).toBe(false);
  });

  test('nothing leaves while the body of a refusal is on its way', async () => {
    const limiter = limiterOf();
    const free = limiter.hold?.('gateway');
    const { call } = asked(limiter);
    await sleep(60);
    expect(call.gone).toBe(false);
    free?.();

    await vi.waitFor(() => expect(call.gone).toBe(true), PATIENT);
  });

  test('a refusal is told to all once its body has been read', async () => {
    const [first, second] = [limiterOf(), limiterOf()];
    await goAtOnce(first, 1);
    const free = first.hold?.('gateway');
    first.release('gateway', { refused: true, blockedFor: 60_000 });
    free?.();
    await sleep(60);

    expect(await goAtOnce(second, 1)).toBe(0);
  });

  test('one with many calls waiting takes no more than its share from one that waits too', async () => {
    const [first, second] = [limiterOf(), limiterOf()];
    await answer(first, window(0, 2_000));
    const queues = [first, second].map((limiter) => Array.from({ length: 500 }, () => asked(limiter)));
    await Promise.all(queues.flat().map(({ answered }) => answered));

    const goneOf = (queue: (typeof queues)[number]) => queue.filter(({ call }) => call.gone).length;
    await vi.waitFor(() => expect(queues.map(goneOf).every((gone) => gone >= 45)).toBe(true), PATIENT);

    for (const queue of queues) {
      const gone = goneOf(queue);
      expect(gone).toBeGreaterThanOrEqual(45);
      expect(gone).toBeLessThanOrEqual(55);
    }
  });

  test('a service that names no limit is approached slowly after a refusal', async () => {
    const limiter = limiterOf();
    await answer(limiter, { refused: true, blockedFor: 300 });
    const calls = Array.from({ length: 200 }, () => asked(limiter));
    await Promise.all(calls.map(({ answered }) => answered));

    await sleep(700);

    const gone = calls.filter(({ call }) => call.gone).length;
    expect(gone).toBeGreaterThan(0);
    expect(gone).toBeLessThan(60);
  });

  test('Redis keeps neither the name nor anything for ever', async () => {
    const secret = 'svc_sk_canary_0123456789abcdef';
    const limiter = limiterOf({ name: secret });
    await answer(limiter, window(5, 2_000));

    const { client } = openClient('ioredis', server.port) as unknown as { client: import('ioredis').Redis };
    opened.push(() => client.disconnect());
    const keys = (await client.keys('*')).filter((key) => key.endsWith(':gateway') || key.endsWith(':processes'));
    expect(keys.length).toBeGreaterThanOrEqual(2);
    for (const key of keys) {
      expect(key).toMatch(/^context-gateway:\{[0-9a-f]{32}\}:\w+(:processes)?$/);
      const lifetime = await client.pttl(key);
      expect(lifetime).toBeGreaterThan(0);
      expect(lifetime).toBeLessThanOrEqual(300_000);
    }
    expect(JSON.stringify([keys, await Promise.all(keys.map((key) => client.hgetall(key)))])).not.toContain('canary');
  });
});

describe.skipIf(missing)('without Redis', () => {
  test('a process keeps to its share, says so once, and comes back by itself', async () => {
    const own = await ownServer();
    const events: RedisLimiterEvent['type'][] = [];
    const listening = (): RateLimiter => {
      const { client, close } = openClient('ioredis', own.port);
      opened.push(close);
      const onEvent = ({ type }: RedisLimiterEvent) => void events.push(type);
      return redisLimiter({ client, name: 'one', timeout: 300, onEvent });
    };
    const [first, second] = [listening(), listening()];
    await goAtOnce(second, 1);
    second.release('gateway', {});
    await answer(first, window(40));

    await own.kill();

    const calls = Array.from({ length: 30 }, () => asked(first));
    const gone = () => calls.filter(({ call }) => call.gone).length;
    await Promise.all(calls.map(({ answered }) => answered));
    expect(events).toEqual(['unavailable']);
    expect(gone()).toBeLessThan(20); // some at a time
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 7; n += 1) first.release('gateway', {});
      await sleep(250);
    }
    expect(gone()).toBe(20); // half of what is left

    await own.start();
    for (let tries = 0; events.length === 1 && tries < 100; tries += 1) {
      await sleep(100);
      void first.admit('gateway');
    }
    expect(events).toEqual(['unavailable', 'available']);
    await own.kill();
  });

  test('a Redis that was emptied learns the window from the first who asks', async () => {
    const own = await ownServer();
    const { client, close } = openClient('ioredis', own.port);
    const other = openClient('ioredis', own.port);
    opened.push(close, other.close);
    const first = redisLimiter({ client, name: 'one', timeout: 5_000 });
    await answer(first, window(7));
    await (client as unknown as import('ioredis').Redis).flushall();

    expect(await goAtOnce(first, 1)).toBe(1);
    expect(await goAtOnce(redisLimiter({ client: other.client, name: 'one', timeout: 5_000 }), 10)).toBe(6);
    await own.kill();
  });

  test('a refusal that Redis did not hear of is told when it answers again', async () => {
    const { client, close } = openClient('ioredis', server.port);
    opened.push(close);
    const redis = client as import('ioredis').Redis;
    let isGone = false;
    const unlessGone = async <T>(call: () => T): Promise<Awaited<T>> => {
      if (isGone) throw new Error('gone');
      return await call();
    };
    const patchy = {
      eval: (...args: Parameters<typeof redis.eval>) => unlessGone(() => redis.eval(...args)),
      evalsha: (...args: Parameters<typeof redis.evalsha>) => unlessGone(() => redis.evalsha(...args)),
    };
    const [first, second] = [limiterOf({ client: patchy as unknown as typeof client }), limiterOf()];
    await answer(first, window(50));
    await goAtOnce(first, 1);

    isGone = true;
    first.release('gateway', { refused: true, blockedFor: 60_000 });
    await sleep(60);
    isGone = false;

    expect(await goAtOnce(first, 1)).toBe(0);
    expect(await goAtOnce(second, 1)).toBe(0);
  });

  test('a Redis that stands still holds no call longer than its timeout', async () => {
    const own = await ownServer();
    const { client, close } = openClient('redis', own.port);
    opened.push(close);
    const events: RedisLimiterEvent['type'][] = [];
    const limiter = redisLimiter({ client, name: 'one', timeout: 300, onEvent: ({ type }) => events.push(type) });
    await answer(limiter, window(50));
    own.pause();

    const since = performance.now();
    expect(await goAtOnce(limiter, 1)).toBe(1);
    expect(performance.now() - since).toBeGreaterThan(250);
    expect(events).toEqual(['unavailable']);
    own.resume();
    await own.kill();
  });
});

/** A client without a Redis. */
const gone = () => ({
  eval: async () => [],
  evalsha: async () => {
    throw new Error('NOPERM this user may not run scripts.\nIts second line');
  },
});

test('no timer holds the process when no call waits any more', async () => {
  const timers = new Set<() => void>();
  const time: Time = {
    now: () => 0,
    setTimer: (callback) => {
      timers.add(callback);
      return callback;
    },
    clearTimer: (timer) => timers.delete(timer as () => void),
  };
  const bucket = new Bucket(
    {
      time,
      availability: new Availability(time, 500, () => {}),
      run: async () => [0, 60_000, 1, 1, 0, 60_000, 60_000, 0, 1], // used up for a minute
      process: 'this one',
      processes: 1,
    },
    Promise.resolve(['key']),
  );
  const admissions = await Promise.all([bucket.admit(), bucket.admit()]);
  expect(timers.size).toBe(1);

  for (const admission of admissions) admission?.cancel();

  expect(timers.size).toBe(0);
});

describe('that Redis is gone', () => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => {
    if (/NOPERM/.test(message)) warnings.push(message);
  };
  beforeEach(() => void process.on('warning', note));
  afterEach(() => {
    process.off('warning', note);
    warnings.length = 0;
  });

  test('is one warning for all limiters of a client, with the reason', async () => {
    const client = gone();
    for (const name of ['Ann', 'Bob', 'Cleo']) await redisLimiter({ client, name }).admit('gateway');
    await sleep(0);

    expect(warnings).toEqual([
      'redisLimiter cannot reach Redis (NOPERM this user may not run scripts). Until it can, this process keeps to its own share of the rate limit.',
    ]);
  });

  test('may be told to a listener that fails, now or later', async () => {
    const fails = (): never => {
      throw new Error('the listener');
    };
    for (const onEvent of [fails, async () => fails()])
      expect(await redisLimiter({ client: gone(), name: 'one', onEvent }).admit('gateway')).toBeUndefined();
    await sleep(0); // a rejection that nothing handles would fail the test
    expect(warnings).toEqual([]);
  });
});

describe('options that cannot work', () => {
  const client = { eval: async () => [], evalsha: async () => [] };
  test.each([
    [{ client: {}, name: 'a' }, /a client of redis, ioredis or iovalkey/],
    [{ client, name: ' ' }, /name is missing/],
    [{ client, name: 'a', timeout: 0 }, /timeout must be/],
    [{ client, name: 'a', processes: 1.5 }, /processes must be/],
    [{ client, name: 'a', onEvent: true }, /onEvent must be/],
    [undefined, /name is missing/],
  ])('are refused: %o', (options, message) => {
    const create = () => redisLimiter(options as unknown as RedisLimiterOptions);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(message);
  });
});
