import { getEventListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { serve } from '@hono/node-server';
import {
  APIAbortError,
  APITimeoutError,
  GatewayClient,
  RateLimitError,
  RequestValidationError,
  ResponseValidationError,
  readChatCompletionStream,
  type ServerSentEvent,
  StreamConsumedError,
  StreamTruncatedError,
  toEventStream,
} from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { relayTo } from '../helpers/relay.js';
import { failureOf, readAll } from './bench.js';
import { eventResponse, streamOf, streamOfClient } from './canned.js';
import { watchProcess } from './measure.js';
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
      const closed = new Promise((resolve) => server.close(resolve));
      (server as Server).closeAllConnections(); // the page's fetch keeps them for seconds
      await closed;
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

  test.each([
    { who: 'reader', options: (signal: AbortSignal) => ({ signal }) },
    { who: 'page', options: () => ({}) },
  ])('stops the completion at the service if the $who aborts its fetch', async ({ options }) => {
    emulator.chat.on('rivers', 'word '.repeat(50_000));
    const controller = new AbortController();
    const { signal } = controller;
    const stream = await readChatCompletionStream(await ask('How do rivers find the sea?', signal), options(signal));
    const read: string[] = [];
    const readThree = async (): Promise<void> => {
      for await (const piece of stream.textStream) if (read.push(piece) === 3) controller.abort();
    };

    const error = await failureOf(readThree());

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
});

describe('toEventStream', () => {
  test('reads a chunk only when its event is requested', async () => {
    const stream = await streamOf(text('a') + text('b') + text('c') + finish() + DONE);
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

  test('ends with an error event at a chunk that cannot be serialised, and closes the stream', async () => {
    const source = endless(text('a'));
    const decodeChunk = () => ({ choices: [{ index: 0, delta: { content: 'a' } }], cost: 1n });
    const stream = await streamOfClient(source.body, decodeChunk);

    const relayed = await new Response(toEventStream(stream)).text();

    expect(relayed).toBe('event: error\ndata: {"error":{"message":"The stream failed.","type":"stream_error"}}\n\n');
    expect(source.cancelled).toBe(true);
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
  const decodeChunk = ({ data }: ServerSentEvent) => ({ choices: [{ index: 0, delta: { content: data } }] });
  const other = `data: The Rhine.\n\n${DONE}`;

  test('reads the chunks that the server decoded', async () => {
    const page = await readChatCompletionStream(toEventStream(await streamOfClient(other, decodeChunk)));

    expect((await readAll(page)).text).toBe('The Rhine.');
  });

  test('reads events of another form with decodeChunk', async () => {
    expect((await readAll(await streamOf(other, { decodeChunk }))).text).toBe('The Rhine.');
  });

  test('rejects a response that was read, and a body that is locked', async () => {
    const read = new Response(RHINE);
    await read.text();
    const locked = new Response(RHINE).body as ReadableStream<Uint8Array>;
    locked.getReader();

    for (const source of [read, locked])
      expect(await failureOf(readChatCompletionStream(source))).toBeInstanceOf(StreamConsumedError);
  });

  test('rejects a page, and leaves no listener', async () => {
    const { signal } = new AbortController();
    const page = new Response('<p>Sign in', { headers: { 'content-type': 'text/html' } });

    expect(await failureOf(readChatCompletionStream(page, { signal }))).toBeInstanceOf(ResponseValidationError);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  const page = () => eventResponse(RHINE);

  test.each<[name: string, source: () => unknown, hint: RegExp]>([
    ['a promise', () => Promise.resolve(page()), /source: is a promise; await it first/],
    ['null', () => null, /source: expected a Response, or its body/],
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

  test.each(['timeout', 'sgnal'])('rejects %s, which is not one of its options', async (option) => {
    expect(await failureOf(readChatCompletionStream(page(), { [option]: 5 } as never))).toMatchObject({
      name: 'RequestValidationError',
      issues: [
        { path: ['options', option], message: expect.stringMatching(/is unknown; (did you mean|expected one of) /) },
      ],
    });
  });

  test.each([{ streamIdleTimeout: Number.NaN }, { signal: {} as AbortSignal }])(
    'rejects $streamIdleTimeout $signal in its options',
    async (options) => {
      expect(await failureOf(readChatCompletionStream(new Response(RHINE), options))).toBeInstanceOf(
        RequestValidationError,
      );
    },
  );

  test.each([200, 500])(
    'rejects with an AbortError if the caller aborts before the body of a %i arrives',
    async (status) => {
      const abort = new AbortController();
      const response = new Response(new ReadableStream<Uint8Array>(), { status });
      const call = failureOf(readChatCompletionStream(response, { signal: abort.signal }));

      abort.abort();

      expect(await call).toBeInstanceOf(APIAbortError);
    },
  );

  test('throws an idle timeout if the relay is silent', async () => {
    const source = endless(text('a'));

    const { error } = await readAll(await readChatCompletionStream(source.body, { streamIdleTimeout: 20 }));

    expect(error).toBeInstanceOf(APITimeoutError);
    expect(error).toMatchObject({ kind: 'idle', partial: { choices: [{ message: { content: 'a' } }] } });
    expect(source.cancelled).toBe(true);
  });
});

const head = { status: 200, ok: true, headers: new Headers({ 'content-type': 'text/event-stream' }) };

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
