import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { argumentsOf, readReply, SCRIPT, type StepReply, type StepRequest } from '../../src/redis/script.js';
import { atLength } from '../helpers/endurance.js';
import { missing, RedisServer } from './redis-server.js';

/** The script with a clock that the test sets: its last argument, in milliseconds. */
const TIMED = SCRIPT.replace("redis.call('TIME')", '{ ARGV[#ARGV] / 1000, 0 }');
const UNKNOWN = { limit: 0, remaining: 0, resetAfter: 0, retryAfter: 0 };

let server: RedisServer;
let redis: Redis;
let now = 0;
let account = 0;
beforeAll(async () => {
  if (missing) return;
  server = await RedisServer.start();
  redis = new Redis(server.port, '127.0.0.1');
});
afterAll(async () => {
  redis?.disconnect();
  await server?.kill();
});
beforeEach(() => {
  now = 1_700_000_000_000;
  account += 1;
});

/** A process, which keeps what Redis told it. */
function processOf(id: string, processes = 1) {
  let last: Pick<StepReply, 'window' | 'processes'> = { window: 1, processes };
  let inFlight = 0;
  const step = async (wanted: number, more: Partial<StepRequest> = {}) => {
    const request = { ...UNKNOWN, window: last.window, inFlight, sentAt: 0, timeout: 500, wanted, accepted: 0 };
    const given = argumentsOf(id, { ...request, wasAlone: false, processes: last.processes, ...more });
    const keys = [`{${account}}`, `{${account}}:processes`];
    const reply = readReply(await redis.eval(TIMED, 2, ...keys, ...given, String(now)));
    if (reply.window !== last.window) inFlight = 0;
    last = reply;
    inFlight += reply.granted;
    return reply;
  };
  const done = (count = inFlight) => {
    inFlight -= count;
  };
  return { step, done };
}

/** Lets all processes call as often as they can for some windows of a minute. Returns how often each one could. */
async function compete(count: number, limit: number, windows: number): Promise<number[]> {
  const all = Array.from({ length: count }, (_, n) => processOf(`process ${n}`));
  const totals = all.map(() => 0);
  const length = 60_000;
  const first = now + length;
  const endsAt = now + windows * length;
  for (let resetAt = first; resetAt <= endsAt; resetAt += length) {
    let used = 0;
    const seen = () =>
      used > 0 || resetAt === first ? { limit, remaining: limit - used, resetAfter: resetAt - now } : {};
    for (; now < resetAt; now += length / 6)
      for (const [n, process] of all.entries()) {
        // Each response has arrived before the next step. The last step is granted nothing: the process still waits.
        for (let granted = 1; granted > 0; process.done()) {
          ({ granted } = await process.step(100, seen()));
          used += granted;
          totals[n] = (totals[n] ?? 0) + granted;
        }
      }
  }
  return totals;
}

