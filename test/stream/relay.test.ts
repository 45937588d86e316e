import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { serve } from '@hono/node-server';
import {
  APIAbortError,
  APITimeoutError,
  type ChatCompletionStream,
  documented,
  GatewayClient,
  RateLimitError,
  RequestValidationError,
  ResponseValidationError,
  readChatCompletionStream,
  type ServerSentEvent,
  StreamConsumedError,
  StreamError,
  StreamTruncatedError,
  toEventStream,
} from 'context-gateway';
import { createEmulator, type FaultResponse } from 'context-gateway-emulator';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { relayTo } from '../../examples/apps/relay/server.js';
import { failureOf, readAll } from './bench.js';
import { PARAMS, watchProcess } from './measure.js';
import { bytesOf } from './memory-source.js';
import { DONE, finish, RHINE, text } from './script.js';

watchProcess();

describe('a relay', () => {
  const emulator = createEmulator({ seed: 'relay', pace: { tokensPerSecond: 500 } });
  let gateway: GatewayClient;
  let ask: (question: string, signal?: AbortSignal) => Promise<Response>;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const { url } = await emulator.listen({ port: 0 });
    gateway = new GatewayClient({ baseURL: url, apiKey: emulator.apiKeys.secret, maxRetries: 0 });
    // By default hono replaces the global Response, also for the test files that run in this process later.
    const local = { port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false };
    const server = serve({ ...local, fetch: relayTo(gateway).fetch });
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
    ask = (question, signal) => {
      const body = JSON.stringify({ messages: [{ role: 'user', content: question }] });
      return fetch(`http://127.0.0.1:${port}/chat`, { method: 'POST', body, ...(signal && { signal }) });
    };
    close = async () => {
      await gateway.close();
      await emulator.close();
      await new Promise((resolve) => server.close(resolve));
    };
  });
  beforeEach(() => emulator.reset());
  afterAll(() => close());

  test('delivers the same completion to the page', async () => {
    emulator.chat.on('rivers', 'They follow the slope. 漢🙂');

    const stream = await readChatCompletionStream(await ask('How do rivers find the sea?'));
    const { text, error } = await readAll(stream);

    expect([text, error]).toEqual(['They follow the slope. 漢🙂', undefined]);
    const whole = await stream.finalCompletion();
    expect(whole.choices[0]?.finish_reason).toBe('stop');
    expect(whole.usage?.total_tokens).toBeGreaterThan(0);
    expect(emulator.requests.at(-1)?.outcome).toBe('answered');
  });

  test('stops the completion at the service if the reader aborts', async () => {
    emulator.chat.on('rivers', 'word '.repeat(50_000));
    const controller = new AbortController();
    const { signal } = controller;
    const stream = await readChatCompletionStream(await ask('How do rivers find the sea?', signal), { signal });
    const read: string[] = [];
    let error: unknown;

    try {
      for await (const piece of stream.textStream) {
        read.push(piece);
        if (read.length === 3) controller.abort();
      }
    } catch (thrown) {
      error = thrown;
    }

    expect(error).toBeInstanceOf(APIAbortError);
    expect((error as APIAbortError).partial?.choices[0]?.message.content).toBe(read.join(''));
    await until(() => emulator.requests.at(-1)?.outcome === 'aborted');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('stops the completion at the service if the reader leaves its loop', async () => {
    emulator.chat.on('rivers', 'word '.repeat(50_000));

    for await (const _ of await readChatCompletionStream(await ask('How do rivers find the sea?'))) break;

    await until(() => emulator.requests.at(-1)?.outcome === 'aborted');
  });

  test('stops the completion at the service if the reader of a plain Node server leaves', async () => {
    emulator.chat.on('rivers', 'word '.repeat(50_000));
    const messages = [{ role: 'user', content: 'How do rivers find the sea?' }];
    const server = createServer(async (_, res) => {
      const stream = await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true });
      await pipeline(toEventStream(stream) as unknown as AsyncIterable<Uint8Array>, res).catch(() => {});
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));

    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    for await (const _ of await readChatCompletionStream(response)) break;

    await until(() => emulator.requests.at(-1)?.outcome === 'aborted');
    server.close();
  });

  test.each<[name: string, respond: FaultResponse, facts: object]>([
    ['StreamTruncatedError', { type: 'cutStream', afterEvents: 3 }, {}],
    [
      'StreamError',
      {
        type: 'streamError',
        afterEvents: 3,
        error: { message: 'Overloaded.', type: 'overloaded_error', code: 'busy' },
      },
      { type: 'overloaded_error', code: 'busy', message: 'Overloaded (relayed stream).' },
    ],
  ])('ends with a %s for its reader as well', async (name, respond, facts) => {
    emulator.chat.on('rivers', 'one two three four five six');
    emulator.faults.add({ respond });

    const { error, text } = await readAll(await readChatCompletionStream(await ask('How do rivers find the sea?')));

    expect(error).toMatchObject({ name, ...facts });
    expect(text).not.toBe('');
    expect((error as StreamError).partial?.choices[0]?.message.content).toBe(text);
  });

  test('rejects with the error of the service if it rejects the completion', async () => {
    emulator.faults.add({ respond: { status: 429, message: 'Slow down.' } });
    vi.spyOn(console, 'error').mockImplementationOnce(() => {});

    const error = await failureOf(readChatCompletionStream(await ask('How do rivers find the sea?')));

    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      message: expect.stringContaining('Slow down.'),
    });
  });
});

