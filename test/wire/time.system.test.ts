import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { manualRuntime } from '../helpers/manual-runtime.js';
import { answer, bytesOf, drip, headOf, raw } from './behaviours.js';
import { atEnd, stall, type Turn } from './fault-server.js';
import { failureOf, GET, KEY, serve, watched } from './world.js';

const LENGTH = headOf(200, { 'content-type': 'application/json', 'content-length': 100 });

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

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

  test("the timeout ends a call whose caller's schema never returns", async () => {
    world.server.answers(answer(200));
    const validate = () => new Promise<never>(() => {});
    const schema = { '~standard': { version: 1, vendor: 'mine', validate } } as const;

    const error = await failureOf(world.gateway(options).request(GET, { schema, timeout: 300, maxRetries: 0 }));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt' });
  });
});
