import { type ClientEvent, GatewayClient, type GatewayClientOptions, type Permit } from 'context-gateway';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { manualRuntime, seededRandom, settled } from '../helpers/manual-runtime.js';
import { failureOf, KEY } from '../helpers/service.js';

type Answer = { status: number; headers?: Record<string, string>; body?: string | ReadableStream<Uint8Array> };

/** A client on a manual clock, whose requests get these responses in order. */
function clientFor(answers: readonly Answer[], options: GatewayClientOptions = {}, seed = 1, latency = 0) {
  const runtime = manualRuntime({ random: seededRandom(seed) });
  const sentAt: number[] = [];
  const fetch = async () => {
    const { status, headers, body = '[]' } = answers[Math.min(sentAt.length, answers.length - 1)] ?? { status: 200 };
    sentAt.push(runtime.now());
    if (latency > 0) await new Promise<void>((resolve) => runtime.setTimer(resolve, latency));
    return new Response(body, { status, headers: { date: new Date(runtime.wallClock()).toUTCString(), ...headers } });
  };
  const all = { baseURL: 'https://service.test', apiKey: KEY, fetch, ...options };
  // The third argument, the clock, is for tests and not part of the public declarations.
  const client = new GatewayClient(all, undefined, runtime);
  return { client, runtime, sentAt };
}

const FULL = { 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '45' };

/** Advances time until the call has settled. */
async function outcomeOf(call: PromiseLike<unknown>, runtime: ReturnType<typeof manualRuntime>): Promise<unknown> {
  let isOver = false;
  const outcome = Promise.resolve(call)
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true;
    });
  for (let steps = 0; !isOver && steps < 400; steps += 1) await runtime.advance(1_000);
  if (!isOver) throw new Error('the call never ended');
  return outcome;
}

