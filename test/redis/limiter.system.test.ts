import { setTimeout as sleep } from 'node:timers/promises';
import { GlideClient, Logger } from '@valkey/valkey-glide';
import { ConfigurationError, type Permit, type RateLimiter, type RateLimitObservation } from 'context-gateway';
import { redisLimiter } from 'context-gateway/redis';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { CLIENTS, type ClientName, openClient, type RedisClient } from './clients.js';
import { missing, RedisServer } from './redis-server.js';

type RedisLimiterOptions = Parameters<typeof redisLimiter>[0];
type RedisLimiterEvent = Parameters<NonNullable<RedisLimiterOptions['onEvent']>>[0];

/** Long, so that a slow machine does not fail a test. */
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

/** A server that a test may kill. If the test fails before, it is killed at the end of the file. */
async function ownServer(): Promise<RedisServer> {
  const own = await RedisServer.start();
  opened.push(() => void own.kill());
  return own;
}

/** Every test uses its own account. */
let account = 0;
beforeEach(() => {
  account += 1;
});

/** The scripts that Redis has run. */
let scripts = 0;

/** A client that counts the scripts it has run. */
function counting<T extends RedisClient>(client: T): T {
  const methods = client as unknown as Record<string, ((...args: unknown[]) => Promise<unknown>) | undefined>;
  for (const name of ['eval', 'evalsha', 'evalSha', 'customCommand']) {
    const run = methods[name]?.bind(client);
    if (run === undefined) continue;
    methods[name] = async (...args) => {
      const result = await run(...args);
      scripts += 1;
      return result;
    };
  }
  return client;
}

/** A client that is closed at the end of the file. */
function clientOf(library: ClientName, { port } = server): RedisClient {
  const { client, close } = openClient(library, port);
  opened.push(close);
  return counting(client);
}

const limiterOf = (options: Partial<RedisLimiterOptions> = {}): RateLimiter =>
  redisLimiter({ client: options.client ?? clientOf('redis'), name: `account ${account}`, timeout: 5_000, ...options });

/** A call in the queue, and whether it was admitted. */
function asked(limiter: RateLimiter, bucket = 'gateway') {
  const call = { admitted: false, permit: undefined as Permit | undefined };
  const answered = Promise.resolve(limiter.acquire(bucket)).then(async (permit) => {
    call.permit = permit;
    call.admitted = permit.ready === undefined;
    permit.ready?.then(() => {
      call.admitted = true;
    });
  });
  return { call, answered };
}

/** Asks for `count` calls at once, and returns how many are admitted at once. */
async function admittedAtOnce(limiter: RateLimiter, count: number, bucket = 'gateway'): Promise<number> {
  const all = Array.from({ length: count }, () => asked(limiter, bucket));
  await Promise.all(all.map(({ answered }) => answered));
  return all.filter(({ call }) => call.admitted).length;
}

/** Makes one call with this response, and waits until Redis has recorded it. */
async function answer(limiter: RateLimiter, observed: RateLimitObservation, bucket = 'gateway'): Promise<void> {
  const permit = await limiter.acquire(bucket);
  await permit.ready;
  await recorded(() => permit.release({ rejected: false, ...observed }));
}

/** Does something that Redis is told of, and waits until it was told. */
async function recorded(act: () => void): Promise<void> {
  const before = scripts;
  act();
  await vi.waitFor(() => expect(scripts).toBeGreaterThan(before), PATIENT);
}

const window = (remaining: number, resetAfter = 60_000) => ({ limit: 100, remaining, resetAfter });

test('a missing redis-server is reported', () => {
  if (missing) console.warn('SKIPPED: redis-server is not installed here. The tests of redisLimiter run where it is.');
  expect(process.env.REQUIRE_REDIS ? missing : false).toBe(false);
});

