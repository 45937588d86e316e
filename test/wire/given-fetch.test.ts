import { describe, expect, test } from 'vitest';
import { APIConnectionError, GatewayClient } from '../../src/index.js';
import { eager, failureOf, GET, KEY, watched } from './world.js';

type Fetch = typeof globalThis.fetch;

/** A fetch that does not behave like one. */
const wrong = (fetch: () => unknown): Fetch => fetch as unknown as Fetch;
const read = new Response('{"a":1}');
void read.text();
const locked = new Response('{"a":1}');
locked.body?.getReader();

const clientOf = (fetch: Fetch, more: { timeout?: number } = {}, runtime = eager) =>
  new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, fetch, ...more }, undefined, runtime);

describe("a user's fetch", () => {
  const throwing = (error: unknown) => () => {
    throw error;
  };
  test.each<[does: string, fetch: () => unknown]>([
    ['returns undefined', () => undefined],
    ['resolves to a string', async () => 'hello'],
    ['resolves to an object with only a status', async () => ({ status: 200 })],
    ['throws synchronously', throwing(new Error(`no ${KEY}`))],
    ['throws a string', throwing(`no ${KEY}`)],
    ['rejects with undefined', () => Promise.reject(undefined)],
    ['rejects with the request', () => Promise.reject({ headers: { authorization: KEY } })],
    ['resolves to a response that was already read', async () => read],
    ['resolves to a response whose body is locked', async () => locked],
    ['resolves to a body of strings', async () => new Response(new ReadableStream({ start: (c) => c.enqueue('{}') }))],
    [
      'resolves to a body that fails',
      async () => new Response(new ReadableStream({ start: (c) => c.error(new Error(KEY)) })),
    ],
    [
      'resolves to a body that cannot be read',
      async () => ({
        status: 200,
        headers: new Headers(),
        get body() {
          throw new Error(KEY);
        },
      }),
    ],
    ['resolves to an invalid status', async () => ({ status: 42, headers: new Headers(), body: null })],
  ])("a user's fetch that %s fails the call with a connection error", async (_does, fetch) => {
    const client = clientOf(wrong(fetch));

    expect((await failureOf(client.request(GET))).name).toBe('APIConnectionError');
  });

  test.each([
    ['was read', () => read],
    ['is locked', () => locked],
  ])("a response of a user's fetch whose body %s says so, and how to keep it unread", async (_, response) => {
    const error = await failureOf(clientOf(wrong(response)).request(GET));

    expect(error).toMatchObject({ name: 'APIConnectionError', retryable: false, attempts: [{}] });
    expect(error.message).toMatch(/was read already, for example by a cache.*response\.clone\(\)/);
  });

  test("a user's fetch that never responds is ended by the timeout of the attempt, and leaves no timer", async () => {
    const fetch = wrong(() => new Promise(() => {}));
    const runtime = watched();
    const client = clientOf(fetch, { timeout: 50 }, runtime);

    const error = await failureOf(client.request(GET));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt', attempts: [{}, {}, {}] });
    expect(runtime.timers.size).toBe(0);
  });

  test("a user's fetch gets its control flow errors back, such as those of Next.js, after one attempt", async () => {
    const dynamic = Object.assign(new Error('no-store fetch'), { digest: 'DYNAMIC_SERVER_USAGE' });
    let sent = 0;
    const fetch = wrong(async () => {
      sent += 1;
      throw dynamic;
    });
    const client = clientOf(fetch);

    await expect(client.request(GET)).rejects.toBe(dynamic);
    expect(sent).toBe(1);
  });

  test.each(['GET', 'POST'] as const)("a user's fetch that caches is told not to cache a %s", async (method) => {
    let cache: string | undefined;
    const fetch: Fetch = async (_, init) => {
      cache = init?.cache;
      return Response.json({});
    };
    const client = clientOf(fetch);

    await client.request(method === 'GET' ? GET : { ...GET, method, body: {} });

    expect(cache).toBe('no-store');
  });

  const nowhere = new GatewayClient({ baseURL: 'http://127.0.0.1:1', apiKey: KEY, maxRetries: 0 }, undefined, eager);
  test.each([
    { failure: 'was never sent', other: () => nowhere.request(GET) },
    { failure: 'has bad arguments', other: () => nowhere.usage.retrieve({ start_date: 'x' }) },
  ])(
    "a user's fetch whose own call to another client $failure does not mark this call as unsent",
    async ({ other }) => {
      let sent = 0;
      const fetch = wrong(async () => {
        sent += 1;
        await other();
      });

      const error = await failureOf(clientOf(fetch).request({ method: 'POST', path: '/v1/things', body: {} }));

      expect(error).toBeInstanceOf(APIConnectionError);
      expect(error).toMatchObject({ sent: 'maybe', attempts: [{}] });
      expect(error.message).toContain('the connection failed. The cause is ');
      expect(sent).toBe(1);
    },
  );

  test("a user's fetch that ignores the signal does not delay an abort", async () => {
    const fetch = wrong(async () => new Response(new ReadableStream()));
    const client = clientOf(fetch);
    const controller = new AbortController();

    const call = failureOf(client.request(GET, { signal: controller.signal }));
    setTimeout(() => controller.abort(), 20);

    expect((await call).name).toBe('AbortError');
  });
});
