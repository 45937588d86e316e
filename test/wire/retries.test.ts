import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { answer, json } from './behaviours.js';
import { failureOf, GET, POST, serve } from './world.js';

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

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

    const error = await failureOf(client.request(GET, { signal: controller.signal }));

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

  test('a key function is called for each attempt, so a retry has the new key', async () => {
    const keys: string[] = [];
    let calls = 0;
    world.server.decides(({ headers }) => {
      keys.push(headers.get('authorization') ?? '');
      return keys.length === 1 ? answer(429) : json({ a: 1 });
    });
    const apiKey = async () => `svc_sk_key_${++calls}`;

    expect(await world.gateway({ ...options, apiKey }).request(POST)).toEqual({ a: 1 });

    expect(keys).toEqual(['Bearer svc_sk_key_1', 'Bearer svc_sk_key_2']);
  });

  test('a key function that never returns is called once, and the error names it', async () => {
    let calls = 0;
    const apiKey = () => {
      calls += 1;
      return new Promise<string>(() => {});
    };

    const error = await failureOf(world.gateway({ ...options, apiKey, timeout: 50 }).request(POST));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt', sent: 'no' });
    expect(error.message).toContain('The apiKey function did not return within 50 ms');
    expect(calls).toBe(1);
  });
});
