import { Worker } from 'node:worker_threads';
import { ContextClient, type ContextClientOptions, GatewayClient, type GatewayClientOptions } from 'context-gateway';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { chatParams, completion, contextAnswer } from '../helpers/samples.js';
import { BASE, KEY, TOKEN } from '../helpers/service.js';

/** What a careless merge elsewhere in a program can leave behind, under names that options of an HTTP client have. */
const polluted: Record<string, unknown> = {
  method: 'DELETE',
  path: '/evil',
  origin: 'https://evil.test',
  host: 'evil.test',
  hostname: 'evil.test',
  port: 1,
  baseURL: 'https://evil.test',
  url: 'https://evil.test',
  headers: { 'x-evil': '1' },
  defaultHeaders: { 'x-evil': '1' },
  body: 'evil=1',
  data: 'evil',
  query: { evil: 1 },
  ids: { conversationId: 'evil' },
  upload: {},
  accepts: {},
  accept: 'evil/1',
  bucket: 'evil',
  timeout: 1,
  deadline: 1,
  streamIdleTimeout: 1,
  maxRetries: 5,
  signal: new AbortController().signal,
  idempotencyKey: 'evil',
  schema: {},
  onProgress: 1,
  apiKey: 'evil',
  sessionToken: 'evil',
  sessionHeader: { name: 'evil' },
  dispatcher: {},
  agent: {},
  fetch: 1,
  decodeChunk: 1,
  onEvent: 1,
  pacing: 1,
  validation: 'report',
  stream: true,
  duplex: 'half',
  redirect: 'follow',
  upgrade: 'evil',
  servername: 'evil.test',
  expectContinue: true,
  reset: true,
  blob: {},
  scheme: 'Evil',
  mayBeEmpty: true,
  undocumented: true,
  level: 'bogus',
  category: 5,
  cause: 'evil',
};

const prototype = Object.prototype as unknown as Record<string, unknown>;
afterEach(() => {
  for (const key of Object.keys(polluted)) delete prototype[key];
});

const ANSWER = JSON.stringify({ ...completion(), ...contextAnswer() });

/** A service in a thread of its own, whose prototypes stay clean: it tells of every request. */
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

describe('A30: properties on Object.prototype', () => {
  let service: Worker;
  let baseURL = '';
  const arrived: unknown[] = [];
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

    await vi.waitFor(() => expect(arrived).toHaveLength(6));
    expect(arrived.slice(3)).toEqual(arrived.slice(0, 3));
  });

  test('what is not enumerable changes nothing either', async () => {
    const given = { timeout: 5_000 };
    const call = async (gateway: GatewayClient) => {
      await gateway.chat.completions.create(chatParams, given);
      await gateway.request({ method: 'GET', path: '/v1/x' }, given);
    };
    const gateway = new GatewayClient({ apiKey: KEY, baseURL, maxRetries: 0 });
    arrived.length = 0;
    await call(gateway);
    for (const key of ['headers', 'idempotencyKey', 'signal', 'deadline', 'query', 'body', 'accept']) {
      Object.defineProperty(prototype, key, { value: polluted[key], configurable: true, writable: true });
      await call(gateway).finally(() => delete prototype[key]);
    }
    await gateway.close();

    await vi.waitFor(() => expect(arrived).toHaveLength(16));
    for (let at = 2; at < 16; at += 2) expect(arrived.slice(at, at + 2)).toEqual(arrived.slice(0, 2));
  });

  test.each(Object.keys(polluted))('%s changes nothing a given fetch receives', async (key) => {
    const received: unknown[] = [];
    const fetch = async (url: string | URL | Request, init: RequestInit = {}) => {
      // Every name that can be read from it, inherited or not.
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
