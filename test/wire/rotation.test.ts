import { describe, expect, test } from 'vitest';
import type { ClientEvent } from '../../src/index.js';
import { atLength } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { answer, json, refused } from './behaviours.js';
import type { Turn } from './fault-server.js';
import { failureOf, serve } from './world.js';

const POST = { method: 'POST', path: '/v1/things', body: {} } as const;
const OLD = 'svc_sk_old0123456789';
const NEW = 'svc_sk_new0123456789';
const keyOf = ({ headers }: Turn) => headers.get('authorization')?.replace('Bearer ', '');

/** A key function that returns the given keys in order and repeats the last one. */
function keys(...given: (string | Error)[]): () => Promise<string> {
  return async () => {
    const key = given.length > 1 ? given.shift() : given[0];
    if (typeof key !== 'string') throw key;
    return key;
  };
}

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();
  const takesOnlyTheNewKey = (status: number) =>
    world.server.decides((turn) => (keyOf(turn) === NEW ? json({ a: 1 }) : refused(status)));

  test.each([401, 403])(
    'after a %d the key is read again, and if it has changed the request is sent once more',
    async (status) => {
      takesOnlyTheNewKey(status);
      const events: ClientEvent[] = [];
      const client = world.gateway({ ...options, apiKey: keys(OLD, NEW), onEvent: (event) => events.push(event) });

      const { data, response } = await client.request(POST).withResponse();

      expect(data).toEqual({ a: 1 });
      expect(response.attempts).toMatchObject([{ status }, { status: 200, delay: 0 }]);
      expect(events.map(({ type }) => type)).toEqual([
        ...['start', 'request', 'response', 'retry', 'request', 'response', 'done'],
      ]);
    },
  );

  test('sending once more with a new key does not count as a retry', async () => {
    takesOnlyTheNewKey(401);
    await world.gateway({ ...options, apiKey: keys(OLD, NEW), maxRetries: 0 }).request(POST);
    expect(world.server.requests).toBe(2);

    world.server.answers(refused(401), answer(429), answer(429), json({ a: 1 }));
    await world.gateway({ ...options, apiKey: keys(OLD, NEW), maxRetries: 2 }).request(POST);
    expect(world.server.requests).toBe(6);
  });

  test.each([
    { what: 'the same key again', apiKey: () => keys(OLD) },
    { what: 'no key the second time', apiKey: () => keys(OLD, new Error('key store unavailable')) },
    { what: 'another key each time', apiKey: () => keys(OLD, 'svc_sk_b0123456789', 'svc_sk_c0123456789'), sends: 2 },
    { what: 'a string as the key', apiKey: () => OLD },
  ])('the call fails with the 403: $what', async ({ apiKey, sends = 1 }) => {
    world.server.answers(refused(403));

    const error = await failureOf(world.gateway({ ...options, apiKey: apiKey() }).request(POST));

    expect(error).toMatchObject({ name: 'PermissionDeniedError' });
    expect(error.attempts).toHaveLength(sends);
    expect(world.server.requests).toBe(sends);
  });

  test('a call aborted while the key is read again ends with an AbortError', async () => {
    world.server.answers(refused(401));
    const stop = new AbortController();
    let reads = 0;
    const apiKey = () => {
      reads += 1;
      if (reads === 1) return OLD;
      stop.abort();
      return new Promise<string>(() => {});
    };

    const error = await failureOf(world.gateway({ ...options, apiKey }).request(POST, { signal: stop.signal }));

    expect(error.name).toBe('AbortError');
  });

  test.each([401, 403])(
    "a POST is not repeated after a proxy's %d, which may hide work that was done",
    async (status) => {
      world.server.answers(answer(status, '<h1>Blocked'), json({ a: 1 }));
      const client = world.gateway({ ...options, apiKey: keys(OLD, NEW) });

      expect(await failureOf(client.request(POST))).toMatchObject({ status });
      expect(world.server.requests).toBe(1);
    },
  );

  test('a 401 with Retry-After is not repeated with a new key', async () => {
    world.server.answers(refused(401, { 'retry-after': 3 }), json({ a: 1 }));

    await failureOf(world.gateway({ ...options, apiKey: keys(OLD, NEW) }).request(POST));

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

  test('an upload that can only be sent once is not sent again with a new key', async () => {
    takesOnlyTheNewKey(401);
    const file = new Blob(['once']).stream();
    const client = world.gateway({ ...options, apiKey: keys(OLD, NEW) });

    expect(await failureOf(client.files.upload({ file, purpose: 'p' }))).toMatchObject({ status: 401 });
    expect(world.server.requests).toBe(1);
  });

  test('no call fails if the old key is revoked at once', async () => {
    let valid = OLD;
    let served = 0;
    world.server.decides((turn) => {
      served += 1;
      if (served === 100) valid = NEW;
      return keyOf(turn) === valid ? json({ a: 1 }) : refused(401);
    });
    const client = world.gateway({ ...options, apiKey: async () => valid });

    const calls = atLength(300, 1_000);
    let left = calls;
    const worker = async () => {
      while (left-- > 0) await client.request(POST);
    };
    await Promise.all(Array.from({ length: 32 }, worker));

    expect(served).toBeGreaterThan(calls);
  });
});
