import { createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { MockAgent, ProxyAgent } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { APIConnectionError, ContextClient, GatewayClient, type GatewayClientOptions } from '../../src/index.js';
import { leaksOf } from '../helpers/leaks.js';
import { eager, failureOf, KEY, PROMPT, TOKEN } from './world.js';

const baseURL = 'https://service.test';
const GET = { method: 'GET', path: '/v1/things' } as const;
const POST = { method: 'POST', path: '/v1/things', body: { text: PROMPT } } as const;

type Fetch = typeof globalThis.fetch;

const gatewayWith = (options: GatewayClientOptions) =>
  new GatewayClient({ baseURL, apiKey: KEY, maxRetries: 0, ...options }, undefined, eager);

describe('the cause of a connection error', () => {
  test('is what a fetch of the user threw: its name, its words, the line it was thrown at', async () => {
    const fetch: Fetch = async function mine() {
      throw new RangeError('no handler for GET /v1/things');
    };

    const error = await failureOf(gatewayWith({ fetch }).request(GET));

    expect(error).toBeInstanceOf(APIConnectionError);
    expect(error.cause).toMatchObject({ name: 'RangeError', message: 'no handler for GET /v1/things' });
    expect((error.cause as Error).stack).toMatch(/^RangeError: no handler.*\n.*at mine .*causes\.test\.ts/);
  });

  test('shows nothing of the request, whatever the failure says of it', async () => {
    const fetch: Fetch = async (url, init) => {
      const { headers, body } = init as { headers: Record<string, string>; body: string };
      const said = `${String(url)} ${JSON.stringify(headers)} ${body}\n    at ${KEY} (${headers.authorization}:1:1)`;
      throw Object.assign(new Error(said, { cause: new Error(`inside: ${headers.authorization}`) }), { headers, body });
    };
    const context = new ContextClient({ baseURL, sessionToken: TOKEN, maxRetries: 0, fetch }, undefined, eager);
    const options = { headers: { 'x-team-secret': 'team-canary-0123' } };

    const errors = [
      await failureOf(gatewayWith({ fetch }).request(POST, options)),
      await failureOf(context.retrieve('conversation-canary', options)),
    ];

    for (const error of errors) {
      expect(String(error.cause)).toMatch(/inside: .*\*{3}/);
      expect(leaksOf(error, [KEY, TOKEN, 'team-canary-0123', 'conversation-canary', PROMPT])).toEqual([]);
    }
  });

  test("is undici's own where a mock has no answer", async () => {
    const dispatcher = new MockAgent();
    dispatcher.disableNetConnect();

    const error = await failureOf(gatewayWith({ dispatcher }).request(GET));

    expect(error.message).toMatch(/through the dispatcher/);
    expect(String(error.cause)).toMatch(/Mock dispatch not matched/);
    await dispatcher.close();
  });

  test('is read where a test runner gives the platform another Error than ours', async () => {
    const refused = runInNewContext(
      "Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })",
    );
    const fetch: Fetch = () => Promise.reject(refused);

    const error = await failureOf(gatewayWith({ fetch }).request(POST));

    expect(error).toMatchObject({ phase: 'connect', sent: 'no', cause: { name: 'TypeError', code: 'ECONNREFUSED' } });
    expect(error.message).toContain('nothing listens there');
  });
});

describe('a proxy', () => {
  const open: { close(): unknown }[] = [];
  afterEach(() => Promise.all(open.splice(0).map((one) => one.close())));

  async function clientThrough(answer: string): Promise<GatewayClient> {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).once('data', () => socket.end(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const dispatcher = new ProxyAgent(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
    open.push(server, dispatcher, { close: () => [...sockets].map((socket) => socket.destroy()) });
    return gatewayWith({ dispatcher });
  }

  test('that refuses says its status, and the request was not sent', async () => {
    const client = await clientThrough('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');

    const error = await failureOf(client.request(POST));

    expect(error).toMatchObject({ phase: 'connect', sent: 'no' });
    expect(error.message).toMatch(/through the dispatcher: .*proxy/);
    expect(String(error.cause)).toContain('407');
  });

  test('that answers with garbage has not sent the request on', async () => {
    const error = await failureOf((await clientThrough('no HTTP\r\n\r\n')).request(POST));

    expect(error).toMatchObject({ name: 'APIConnectionError', phase: 'connect', sent: 'no' });
  });

  test('that is not there is not taken for the service', async () => {
    const dispatcher = new ProxyAgent('http://127.0.0.1:1');
    open.push(dispatcher);

    const error = await failureOf(gatewayWith({ dispatcher }).request(POST));

    expect(error.message).toContain(`from ${baseURL} through the dispatcher: nothing listens there`);
    expect(String(error.cause)).toContain('127.0.0.1:1');
  });
});

describe('an answer without a web stream, as React Native and node-fetch give it', () => {
  const answer = (status: number, text: string, body?: unknown): Fetch =>
    (async () => ({ status, headers: new Headers(), body, text: async () => text })) as unknown as Fetch;

  test.each([undefined, Readable.from(['{}'])])('is read as a whole (%#)', async (body) => {
    expect(await gatewayWith({ fetch: answer(200, '{"a":"ü"}', body) }).request(GET)).toEqual({ a: 'ü' });
  });

  test('is an error where it says so', async () => {
    const context = (fetch: Fetch) => new ContextClient({ baseURL, sessionToken: TOKEN, maxRetries: 0, fetch });
    const unpin = context(answer(200, '{"success":false,"error":"no such pin"}')).unpin('c', 'm');
    expect((await failureOf(unpin)).message).toContain('no such pin');

    const missing = context(answer(404, '{"success":false,"error":"no such conversation"}')).retrieve('c');
    expect(await failureOf(missing)).toMatchObject({ name: 'NotFoundError' });
  });

  test('is streamed, all at once', async () => {
    const text = 'data: {"choices":[{"index":0,"delta":{"content":"The"}}]}\n\ndata: [DONE]\n\n';
    const messages = [{ role: 'user', content: 'hi' }];
    const stream = await gatewayWith({ fetch: answer(200, text) }).chat.completions.create({
      model: 'm',
      messages,
      stream: true,
    });

    expect((await stream.finalCompletion()).choices[0]?.message.content).toBe('The');
  });
});
