import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { manualRuntime, seededRandom } from '../helpers/manual-runtime.js';
import { answer, bytesOf, drip, eventOf, headOf, openStream, raw } from './behaviours.js';
import { atEnd, stall, type Turn } from './fault-server.js';
import { failureOf, KEY, serve, watched } from './world.js';

const GET = { method: 'GET', path: '/v1/things' } as const;
const LENGTH = headOf(200, { 'content-type': 'application/json', 'content-length': 100 });
const busy = (seconds: unknown) =>
  answer(429, JSON.stringify({ error: { message: 'slow down', retry_after: seconds } }));

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

  test.each([
    { hint: 'retry_after of an hour', behaviour: busy(3_600), retryAfter: 3_600_000 },
    { hint: 'retry_after of thirty years', behaviour: busy(999_999_999), retryAfter: 999_999_999_000 },
    { hint: 'Retry-After of an hour', behaviour: answer(503, '{}', { 'retry-after': '3600' }), retryAfter: 3_600_000 },
    {
      hint: 'Retry-After of twenty digits',
      behaviour: answer(429, '{}', { 'retry-after': '99999999999999999999' }),
      retryAfter: expect.toSatisfy((wait: number) => wait > 8e15), // until the last time of a Date
    },
  ])('$hint is longer than the client waits: the call fails at once, with `retryAfter`', async (row) => {
    world.server.answers(row.behaviour);
    const runtime = watched();

    const error = await failureOf(world.gateway(options, runtime).request(GET));

    expect(error).toMatchObject({ retryAfter: row.retryAfter, attempts: [expect.anything()] });
    expect(world.server.requests).toBe(1);
    expect(runtime.timers.size).toBe(0);
  });

  test('a call fails at once if retry_after is beyond the deadline', async () => {
    world.server.answers(busy(30));

    const error = await failureOf(world.gateway(options).request(GET, { deadline: 20_000 }));

    expect(error).toMatchObject({ name: 'RateLimitError', retryAfter: 30_000 });
    expect(world.server.requests).toBe(1);
  });

  const never = new Promise<string>(() => {});
  const used = { 'x-ratelimit-limit': 5, 'x-ratelimit-remaining': 0, 'x-ratelimit-reset': 60 };
  test.each([
    { where: 'while the key function is pending', apiKey: () => never, phase: 'connect', sent: 'no' },
    { where: 'before the headers', behaviour: stall(), phase: 'headers', sent: 'maybe' },
    { where: 'in the body', behaviour: raw(LENGTH, '{'), phase: 'body', sent: 'yes' },
    {
      where: 'in a body that drips',
      behaviour: atEnd(({ socket }) => {
        socket.write(LENGTH);
        void drip(' '.repeat(90), 20).act({ socket } as Turn);
      }),
      phase: 'body',
      sent: 'yes',
    },
    { where: 'in the queue', behaviour: answer(200, '{}', used), warm: true, phase: 'connect', sent: 'no' },
  ])('the deadline ends a call $where', async ({ apiKey = KEY, behaviour = stall(), phase, sent, warm }) => {
    world.server.answers(behaviour);
    const runtime = watched();
    const client = world.gateway({ ...options, apiKey }, runtime);
    if (warm) await client.request(GET);
    const startedAt = performance.now();

    const error = await failureOf(client.request(GET, { deadline: 300 }));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'deadline', phase, sent, retryable: false });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299);
    expect(performance.now() - startedAt).toBeLessThan(20_000); // a timeout is 60 s
    expect(runtime.timers.size).toBe(0);
  });

  test('no attempt starts that the deadline would end: the call fails with the previous error', async () => {
    world.server.answers(answer(503));
    const time = manualRuntime({ random: () => 0.999 });
    const client = world.gateway({ ...options, maxRetries: 5 }, time);

    const failure = failureOf(client.request(GET, { deadline: 1_000 }));
    await expect.poll(() => time.delays.at(-1)).toBeLessThan(600); // the first backoff, and the second would be 1,000
    await time.advance(600);

    expect(await failure).toMatchObject({
      name: 'ServiceUnavailableError',
      attempts: [{ status: 503 }, { status: 503 }],
    });
  });

  test('the deadline applies to a stream until its last event', async () => {
    world.server.answers(
      atEnd(({ socket }) => {
        socket.write(headOf(200, { 'content-type': 'text/event-stream' }));
        const timer = setInterval(() => socket.write(eventOf('a')), 20);
        socket.once('close', () => clearInterval(timer));
      }),
    );
    const runtime = watched();
    const client = world.gateway(options, runtime);
    let chunks = 0;

    const read = async () => {
      const params = { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true } as const;
      for await (const _ of await client.chat.completions.create(params, { deadline: 300 })) chunks += 1;
    };

    expect(await failureOf(read())).toMatchObject({ name: 'APITimeoutError', kind: 'deadline' });
    expect(chunks).toBeGreaterThan(0);
    expect(runtime.timers.size).toBe(0);
  });

  test.each([
    { of: 'the call', client: {}, call: { deadline: 400 } },
    { of: 'the client', client: { deadline: 400 }, call: undefined },
  ])('the deadline of $of applies to both requests of an upsert', async ({ client, call }) => {
    const time = manualRuntime();
    const requests: Turn[] = [];
    world.server.answers(atEnd((turn) => void requests.push(turn)));
    const item = { type: 'fact', key: 'k', content: 'c' } as const;

    const upsert = world.context({ ...options, maxRetries: 0, ...client }, time).memory.upsert(item, call);
    const failure = failureOf(upsert);
    await expect.poll(() => requests).toHaveLength(1);
    await time.advance(250);
    requests[0]?.socket.write(bytesOf(200, JSON.stringify({ success: true, memories: [] })));
    await expect.poll(() => requests).toHaveLength(2);
    await time.advance(150);

    expect(await failure).toMatchObject({ name: 'APITimeoutError', kind: 'deadline' });
    expect(world.server.turns.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  test('no attempt starts with less than 10 ms left', async () => {
    const error = await failureOf(world.gateway(options).request(GET, { deadline: 5 }));

    expect(error).toMatchObject({ kind: 'deadline', phase: 'connect', sent: 'no', attempts: [] });
    expect(world.server.connections).toBe(0);
  });

  test('a silent stream ends with kind: idle, not with that of a slow attempt', async () => {
    world.server.answers(openStream(eventOf('a')));
    const params = { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true } as const;
    const stream = await world.gateway(options).chat.completions.create(params, { streamIdleTimeout: 100 });

    const error = await failureOf(stream.finalCompletion());

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'idle', phase: 'stream', sent: 'yes' });
    expect(error.partial?.choices[0]?.message.content).toBe('a');
  });

  test("the timeout ends a call whose caller's schema never returns", async () => {
    world.server.answers(answer(200));
    const validate = () => new Promise<never>(() => {});
    const schema = { '~standard': { version: 1, vendor: 'mine', validate } } as const;

    const error = await failureOf(world.gateway(options).request(GET, { schema, timeout: 300, maxRetries: 0 }));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt' });
  });

  test('the same random seed leads to the same delays, to the millisecond', async () => {
    const schedule = async (seed: number): Promise<number[]> => {
      world.server.answers(answer(500), answer(503), answer(503), answer(200));
      const setTimer = (go: () => void, ms: number) => setTimeout(go, ms / 100);
      const client = world.gateway({ ...options, maxRetries: 3 }, watched({ random: seededRandom(seed), setTimer }));
      const { response } = await client.request(GET, { timeout: 1_000_000 }).withResponse();
      return response.attempts.map(({ delay }) => delay);
    };

    const first = await schedule(7);

    expect(await schedule(7)).toEqual(first);
    expect(await schedule(8)).not.toEqual(first);
    expect(new Set(first).size).toBe(4);
  });
});