describe('a call on a manual clock', () => {
  test('holds other calls no longer than maxRetryAfter for a longer hint', async () => {
    const answers = [{ status: 429, headers: { 'retry-after': '99999999999' } }, { status: 200 }];
    const { client, runtime, sentAt } = clientFor(answers);
    await failureOf(client.integrations.list());

    await outcomeOf(client.integrations.list(), runtime);

    expect(sentAt).toEqual([0, 60_000]);
  });

  test('is ended by the deadline during an attempt and in the queue', async () => {
    const late = { name: 'APITimeoutError', kind: 'deadline' };
    const waiting = clientFor([{ status: 200 }], { deadline: 3_000 }, 1, 10_000);
    expect(await outcomeOf(waiting.client.integrations.list(), waiting.runtime)).toMatchObject(late);

    const events: ClientEvent[] = [];
    const options = { deadline: 3_000, onEvent: (event: ClientEvent) => events.push(event) };
    const { client, runtime, sentAt } = clientFor([{ status: 200, headers: FULL }], options);
    await client.integrations.list();
    const outcome = await outcomeOf(client.integrations.list(), runtime);

    expect(outcome).toMatchObject({ ...late, sent: 'no', attempts: [] });
    expect(sentAt).toEqual([0]);
    expect(events.slice(-4)).toMatchObject([
      { type: 'queued', expectedWait: 45_000 },
      { type: 'dequeued', waited: 3_000 },
      { type: 'failure' },
      { type: 'done', queued: 3_000, attempts: 0 },
    ]);
  });

  test('is not sent before the retry-after that another call of the client received', async () => {
    const answers = [{ status: 429, headers: { 'retry-after': '9' } }, { status: 200 }];
    const { client, runtime, sentAt } = clientFor(answers, { maxRetries: 0 });
    await failureOf(client.integrations.list());

    await outcomeOf(Promise.all([client.integrations.list(), client.usage.retrieve().catch(() => {})]), runtime);

    // After a 429, calls start slowly.
    expect(sentAt).toEqual([0, 9_000, 9_094]);
  });

  test('fails at once if it would queue longer than maxRetryAfter, and says that nothing was sent', async () => {
    const events: string[] = [];
    const onEvent = ({ type }: { type: string }) => events.push(type);
    const { client, runtime, sentAt } = clientFor([{ status: 200, headers: FULL }], { maxRetryAfter: 30_000, onEvent });
    await client.integrations.list();

    const error = await failureOf(client.integrations.list());

    expect(error).toMatchObject({ name: 'RateLimitError', status: 429, retryAfter: 45_000, attempts: [] });
    expect((error as Error).message).toMatch(
      /rate limit of gateway is used up.*not sent.*45 s.*maxRetryAfter \(30000 ms\)/,
    );
    expect(sentAt).toEqual([0]);
    expect(runtime.now()).toBe(0);
    expect(events.slice(-3)).toEqual(['dequeued', 'failure', 'done']);
    expect(runtime.pending).toBe(0);
  });

  test('a call with maxRetryAfter 0 waits neither for a limit nor for Retry-After', async () => {
    const answers = [
      { status: 200, headers: FULL },
      { status: 429, headers: { 'retry-after': '1' } },
    ];
    const { client, runtime, sentAt } = clientFor(answers, { maxRetryAfter: 0 });
    await client.integrations.list();

    expect(await failureOf(client.integrations.list())).toMatchObject({ name: 'RateLimitError', attempts: [] });
    await runtime.advance(45_000);
    expect(await failureOf(client.integrations.list())).toMatchObject({ name: 'RateLimitError', retryAfter: 1_000 });
    expect(sentAt).toEqual([0, 45_000]);
  });

  test.each([
    { expectedWait: undefined, most: 5_000 },
    { expectedWait: 7_000, most: 7_000 }, // a reset has whole seconds, so two more are allowed
  ])(
    'waits $most ms for a limiter that expects $expectedWait, and releases its permit',
    async ({ expectedWait, most }) => {
      const release = vi.fn();
      const pacing = { acquire: () => ({ ready: new Promise<void>(() => {}), expectedWait, release }) };
      const { client, runtime, sentAt } = clientFor([{ status: 200 }], { pacing, maxRetryAfter: 5_000 });
      const call = failureOf(client.integrations.list());

      await runtime.advance(most - 1);
      expect(release).not.toHaveBeenCalled();
      await runtime.advance(1);

      expect(await call).toMatchObject({ name: 'RateLimitError', retryAfter: undefined });
      expect(release.mock.calls).toEqual([[]]);
      expect(sentAt).toEqual([]);
    },
  );

  test('does not count an async limiter that admits it as queued, even with maxRetryAfter 0', async () => {
    const events: string[] = [];
    const pacing = { acquire: async () => ({ release: () => {} }) };
    const options = { pacing, maxRetryAfter: 0, onEvent: ({ type }: { type: string }) => void events.push(type) };
    const { client, sentAt } = clientFor([{ status: 200 }], options);

    await client.integrations.list();

    expect(sentAt).toEqual([0]);
    expect(events).toEqual(['start', 'request', 'response', 'done']);
  });

  test('releases a permit that arrives after it was aborted', async () => {
    const release = vi.fn();
    let give = (_: Permit) => {};
    const acquire = () =>
      new Promise<Permit>((resolve) => {
        give = resolve;
      });
    const { client, sentAt } = clientFor([{ status: 200 }], { pacing: { acquire } });
    const controller = new AbortController();
    const call = failureOf(client.integrations.list({ signal: controller.signal }));
    await settled();

    controller.abort();
    expect(await call).toMatchObject({ name: 'AbortError' });
    give({ release });
    await settled();

    expect(release.mock.calls).toEqual([[]]);
    expect(sentAt).toEqual([]);
  });

  test('says that it was not sent again if its retry would queue too long', async () => {
    const release = () => {};
    const permits: Permit[] = [{ release }, { ready: new Promise<void>(() => {}), expectedWait: 11_000, release }];
    const options = { pacing: { acquire: () => permits.shift() as Permit }, maxRetryAfter: 8_000 };
    const { client, runtime, sentAt } = clientFor([{ status: 429, headers: { 'retry-after': '5' } }], options);

    const error = await outcomeOf(client.integrations.list(), runtime);

    expect(error).toMatchObject({ name: 'RateLimitError', retryAfter: 11_000, attempts: [{ status: 429 }] });
    expect((error as Error).message).toContain('was not sent again');
    expect(sentAt).toEqual([0]);
  });

  test('waits eight seconds after a 429 whose body was cut: its wait may have been in the rest', async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (stream) => {
        pulled += 1;
        if (pulled === 1) stream.enqueue(new TextEncoder().encode('{"error":{"message":"busy","type":"rate_'));
        else stream.error(new Error('cut'));
      },
    });
    const { client, runtime, sentAt } = clientFor([
      { status: 429, headers: { 'retry-after': '1' }, body },
      { status: 200 },
    ]);

    expect(await outcomeOf(client.integrations.list(), runtime)).toEqual([]);

    expect(sentAt).toHaveLength(2);
    expect(sentAt[1]).toBeGreaterThanOrEqual(8_000);
  });

  test('waits at least a second for the body of another 429, whatever its header says', async () => {
    const body = new ReadableStream<Uint8Array>(); // which never comes
    const answers = [{ status: 429, headers: { 'retry-after-ms': '100' }, body }, { status: 200 }];
    const { client, runtime, sentAt } = clientFor(answers, { maxRetries: 0 });
    const rejected = failureOf(client.integrations.list());
    await settled();

    const second = client.integrations.list();
    await runtime.advance(999);
    expect(sentAt).toEqual([0]);
    await runtime.advance(1);
    await second;
    expect(sentAt).toEqual([0, 1_000]);

    await rejected;
  });

  test('waits for the retry-after of a 429, which no jump of the wall clock affects', async () => {
    const { client, runtime, sentAt } = clientFor([{ status: 429, headers: { 'retry-after': '7' } }, { status: 200 }]);
    const call = client.integrations.list();
    await runtime.advance(1_000);
    runtime.shiftWallClock(-3_600_000);

    expect(await outcomeOf(call, runtime)).toEqual([]);

    expect(sentAt).toHaveLength(2);
    expect(sentAt[1]).toBeGreaterThanOrEqual(7_000);
    expect(sentAt[1]).toBeLessThanOrEqual(7_700);
  });

  test.each([30, 100, 400])('ends soon after its deadline if each turn of the event loop takes %i ms', async (turn) => {
    const runtime = manualRuntime();
    const { now, setTimer } = runtime;
    const atNextTurn = (ms: number): number => Math.ceil((now() + ms) / turn) * turn - now();
    runtime.setTimer = (fire, ms) => setTimer(fire, atNextTurn(ms));
    const fetch = () => new Promise<Response>(() => {});
    const client = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, fetch }, undefined, runtime);
    let endedAt = 0;
    const call = failureOf(client.integrations.list({ deadline: 1_010 })).finally(() => {
      endedAt = now();
    });
    for (let turns = 0; turns < 3_000 / turn; turns += 1) await runtime.advance(turn);

    expect(await call).toMatchObject({ kind: 'deadline' });
    // The turn in which it is over, and 50 ms in which a response that has arrived is read, which may take a whole turn.
    expect(endedAt).toBeLessThanOrEqual(1_010 + turn + Math.max(turn, 50 + turn));
  });

  test('is not retried once the retry budget is empty, onEvent says why, and first attempts go on', async () => {
    const stops: string[] = [];
    const onEvent = (event: ClientEvent) => event.type === 'failure' && stops.push(event.stop);
    const { client, runtime, sentAt } = clientFor([{ status: 500 }], { maxRetries: 2, onEvent });

    for (let n = 0; n < 53; n += 1) await outcomeOf(client.integrations.list(), runtime);

    expect(stops).toEqual([...Array(50).fill('retries-used-up'), ...Array(3).fill('retry-budget-exhausted')]);
    expect(sentAt).toHaveLength(50 * 3 + 3);
  });

  test('refunds its retries to the budget if it succeeds in the end', async () => {
    const answers = Array.from({ length: 60 }, () => [{ status: 503 }, { status: 200 }]).flat();
    const { client, runtime, sentAt } = clientFor(answers);

    for (let n = 0; n < 60; n += 1) expect(await outcomeOf(client.integrations.list(), runtime)).toEqual([]);

    expect(sentAt).toHaveLength(120);
  });
});