describe('toEventStream', () => {
  test('reads a chunk only when its event is requested', async () => {
    const stream = await streamOf(text('a'), text('b'), text('c'), finish(), DONE);
    const reader = toEventStream(stream).getReader();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(stream.metrics.chunks).toBe(0);

    await reader.read();
    await reader.read();

    expect(stream.metrics.chunks).toBe(2);
  });

  test('writes the same events', async () => {
    const stream = await streamOf(RHINE);

    expect(await new Response(toEventStream(stream)).text()).toBe(RHINE);
    await expect(stream.finalCompletion()).resolves.toMatchObject({ id: 'chatcmpl-1' });
  });

  test('closes the stream if it is cancelled while it waits for an event', async () => {
    const source = endless(text('a'));
    const stream = await readChatCompletionStream(source.body);
    const reader = toEventStream(stream).getReader();
    await reader.read();
    const waiting = reader.read();

    await reader.cancel();

    expect(await waiting).toMatchObject({ done: true });
    expect(source.cancelled).toBe(true);
    expect(await failureOf(stream.finalCompletion())).toBeInstanceOf(StreamTruncatedError);
  });

  test('ends with an error event if the connection is lost, without its address', async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytesOf(text('The '))),
      pull: () => Promise.reject(Object.assign(new Error('secret'), { code: 'ECONNRESET' })),
    });
    const stream = await readChatCompletionStream(broken);

    const { error } = await readAll(await readChatCompletionStream(toEventStream(stream)));

    expect(error).toBeInstanceOf(StreamError);
    expect(error).toMatchObject({ type: 'stream_error', partial: { choices: [{ message: { content: 'The ' } }] } });
    expect((error as StreamError).message).toBe('The stream was interrupted (relayed stream).');
    expect(await failureOf(stream.finalCompletion())).toMatchObject({ name: 'APIConnectionError' });
  });

  test('ends with an error event at a chunk that cannot be serialised, and closes the stream', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytesOf(text('a'))),
      cancel: () => {
        cancelled = true;
      },
    });
    const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const decodeChunk = () => ({ choices: [{ index: 0, delta: { content: 'a' } }], cost: 1n });
    const gateway = new GatewayClient({
      baseURL: 'https://service.test',
      apiKey: 'svc_sk_test',
      fetch,
      completions: { ...documented, decodeChunk },
    });
    const stream = await gateway.chat.completions.create({ ...PARAMS });

    const relayed = await new Response(toEventStream(stream)).text();

    expect(relayed).toBe('event: error\ndata: {"error":{"message":"The stream failed.","type":"stream_error"}}\n\n');
    expect(cancelled).toBe(true);
    expect(await failureOf(stream.finalCompletion())).toBeInstanceOf(StreamTruncatedError);
  });

  test('a stream can be relayed twice', async () => {
    const once = await streamOf(text('The '));
    const twice = await readChatCompletionStream(toEventStream(once));

    const { error } = await readAll(await readChatCompletionStream(toEventStream(twice)));

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect((error as StreamTruncatedError).partial?.choices[0]?.message.content).toBe('The ');
  });
});

