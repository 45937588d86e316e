import { describe, expect, test } from 'vitest';
import { APIConnectionError, GatewayClient } from '../../src/index.js';
import { eager, failureOf, KEY, watched } from './world.js';

const GET = { method: 'GET', path: '/v1/things' } as const;

type Fetch = typeof globalThis.fetch;

/** A fetch of the user's that does not do what a fetch does. */
const wrong = (fetch: () => unknown): Fetch => fetch as unknown as Fetch;
const read = new Response('{"a":1}');

describe('a fetch of the user', () => {
  test.each([
    { does: 'gives nothing', fetch: wrong(() => undefined) },
    { does: 'gives a string', fetch: wrong(async () => 'hello') },
    { does: 'gives null', fetch: wrong(async () => null) },
    { does: 'gives an object with a status', fetch: wrong(async () => ({ status: 200 })) },
    {
      does: 'throws at once',
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
    { does: 'rejects with nothing', fetch: wrong(() => Promise.reject(undefined)) },
    { does: 'rejects with the request', fetch: wrong(() => Promise.reject({ headers: { authorization: KEY } })) },
    {
      does: 'gives an answer somebody has read',
      fetch: wrong(async () => {
        await read.text().catch(() => {});
        return read;
      }),
    },
    {
      does: 'gives an answer somebody is reading',
      fetch: wrong(async () => {
        const answer = new Response('{}');
        answer.body?.getReader();
        return answer;
      }),
    },
    { does: 'gives a body of strings', fetch: wrong(async () => new Response(streamOf('{"a":', 1, null))) },
    {
      does: 'gives a body that fails',
      fetch: wrong(async () => new Response(new ReadableStream({ start: (c) => c.error(new Error(KEY)) }))),
    },
    {
      does: 'gives a status that is none',
      fetch: wrong(async () => ({ status: 42, headers: new Headers(), body: null })),
    },
  ])('that $does is a connection error', async ({ fetch }) => {
    const client = new GatewayClient({ baseURL: 'https://service.test', apiKey: KEY, fetch }, undefined, eager);

    const error = await failureOf(client.request(GET));

    expect(error.name).toBe('APIConnectionError');
  });

  test('that never answers is ended by the attempt’s timeout, and leaves no timer', async () => {
    const fetch = wrong(() => new Promise(() => {}));
    const runtime = watched();
    const options = { baseURL: 'https://service.test', apiKey: KEY, fetch, timeout: 50 };
    const client = new GatewayClient(options, undefined, runtime);

    const error = await failureOf(client.request(GET));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt', attempts: [{}, {}, {}] });
    expect(runtime.timers.size).toBe(0);
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
    { failure: 'was refused', other: () => refusing.request(GET) },
    { failure: 'has bad arguments', other: () => nowhere.usage.retrieve({ start_date: 'x' }) },
  ])('whose own call $failure does not make this one unsent', async ({ other }) => {
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
  });

  test('that ignores the signal does not hold an abort up', async () => {
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