const number = fc.oneof(
  fc.nat().map(String),
  fc.constantFrom('0', '-1', '1e9', '99999999999', '5, 5', '', 'x', '2147483648'),
);
const answer = fc.record({
  status: fc.constantFrom(200, 404, 429, 429, 500, 503, 503),
  headers: fc.record(
    {
      'retry-after': number,
      'x-ratelimit-limit': number,
      'x-ratelimit-remaining': number,
      'x-ratelimit-reset': number,
    },
    { requiredKeys: [] },
  ),
});

test('every timer is from 0 to 2,147,483,647 ms, whatever the service responds', async () => {
  const time = fc.integer({ min: 1, max: 2_147_483_647 });
  const someOptions = fc.record(
    { timeout: time, deadline: time, maxRetryAfter: time, maxRetries: fc.nat(5) },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(answer, { minLength: 1, maxLength: 6 }),
      someOptions,
      fc.integer(),
      async (answers, options, seed) => {
        const { client, runtime, sentAt } = clientFor(answers, options, seed);
        const calls = [client.integrations.list(), client.presets.list()].map((call) => call.catch(() => {}));
        await runtime.advance(200_000);
        await client.close();
        await Promise.all(calls);

        expect(runtime.delays.filter((delay) => !(delay >= 0 && delay <= 2_147_483_647))).toEqual([]);
        expect(sentAt.length).toBeLessThanOrEqual(2 * ((options.maxRetries ?? 2) + 1));
        expect(runtime.pending).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});