describe.skipIf(missing)('limiters that share a limit', () => {
  test.each(CLIENTS)('share what one of them has learnt, with a client of %s', async (library) => {
    const [first, second] = [limiterOf({ client: clientOf(library) }), limiterOf({ client: clientOf(library) })];
    await answer(first, window(10));

    expect(await admittedAtOnce(second, 8)).toBe(8);
    expect(await admittedAtOnce(first, 5)).toBe(2);
    expect(await admittedAtOnce(second, 5)).toBe(0);
  });

  test('share what one of them has learnt, with a client of @valkey/valkey-glide', async () => {
    Logger.init('off'); // it prints that Redis does not know the script
    const glide = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port: server.port }] });
    opened.push(() => glide.close());
    await glide.scriptFlush();
    const [first, second] = [limiterOf({ client: counting(glide) }), limiterOf()];
    await answer(first, window(10));

    expect(await admittedAtOnce(second, 8)).toBe(8);
    expect(await admittedAtOnce(first, 5)).toBe(2);
  });

  test('keep buckets and accounts apart', async () => {
    const limiter = limiterOf();
    await answer(limiter, window(0));

    expect(await admittedAtOnce(limiter, 1)).toBe(0);
    expect(await admittedAtOnce(limiter, 1, 'compact')).toBe(1);
    expect(await admittedAtOnce(limiterOf({ name: `another ${account}` }), 1)).toBe(1);
  });

  test('all wait for the retry-after of a 429, and skip a cancelled call', async () => {
    const [first, second] = [limiterOf(), limiterOf()];
    await answer(first, { ...window(0, 2_000), rejected: true, retryAfter: 2_000 });
    const [early, late] = [asked(second), asked(second)];
    await Promise.all([early.answered, late.answered]);
    expect([early.call.admitted, late.call.admitted]).toEqual([false, false]);

    early.call.permit?.release();
    await vi.waitFor(() => expect(late.call.admitted).toBe(true), PATIENT);

    expect(early.call.admitted).toBe(false);
  });

  test('admit nothing while the body of an error response is still arriving', async () => {
    const limiter = limiterOf();
    const permit = await limiter.acquire('gateway');
    permit.hold?.(10_000);
    const { call } = asked(limiter);
    await sleep(60);
    expect(call.admitted).toBe(false);
    permit.release({ rejected: false });

    await vi.waitFor(() => expect(call.admitted).toBe(true), PATIENT);
  });

  test('share a 429 once its body has been read', async () => {
    const [first, second] = [limiterOf(), limiterOf()];
    const permit = await first.acquire('gateway');
    permit.hold?.(10_000);
    await recorded(() => permit.release({ rejected: true, retryAfter: 60_000 }));

    expect(await admittedAtOnce(second, 1)).toBe(0);
  });

  test('store no name in Redis, and only keys that expire', async () => {
    const secret = 'svc_sk_canary_0123456789abcdef';
    const limiter = limiterOf({ name: secret });
    await answer(limiter, window(5));

    const client = clientOf('ioredis') as Redis;
    const keys = (await client.keys('*')).filter((key) => key.endsWith(':gateway') || key.endsWith(':processes'));
    expect(keys.length).toBeGreaterThanOrEqual(2);
    for (const key of keys) {
      expect(key).toMatch(/^context-gateway:\{[0-9a-f]{32}\}:\w+(:processes)?$/);
      const lifetime = await client.pttl(key);
      expect(lifetime).not.toBe(-1); // a key without an end; -2 is one of an earlier test that has ended meanwhile
      expect(lifetime).toBeLessThanOrEqual(300_000);
    }
    expect(JSON.stringify([keys, await Promise.all(keys.map((key) => client.hgetall(key)))])).not.toContain('canary');
  });
});

