import { Worker } from 'node:worker_threads';
import {
  type APIError,
  ContextClient,
  type ContextClientOptions,
  GatewayClient,
  type GatewayClientOptions,
} from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
import { observeCalls } from 'context-gateway/otel';
import { redisLimiter } from 'context-gateway/redis';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { chatParams, completion, contextAnswer } from '../helpers/samples.js';
import { BASE, KEY, TOKEN } from '../helpers/service.js';

/** What a careless deep merge can leave on Object.prototype: names that decide what is sent, and where. */
const polluted: Record<string, unknown> = {
  ...{ method: 'DELETE', path: '/evil', query: { evil: 1 }, ids: { conversationId: 'evil' }, body: 'evil=1' },
  ...{ origin: 'https://evil.test', baseURL: 'https://evil.test', host: 'evil.test', hostname: 'evil.test', port: 1 },
  ...{ servername: 'evil.test', socketPath: '/tmp/evil.sock', redirect: 'follow', upgrade: 'evil', reset: true },
  ...{ headers: { 'x-evil': '1' }, defaultHeaders: { 'x-evil': '1' }, accept: 'evil/1', idempotencyKey: 'evil' },
  ...{ upload: {}, stream: true, duplex: 'half', expectContinue: true, signal: new AbortController().signal },
  ...{ apiKey: 'evil', sessionToken: 'evil', sessionHeader: { name: 'evil' }, dispatcher: {}, fetch: 1 },
};

const prototype = Object.prototype as unknown as Record<string, unknown>;
const CLEAN = Object.keys(prototype);
afterEach(() => {
  for (const key of Object.keys(prototype)) if (!CLEAN.includes(key)) delete prototype[key];
});

const ANSWER = JSON.stringify({ ...completion(), ...contextAnswer() });

/** A service in its own thread, whose prototypes stay clean. It posts every request. */
const SERVICE = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:http').createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => {
      const { method, url, rawHeaders } = request;
      parentPort.postMessage({ method, url, rawHeaders, body });
      response.end(${JSON.stringify(ANSWER)});
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage('http://127.0.0.1:' + server.address().port));
`;

const calls = async (options: GatewayClientOptions & ContextClientOptions) => {
  const gateway = new GatewayClient({ apiKey: KEY, ...options });
  const context = new ContextClient({ sessionToken: TOKEN, ...options });
  await gateway.chat.completions.create(chatParams);
  await context.retrieve('c');
  await gateway.request({ method: 'GET', path: '/v1/x' });
  await gateway.close();
  await context.close();
};

/** From Node 22 on, `createRequire` fails while there is a `path`: undici is not found, and requests go through fetch. */
const withoutFetchHeaders = (request: { rawHeaders: string[] }): unknown => {
  const added = ['accept-language', 'sec-fetch-mode', 'accept-encoding', 'cache-control', 'pragma'];
  const isKept = (_: string, at: number, all: string[]) => !added.includes(all[at - (at % 2)] ?? '');
  return { ...request, rawHeaders: request.rawHeaders.filter(isKept) };
};

describe('a property on Object.prototype', () => {
  let service: Worker;
  let baseURL = '';
  const arrived: { rawHeaders: string[] }[] = [];
  beforeAll(async () => {
    service = new Worker(SERVICE, { eval: true });
    baseURL = await new Promise<string>((resolve) => service.once('message', resolve));
    service.on('message', (request) => arrived.push(request));
  });
  afterAll(() => service.terminate());

  test.each(Object.keys(polluted))('%s changes no byte of any request through undici', async (key) => {
    arrived.length = 0;
    await calls({ baseURL });
    prototype[key] = polluted[key];
    await calls({ baseURL }).finally(() => delete prototype[key]);

    await vi.waitFor(() => expect(arrived).toHaveLength(6), { timeout: 30_000 });
    expect(key === 'path' ? arrived.slice(3).map(withoutFetchHeaders) : arrived.slice(3)).toEqual(arrived.slice(0, 3));
  });

  test.each(Object.keys(polluted))('%s changes nothing a given fetch receives', async (key) => {
    const received: unknown[] = [];
    const fetch = async (url: string | URL | Request, init: RequestInit = {}) => {
      // Reads inherited names as well.
      received.push([url, ...[...names].map((name) => (name in init ? Reflect.get(init, name) : undefined))]);
      return new Response(ANSWER);
    };
    const names = new Set(['method', 'headers', 'body', 'redirect', key]);
    names.delete('signal');

    await calls({ baseURL: BASE, fetch });
    prototype[key] = polluted[key];
    await calls({ baseURL: BASE, fetch }).finally(() => delete prototype[key]);

    expect(received.slice(3)).toEqual(received.slice(0, 3));
    expect(received).toHaveLength(6);
  });
});

test.each([
  ['createConversation', () => createConversation({ gateway: new GatewayClient(), model: 'm', conversationId: 'c' })],
  [
    'a turn',
    () =>
      createConversation({ gateway: new GatewayClient(), model: 'm', conversationId: 'c' }).search('x', { limit: 1 }),
  ],
  ['observeCalls', () => observeCalls({})],
  ['redisLimiter', () => redisLimiter({ client: { eval: vi.fn(), evalSha: vi.fn() }, name: 'n' })],
])('%s does not take a property on Object.prototype for a misspelled option', async (_, create) => {
  prototype.evil = 1;

  await expect((async () => create())()).resolves.toBeDefined();
});

describe('reading a response ignores Object.prototype', () => {
  const gatewayOf = (status: number, body: object) => {
    const fetch = vi.fn(async () => new Response(JSON.stringify(body), { status }));
    return { fetch, gateway: new GatewayClient({ baseURL: BASE, apiKey: KEY, fetch, maxRetries: 1 }) };
  };
  const EVIL = { message: 'evil', type: 'evil' };

  test.each([{ success: false }, { error: EVIL }])('%o does not turn a success into an error', async (fields) => {
    const { gateway } = gatewayOf(200, completion());
    Object.assign(prototype, fields);

    expect(await gateway.chat.completions.create(chatParams)).toEqual(completion());
  });

  test.each([
    { body: {}, polluted: { error: EVIL } },
    { body: { error: {} }, polluted: EVIL },
    { body: { error: 'evil' }, polluted: { success: false } },
  ])("a proxy's 503 %# is not taken for one of the service, so a POST is not repeated", async (row) => {
    const { fetch, gateway } = gatewayOf(503, row.body);
    Object.assign(prototype, row.polluted);

    await expect(gateway.chat.completions.create(chatParams)).rejects.toMatchObject({ status: 503 });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('the message, the code and the retry hint of an error come from the body', async () => {
    const { gateway } = gatewayOf(400, { error: {} });
    Object.assign(prototype, EVIL, { code: 'evil', param: 'evil', retry_after: 60 });

    const error = await gateway.chat.completions.create(chatParams).catch((error: unknown) => error as APIError);
    for (const key of ['message', 'type', 'code', 'param', 'retry_after']) delete prototype[key];

    expect(error).toMatchObject({ type: undefined, code: undefined, param: undefined, retryAfter: undefined });
    expect((error as APIError).message).not.toContain('evil');
  });
});
