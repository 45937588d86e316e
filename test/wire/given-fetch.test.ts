import { describe, expect, test } from 'vitest';
import { APIConnectionError, GatewayClient } from '../../src/index.js';
import { eager, failureOf, KEY, watched } from './world.js';

const GET = { method: 'GET', path: '/v1/things' } as const;

type Fetch = typeof globalThis.fetch;

/** A fetch that does not behave like one. */
const wrong = (fetch: () => unknown): Fetch => fetch as unknown as Fetch;
const read = new Response('{"a":1}');

describe("a user's fetch", () => {
  test.each([
    { does: 'returns undefined', fetch: wrong(() => undefined) },
    { does: 'resolves to a string', fetch: wrong(async () => 'hello') },
    { does: 'resolves to null', fetch: wrong(async () => null) },
    { does: 'resolves to an object with only a status', fetch: wrong(async () => ({ status: 200 })) },
    {
      does: 'throws synchronously',
      fetch: wrong(() => {
        throw new Error(`no ${KEY}`);
      }),
    },
    {
      does: 'throws a string',
      fetch: wrong(() => {
        throw `no ${KEY}`;
      }),
    },
    { does: 'rejects with undefined', fetch: wrong(() => Promise.reject(undefined)) },
    { does: 'rejects with the request', fetch: wrong(() => Promise.reject({ headers: { authorization: KEY } })) },
    {
      does: 'resolves to a response that was already read',
      fetch: wrong(async () => {
        await read.text().catch(() => {});
        return read;
      }),
    },
    {
      does: 'resolves to a response whose body is locked',
      fetch: wrong(async () => {
        const answer = new Response('{}');
        answer.body?.getReader();
        return answer;
      }),
    },
    { does: 'resolves to a body of strings', fetch: wrong(async () => new Response(streamOf('{"a":', 1, null))) },
    {
      does: 'resolves to a body that fails',
      fetch: wrong(async () => new Response(new ReadableStream({ start: (c) => c.error(new Error(KEY)) }))),
    },
    {
      does: 'resolves to an invalid status',
      fetch: wrong(async () => ({ status: 42, headers: new Headers(), body: null })),
    },
  ])("a user's fetch that $does fails the call with a connection error", async ({ fetch }) => {
    const client = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, fetch }, undefined, eager);

    const error = await failureOf(client.request(GET));

    expect(error.name).toBe('APIConnectionError');
  });

  test("a user's fetch that never responds is ended by the timeout of the attempt, and leaves no timer", async () => {
    const fetch = wrong(() => new Promise(() => {}));
    const runtime = watched();
    const options = { baseURL: 'https://service.test', apiKey: KEY, fetch, timeout: 50 };
    const client = new GatewayClient(options, undefined, runtime);

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
    const client = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, fetch }, undefined, eager);

    await expect(client.request(GET)).rejects.toBe(dynamic);
    expect(sent).toBe(1);
  });

  test.each(['GET', 'POST'] as const)("a user's fetch that caches is told not to cache a %s", async (method) => {
    let cache: string | undefined;
    const fetch: Fetch = async (_, init) => {
      cache = init?.cache;
      return Response.json({});
    };
    const client = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, fetch }, undefined, eager);

    await client.request(method === 'GET' ? GET : { ...GET, method, body: {} });

    expect(cache).toBe('no-store');
  });

  const nowhere = new GatewayClient({ baseURL: 'http://127.0.0.1:1', apiKey: KEY, maxRetries: 0 }, undefined, eager);
  const refused = { error: { message: 'slow down', code: 'too_many' } };
  const refusing = new GatewayClient(
    {
      baseURL: 'https://other.test',
      apiKey: KEY,
      maxRetries: 0,
      fetch: async () => Response.json(refused, { status: 429 }),
    },
    undefined,
    eager,
  );
  test.each([
    { failure: 'was never sent', other: () => nowhere.request(GET) },
    { failure: 'was rejected', other: () => refusing.request(GET) },
    { failure: 'has bad arguments', other: () => nowhere.usage.retrieve({ start_date: 'x' }) },
  ])(
    "a user's fetch whose own call to another client $failure does not mark this call as unsent",
    async ({ other }) => {
      let sent = 0;
      const fetch = wrong(async () => {
        sent += 1;
        await other();
      });
      const client = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, fetch }, undefined, eager);

      const error = await failureOf(client.request({ method: 'POST', path: '/v1/things', body: {} }));

      expect(error).toBeInstanceOf(APIConnectionError);
      expect(error).toMatchObject({ sent: 'maybe', attempts: [{}] });
      expect(error.message).toContain('the connection failed (POST');
      expect(sent).toBe(1);
    },
  );

  test("a user's fetch that ignores the signal does not delay an abort", async () => {
    const fetch = wrong(async () => new Response(new ReadableStream()));
    const client = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, fetch }, undefined, eager);
    const controller = new AbortController();

    const call = failureOf(client.request(GET, { signal: controller.signal }));
    setTimeout(() => controller.abort(), 20);

    expect((await call).name).toBe('AbortError');
  });
});

function streamOf(...parts: unknown[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
