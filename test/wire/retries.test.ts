import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { answer, refused, resetAtEnd } from './behaviours.js';
import { failureOf, PROMPT, serve } from './world.js';

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

  test('a service that always fails receives at most 5% more requests than calls', async () => {
    world.server.answers(answer(503));
    const client = world.gateway(options);

    await Promise.all(
      Array.from({ length: 400 }, () => client.request({ method: 'GET', path: '/v1/x' }).catch(() => {})),
    );

    expect(world.server.requests).toBeLessThanOrEqual(420);
    expect(world.server.requests).toBeGreaterThan(400);
  });

  test('every call succeeds if one response in ten is a 503, with at most 15% more requests than calls', async () => {
    world.server.decides(({ number }) => answer(number % 10 === 0 ? 503 : 200));
    const client = world.gateway(options);

    for (let call = 0; call < 200; call += 1) await client.request({ method: 'GET', path: '/v1/x' });

    expect(world.server.requests).toBeLessThanOrEqual(230);
  });

  test('an empty retry budget fails a call with its own error after one attempt, and an event says why', async () => {
    const stops: string[] = [];
    const client = world.gateway({
      ...options,
      onEvent: (event) => {
        if (event.type === 'failure') stops.push(event.stop);
      },
    });
    world.server.answers(answer(503));
    for (let call = 0; call < 15; call += 1) await failureOf(client.request({ method: 'GET', path: '/v1/x' }));
    const before = world.server.requests;

    const error = await failureOf(client.request({ method: 'GET', path: '/v1/x' }));

    expect(error.name).toBe('ServiceUnavailableError');
    expect(stops.at(-1)).toBe('retry-budget-exhausted');
    expect(world.server.requests - before).toBe(1);
  });

  test('a retry sends the same bytes even if the caller changes the arguments meanwhile', async () => {
    world.server.answers(refused(503), refused(503), answer(200, '{"id":"1"}'));
    const body = { text: PROMPT };
    const headers = { 'x-team': 'a' };

    const call = world.gateway(options).request({ method: 'POST', path: '/v1/things', body }, { headers });
    body.text = 'something else';
    headers['x-team'] = 'b';
    await call;

    expect(world.server.turns.map((turn) => turn.body.toString())).toEqual(Array(3).fill(`{"text":"${PROMPT}"}`));
    expect(world.server.turns.map((turn) => turn.headers.get('x-team'))).toEqual(['a', 'a', 'a']);
  });

  test('a call is sent once, however often it is awaited', async () => {
    world.server.answers(answer(200, '{"id":"1"}'));
    const call = world.gateway(options).request({ method: 'POST', path: '/v1/things', body: {} });

    const [first, second, { data, response }] = await Promise.all([
      call,
      call.then((value) => value),
      call.withResponse(),
    ]);

    expect(world.server.requests).toBe(1);
    expect(first).toBe(second);
    expect(first).toBe(data);
    expect(response.attempts).toMatchObject([{ status: 200, delay: 0 }]);
  });

  test('retries are listed in `attempts` and in events', async () => {
    world.server.answers(resetAtEnd(), answer(503), answer(200));
    const seen: unknown[] = [];
    const client = world.gateway({
      ...options,
      onEvent: ({ type, ...event }) => seen.push([type, 'reason' in event && event.reason]),
    });

    const { response } = await client.request({ method: 'GET', path: '/v1/things' }).withResponse();

    expect(response.attempts).toMatchObject([{ error: 'APIConnectionError' }, { status: 503 }, { status: 200 }]);
    expect(seen).toEqual([
      ['start', false],
      ['request', false],
      ['retry', 'APIConnectionError'],
      ['request', false],
      ['response', false],
      ['retry', 503],
      ['request', false],
      ['response', false],
      ['done', false],
    ]);
  });

  test.each([
    { end: 'its signal', name: 'AbortError' },
    { end: 'close()', name: 'ClientClosedError' },
  ])('a call that $end ends between two attempts emits a failure event', async ({ name }) => {
    world.server.answers(answer(503, '{}', { 'retry-after': '30' }));
    const seen: unknown[] = [];
    const controller = new AbortController();
    const client = world.gateway({
      ...options,
      onEvent: ({ type, ...event }) => {
        seen.push([type, 'reason' in event && event.reason, 'stop' in event && event.stop]);
        // In a later task, because the delay starts after this event.
        if (type === 'retry') setTimeout(() => (name === 'AbortError' ? controller.abort() : void client.close()));
      },
    });

    const error = await failureOf(client.request({ method: 'GET', path: '/v1/things' }, { signal: controller.signal }));

    expect(error.name).toBe(name);
    expect(seen).toEqual([
      ['start', false, false],
      ['request', false, false],
      ['response', false, false],
      ['retry', 503, false],
      ['failure', name, 'not-repeatable'],
      ['done', false, false],
    ]);
  });

  test('a request has only the headers it needs', async () => {
    world.server.answers(answer(200));
    await world.gateway(options).request({ method: 'POST', path: '/v1/things', body: {} });

    const platform = ['accept-language', 'sec-fetch-mode', 'user-agent', 'accept-encoding', 'cache-control', 'pragma'];
    const names = [...(world.server.turns[0]?.headers.keys() ?? [])].filter((name) => !platform.includes(name));

    expect(names.sort()).toEqual(['accept', 'authorization', 'connection', 'content-length', 'content-type', 'host']);
  });
});