describe.skipIf(missing)('if Redis fails', () => {
  test('a process keeps to its share, reports this once, and reconnects by itself', async () => {
    const own = await ownServer();
    const events: RedisLimiterEvent['type'][] = [];
    const onEvent = ({ type }: RedisLimiterEvent) => void events.push(type);
    const listening = () => limiterOf({ client: clientOf('ioredis', own), timeout: 300, onEvent });
    const [first, second] = [listening(), listening()];
    (await second.acquire('gateway')).release();
    await answer(first, window(40));

    await own.kill();

    const calls = Array.from({ length: 30 }, () => asked(first));
    const admitted = () => calls.filter(({ call }) => call.admitted).length;
    await Promise.all(calls.map(({ answered }) => answered));
    expect(events).toEqual(['unavailable']);
    expect(admitted()).toBeLessThan(20); // a few at a time
    const release = () => {
      for (const { call } of calls) {
        if (call.admitted) call.permit?.release();
        if (call.admitted) call.permit = undefined; // released once
      }
      expect(admitted()).toBe(20); // half of the remaining calls
    };
    await vi.waitFor(release, PATIENT);
    await sleep(250);
    release();

    await own.start();
    for (let tries = 0; events.length === 1 && tries < 100; tries += 1) {
      await sleep(100);
      void first.acquire('gateway');
    }
    expect(events).toEqual(['unavailable', 'available']);
    await own.kill();
  });

  test('an emptied Redis learns the window from the first call', async () => {
    const own = await ownServer();
    const client = clientOf('ioredis', own) as Redis;
    const [first, second] = [limiterOf({ client }), limiterOf({ client: clientOf('ioredis', own) })];
    await answer(first, window(7));
    await client.flushall();

    expect(await admittedAtOnce(first, 1)).toBe(1);
    expect(await admittedAtOnce(second, 10)).toBe(6);
    await own.kill();
  });

  test('a 429 that Redis missed is recorded once it responds again', async () => {
    const redis = clientOf('ioredis') as Redis;
    let isGone = false;
    let missed = 0;
    const client = {
      eval: redis.eval.bind(redis),
      evalsha: async (...args: Parameters<typeof redis.evalsha>) => {
        if (isGone) missed += 1;
        if (isGone) throw new Error('gone');
        return redis.evalsha(...args);
      },
    } as RedisClient;
    const [first, second] = [limiterOf({ client }), limiterOf()];
    await answer(first, window(50));
    const permit = await first.acquire('gateway');

    isGone = true;
    permit.release({ rejected: true, retryAfter: 60_000 });
    await vi.waitFor(() => expect(missed).toBeGreaterThan(0), PATIENT);
    isGone = false;

    expect(await admittedAtOnce(first, 1)).toBe(0);
    expect(await admittedAtOnce(second, 1)).toBe(0);
  });
});

/** A client whose Redis cannot be reached. */
const unreachable = (message = 'NOPERM this user may not run scripts.\nIts second line') => ({
  eval: async () => [],
  evalsha: async () => {
    throw new Error(message);
  },
});

describe('the unavailable event', () => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => {
    if (/NOPERM/.test(message)) warnings.push(message);
  };
  beforeEach(() => void process.on('warning', note));
  afterEach(() => {
    process.off('warning', note);
    warnings.length = 0;
  });

  test('is one process warning for all limiters of a client, with the reason', async () => {
    const client = unreachable();
    for (const name of ['Ann', 'Bob', 'Cleo']) await redisLimiter({ client, name }).acquire('gateway');
    await sleep(0);

    expect(warnings).toEqual([
      'redisLimiter cannot reach Redis (NOPERM this user may not run scripts). Until it can, this process keeps to its own share of the rate limit.',
    ]);
  });

  test('has at most 200 characters of the reason', async () => {
    await redisLimiter({ client: unreachable(`NOPERM ${'x'.repeat(1_000)}`), name: 'one' }).acquire('gateway');
    await sleep(0);

    expect(warnings[0]?.match(/x+/)?.[0]).toHaveLength(193);
  });

  test('may go to a listener that throws or rejects', async () => {
    const fails = (): never => {
      throw new Error('the listener');
    };
    for (const onEvent of [fails, async () => fails()]) {
      const permit = await redisLimiter({ client: unreachable(), name: 'one', onEvent }).acquire('gateway');
      expect(permit.ready).toBeUndefined();
    }
    await sleep(0); // an unhandled rejection would fail the test
    expect(warnings).toEqual([]);
  });
});

describe('invalid options', () => {
  const client = { eval: async () => [], evalsha: async () => [] };
  test.each([
    [{ client: {}, name: 'a' }, /a client of redis, ioredis, iovalkey or @valkey\/valkey-glide/],
    [{ client: { eval: client.eval }, name: 'a' }, /a client of redis/],
    [{ client: { evalsha: client.evalsha }, name: 'a' }, /a client of redis/],
    [{ client, name: ' ' }, /name is missing/],
    [{ client, name: 'a', timeout: 0 }, /timeout must be/],
    [{ client, name: 'a', timeout: 60_001 }, /timeout must be/],
    [{ client, name: 'a', processes: 0 }, /processes must be/],
    [{ client, name: 'a', onEvent: true }, /onEvent must be/],
    [{ client, name: 'a', time_out: 5 }, /time_out is unknown; did you mean timeout\?/],
    [
      { client: { Eval: client.eval, evalsha: client.evalsha }, name: 'a' },
      /name }\)\. Eval is unknown; did you mean eval\?$/,
    ],
    [undefined, /name is missing/],
  ])('are rejected: %o', (options, message) => {
    const create = () => redisLimiter(options as unknown as RedisLimiterOptions);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(message);
  });
});