describe.skipIf(missing)('a step', () => {
  test('gives processes that all wait equal shares, and no more than the limit', async () => {
    const totals = await compete(4, 100, 4);

    expect(totals.reduce((sum, total) => sum + total)).toBe(400);
    // Nobody waits before the first window, so the first process to come may use it up.
    for (const total of totals) expect(total).toBeGreaterThanOrEqual(75);
  });

  test.each([
    { count: atLength(15, 30), limit: 20 },
    { count: 8, limit: 5 },
    { count: 7, limit: 1 },
  ])('lets $count processes take the rest of a limit of $limit in turn', async ({ count, limit }) => {
    const first = await compete(count, limit, 1);
    account += 1;
    const totals = (await compete(count, limit, 22)).map((total, n) => total - (first[n] ?? 0));

    expect(totals.reduce((sum, total) => sum + total)).toBe(21 * limit);
    expect(Math.max(...totals) - Math.min(...totals)).toBeLessThanOrEqual(1);
  });

  /** Two processes that had to wait in the last window. */
  async function waiting() {
    const both = [processOf('first'), processOf('second')] as const;
    for (const { step } of both) await step(500, { limit: 100, remaining: 0, resetAfter: 1_000 });
    now += 1_000;
    return both;
  }

  test('releases the share of a process that is gone step by step, until the window ends', async () => {
    const [alive] = await waiting();
    const start = (await alive.step(500)).granted;
    alive.done();
    await alive.step(500, { limit: 100, remaining: 50, resetAfter: 60_000 });
    now += 30_000;
    const half = (await alive.step(500)).granted;
    now += 29_999;
    const end = (await alive.step(500)).granted;

    expect(start).toBe(50);
    expect(half).toBeGreaterThanOrEqual(20);
    expect(half).toBeLessThanOrEqual(30);
    expect(half + end).toBe(50);
  });

  test('a step that was delayed beyond its timeout grants nothing, and its times have passed', async () => {
    const process = processOf('one');
    const known = { limit: 100, remaining: 40, resetAfter: 5_000, retryAfter: 2_500 };
    const late = await process.step(10, { ...known, sentAt: now - 2_000 });

    expect(late).toMatchObject({ granted: 0, resetAfter: 3_000, retryAfter: 500 });
    now += 500;
    expect(await process.step(10, { sentAt: now - 501 })).toMatchObject({ granted: 0 });
    expect(await process.step(10, { sentAt: now - 500 })).toMatchObject({ granted: 1 });
  });

  test('takes a delayed response with a later end for the same window', async () => {
    const process = processOf('one');
    await process.step(0, { limit: 100, remaining: 50, resetAfter: 10_000 });

    const reply = await process.step(0, { limit: 100, remaining: 50, resetAfter: 20_000 });

    expect(reply).toMatchObject({ window: 1, remaining: 50, resetAfter: 10_000 });
  });

  test('divides what remains if others use the same account', async () => {
    const [first, second] = await waiting();
    const rest = { limit: 100, remaining: 10, resetAfter: 60_000 };

    expect((await first.step(500, rest)).granted).toBe(5);
    expect((await second.step(500, rest)).granted).toBeGreaterThanOrEqual(3);
  });

  test('starts slowly again after another block', async () => {
    const process = processOf('one');
    await process.step(0, { retryAfter: 1_000 });
    now += 3_000;
    expect((await process.step(500)).granted).toBe(46);
    await process.step(0, { retryAfter: 1_000 });
    now += 1_000;

    expect((await process.step(500)).granted).toBe(1);
  });

  test('a step of a process that was without Redis reserves the shares of those that may still be', async () => {
    const [first, second] = [processOf('first', 4), processOf('second', 4)];
    const known = { limit: 100, remaining: 80, resetAfter: 60_000 };

    expect((await first.step(100, { ...known, wasAlone: true })).granted).toBe(20);
    expect((await second.step(100, { wasAlone: true, processes: 4 })).granted).toBe(20);
    now += 30_000;
    const later = (await first.step(100)).granted;
    expect(later).toBeGreaterThan(10);
    expect(later).toBeLessThan(40);
  });

  test('a step without a limit grants everything', async () => {
    expect(await processOf('one').step(500)).toMatchObject({ granted: 500, askAfter: 0 });
  });

  test('counts the requests in flight of all processes, and replaces those of its own', async () => {
    const [first, second] = [processOf('first'), processOf('second')];
    const known = { limit: 100, remaining: 10, resetAfter: 60_000 };
    await first.step(6, known);

    expect((await second.step(6)).granted).toBe(4);
    first.done(3);
    await first.step(0);
    expect((await second.step(6)).granted).toBe(3);
  });

  test('follows a new window that a response announces, and ignores late responses of the last one', async () => {
    const process = processOf('one');
    await process.step(1, { limit: 100, remaining: 0, resetAfter: 2_000 });
    now += 1_900;
    const next = await process.step(1, { limit: 100, remaining: 99, resetAfter: 60_000 });
    now += 200;
    const late = await process.step(1, { limit: 100, remaining: 0, resetAfter: 500 });

    expect([next, late]).toMatchObject(Array(2).fill({ granted: 1, window: 2, remaining: 99 }));
  });

  test('assumes the limit and the length of the last window until a response arrives', async () => {
    const process = processOf('one');
    await process.step(0, { limit: 3, remaining: 0, resetAfter: 1_000 });
    now += 1_000;
    expect(await process.step(5)).toMatchObject({ granted: 3, window: 2, resetAfter: 0 });
    now += 1_999;
    expect((await process.step(5)).granted).toBe(0);
    now += 1;

    expect(await process.step(5)).toMatchObject({ granted: 3, window: 3 });
  });

  test('grants nothing during a block, and then requests start slowly in all processes together', async () => {
    const [first, second] = [processOf('first'), processOf('second')];
    const blocked = await first.step(5, { retryAfter: 2_000 });
    expect(blocked).toMatchObject({ granted: 0, askAfter: 2_000, retryAfter: 2_000 });
    expect((await second.step(5, { accepted: 2 })).granted).toBe(0);
    now += 2_000;

    expect((await first.step(50)).granted).toBe(3); // one, and two that were accepted during the block
    expect((await second.step(50)).granted).toBe(0);
    now += 1_000;
    expect((await second.step(50)).granted).toBe(17);
  });

  test('asks for a later step when the window ends, when the block ends, or soon', async () => {
    const process = processOf('one');
    const known = { limit: 10, resetAfter: 30_000 };

    expect((await process.step(11, { ...known, remaining: 10 })).askAfter).toBe(100);
    expect((await process.step(11, { ...known, remaining: 0 })).askAfter).toBe(30_000);
    expect((await process.step(11, { ...known, remaining: 0, retryAfter: 40_000 })).askAfter).toBe(40_000);
  });

  test('forgets processes that were not seen for two windows', async () => {
    const [first, second] = [processOf('first'), processOf('second')];
    const counts: number[] = [];
    await second.step(1, { limit: 10, remaining: 9, resetAfter: 1_000 });
    for (let window = 0; window < 3; window += 1) {
      counts.push((await first.step(1, { limit: 10, remaining: 9, resetAfter: 1_000 })).processes);
      now += 1_000;
    }

    expect(counts).toEqual([2, 2, 1]);
  });

  describe('once the clock of Redis has gone back by hours', () => {
    const BACK = 3 * 3_600_000;

    test.each([
      { who: 'a process that has waited', sentAt: () => now + BACK, left: { window: 20_000, block: 60_000 } },
      // It does not know how long ago the last step was.
      { who: 'a new process', sentAt: () => 0, left: { window: 30_000, block: 70_000 } },
    ])('$who waits no longer than the window and the block last', async ({ sentAt, left }) => {
      for (const [known, wait] of [
        [{ limit: 10, remaining: 0, resetAfter: 30_000 }, left.window],
        [{ retryAfter: 70_000 }, left.block],
      ] as const) {
        account += 1;
        await processOf('first').step(1, known);
        now += 10_000 - BACK;
        const second = processOf('second');
        expect(await second.step(1, { sentAt: sentAt() })).toMatchObject({ granted: 0, askAfter: wait });

        now += wait;
        expect(await second.step(1)).toMatchObject({ granted: 1, askAfter: 0 });
      }
    });

    test('a window and a block that were over stay over', async () => {
      const process = processOf('one');
      await process.step(1, { limit: 10, remaining: 0, resetAfter: 1_000, retryAfter: 2_000 });
      now += 3_600_000;
      await process.step(1);
      now -= BACK;

      expect(await process.step(1)).toMatchObject({ granted: 1, askAfter: 0 });
    });

    test('the shares of others stay reserved', async () => {
      const [first] = await waiting();
      await first.step(0);
      now -= BACK;

      expect((await first.step(500)).granted).toBe(50);
    });

    test('responses are followed as before', async () => {
      const process = processOf('one');
      await process.step(1, { limit: 10, remaining: 0, resetAfter: 1_000 });
      now += 1_000;
      await process.step(1);
      now -= BACK;

      expect(await process.step(1, { limit: 10, remaining: 0, resetAfter: 5_000 })).toMatchObject({ askAfter: 5_000 });
    });
  });

  test('ignores a window that is too long', async () => {
    const reply = await processOf('one').step(5, { limit: 3, remaining: 0, resetAfter: 300_001 });

    expect(reply).toMatchObject({ granted: 5, limit: 0 });
  });
});

test('a reply that is not one is an error', () => {
  expect(() => readReply(['1', 2])).toThrow('The Redis script returned an unexpected reply.');
  expect(() => readReply([1, 2, 3, 4, 5, 6, 7, 8, 'x'])).toThrow(TypeError);
});
