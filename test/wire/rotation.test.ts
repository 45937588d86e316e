import { describe, expect, test } from 'vitest';
import { engines } from '../helpers/engines.js';
import { answer, json, refused } from './behaviours.js';
import { failureOf, serve } from './world.js';

const POST = { method: 'POST', path: '/v1/things', body: {} } as const;

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

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

  test.each([401, 403])('a request is not repeated after a %d, also if the key is another now', async (status) => {
    world.server.answers(refused(status), json({ a: 1 }));
    let calls = 0;
    const apiKey = async () => `svc_sk_key_${++calls}`;

    expect(await failureOf(world.gateway({ ...options, apiKey }).request(POST))).toMatchObject({ status });

    expect(world.server.requests).toBe(1);
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