describe('readChatCompletionStream', () => {
  test('reads the chunks that the server decoded, even with the same decodeChunk in the page', async () => {
    const completions = {
      ...documented,
      decodeChunk: ({ data }: ServerSentEvent) => ({ choices: [{ index: 0, delta: { content: data } }] }),
    };
    const fetch = async () =>
      new Response('data: The Rhine.\n\ndata: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } });
    const gateway = new GatewayClient({ baseURL: 'https://service.test', apiKey: 'svc_sk_test', fetch, completions });
    const relayed = toEventStream(await gateway.chat.completions.create({ ...PARAMS }));

    expect((await readAll(await readChatCompletionStream(relayed, { completions }))).text).toBe('The Rhine.');
  });

  test('throws if the relay ends before the completion', async () => {
    expect((await readAll(await streamOf(text('The ')))).error).toBeInstanceOf(StreamTruncatedError);
  });

  test('rejects a response that was already read', async () => {
    const response = new Response(RHINE);
    await response.text();

    expect(await failureOf(readChatCompletionStream(response))).toBeInstanceOf(StreamConsumedError);
  });

  test('rejects a page, and leaves no listener', async () => {
    const { signal } = new AbortController();
    const page = new Response('<p>Sign in', { headers: { 'content-type': 'text/html' } });

    expect(await failureOf(readChatCompletionStream(page, { signal }))).toBeInstanceOf(ResponseValidationError);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('rejects a body that is locked', async () => {
    const { body } = new Response(RHINE);
    body?.getReader();

    expect(await failureOf(readChatCompletionStream(body as never))).toBeInstanceOf(StreamConsumedError);
  });

  const page = () => new Response(RHINE, { headers: { 'content-type': 'text/event-stream' } });

  test.each<[name: string, source: () => unknown, hint: RegExp]>([
    ['a promise', () => Promise.resolve(page()), /source: is a promise; await it first/],
    ['undefined', () => undefined, /source: expected a Response, or its body/],
    ['null', () => null, /expected a Response/],
    ['an object', () => ({}), /expected a Response/],
    ['a string', () => RHINE, /expected a Response/],
    ['a Request', () => new Request('http://localhost', { method: 'POST', body: RHINE }), /expected a Response/],
    ['a Node stream as the body', () => ({ ...head, body: Readable.from([RHINE]) }), /expected a Response/],
  ])('rejects %s as its source, and says how to fix it', async (_, source, hint) => {
    const error = await failureOf(readChatCompletionStream(source() as never));

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(error).toMatchObject({ issues: [{ path: ['source'] }], message: expect.stringMatching(hint) });
  });

  test('accepts an object with the fields of a Response, and rejects a 429 without a body', async () => {
    const mocked = { ...head, body: page().body } as Response;
    const bare = { ...head, status: 429, ok: false, body: null } as Response;

    expect((await readAll(await readChatCompletionStream(mocked))).text).toBe('The Rhine.');
    expect(await failureOf(readChatCompletionStream(bare))).toBeInstanceOf(RateLimitError);
  });

  test.each(['timeout', 'deadline', 'maxRetries', 'headers', 'idempotencyKey', 'sgnal'])(
    'rejects %s, which is not one of its options',
    async (option) => {
      expect(await failureOf(readChatCompletionStream(page(), { [option]: 5 } as never))).toMatchObject({
        name: 'RequestValidationError',
        issues: [{ path: ['options', option], message: expect.stringContaining('is unknown; expected one of ') }],
      });
    },
  );

  test.each([{ streamIdleTimeout: Number.NaN }, { streamIdleTimeout: -1 }, { signal: {} as AbortSignal }])(
    'rejects $streamIdleTimeout $signal in its options',
    async (options) => {
      expect(await failureOf(readChatCompletionStream(new Response(RHINE), options))).toBeInstanceOf(
        RequestValidationError,
      );
    },
  );

  test('rejects if the caller aborts before the first bytes arrive', async () => {
    const abort = new AbortController();
    const body = new ReadableStream<Uint8Array>();
    const call = failureOf(readChatCompletionStream(new Response(body), { signal: abort.signal }));

    abort.abort();

    expect(await call).toBeInstanceOf(APIAbortError);
  });

  test('rejects with an AbortError if the caller aborts while the body of an error arrives', async () => {
    const abort = new AbortController();
    const response = new Response(new ReadableStream<Uint8Array>(), { status: 500 });
    const call = failureOf(readChatCompletionStream(response, { signal: abort.signal }));

    abort.abort();

    expect(await call).toBeInstanceOf(APIAbortError);
  });

  test('throws an AbortError if the page aborts its own fetch', async () => {
    const stop = new AbortController();
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text('The '));
    }).listen(0);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const stream = await readChatCompletionStream(await fetch(`http://127.0.0.1:${port}`, { signal: stop.signal }));

    const error = await failureOf(
      (async () => {
        for await (const _ of stream) stop.abort();
      })(),
    );

    expect(error).toBeInstanceOf(APIAbortError);
    expect((error as APIAbortError).partial?.choices[0]?.message.content).toBe('The ');
    server.closeAllConnections();
    server.close();
  });

  test('throws an idle timeout if the relay is silent', async () => {
    const source = endless(text('a'));

    const { error } = await readAll(await readChatCompletionStream(source.body, { streamIdleTimeout: 20 }));

    expect(error).toBeInstanceOf(APITimeoutError);
    expect(error).toMatchObject({ kind: 'idle', partial: { choices: [{ message: { content: 'a' } }] } });
    expect(source.cancelled).toBe(true);
  });
});

const head = { status: 200, ok: true, headers: new Headers({ 'content-type': 'text/event-stream' }) };

const streamOf = (...events: string[]): Promise<ChatCompletionStream> =>
  readChatCompletionStream(new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } }));

/** A body that sends one event and never ends. */
function endless(event: string) {
  const source = { cancelled: false, body: undefined as unknown as ReadableStream<Uint8Array> };
  source.body = new ReadableStream({
    start: (controller) => controller.enqueue(bytesOf(event)),
    cancel: () => {
      source.cancelled = true;
    },
  });
  return source;
}

const until = (holds: () => boolean): Promise<unknown> => vi.waitUntil(holds, { timeout: 20_000, interval: 5 });
