import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { Agent, interceptors, MockAgent, ProxyAgent, RetryAgent } from 'undici';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { APIConnectionError, ContextClient, GatewayClient, type GatewayClientOptions } from '../../src/index.js';
import { leaksOf } from '../helpers/leaks.js';
import { answer, json, raw, rawThenEnd } from './behaviours.js';
import { selfSigned } from './certificate.js';
import { eager, failureOf, GET, KEY, PROMPT, STREAM, serve, TOKEN } from './world.js';

const baseURL = 'https://service.test';
const POST = { method: 'POST', path: '/v1/things', body: { text: PROMPT } } as const;

type Fetch = typeof globalThis.fetch;

const gatewayWith = (options: GatewayClientOptions) =>
  new GatewayClient({ baseURL, apiKey: KEY, maxRetries: 0, ...options }, undefined, eager);

describe('the message of a connection error', () => {
  test.each([
    { error: { name: 'NotCapable', message: 'Requires net access to "service.test:443"' }, says: '--allow-net' },
    { error: { name: 'PermissionDenied', message: 'Requires net access' }, says: '--allow-net' },
    { error: { code: 'ERR_ACCESS_DENIED', message: 'Access to this API has been restricted' }, says: '--allow-net' },
    { error: { message: 'client error (Connect): invalid peer certificate: UnknownIssuer' }, says: 'is not trusted' },
  ])('of $error says $says, and nothing is tried again', async ({ error: fields, says }) => {
    let sent = 0;
    const fetch: Fetch = async () => {
      sent += 1;
      throw Object.assign(new Error(), fields);
    };

    const error = await failureOf(gatewayWith({ fetch, maxRetries: 2 }).request(GET));

    expect(error.message).toContain(says);
    expect(error).toMatchObject({ retryable: false });
    expect(sent).toBe(1);
  });
});

test.each([
  ['client error (Connect): tcp connect error: Connection refused (os error 111)', 'the connection was refused'],
  ['client error (Connect): dns error: failed to lookup address information', 'the host was not found'],
  ['client error (Connect): received corrupt message of type InvalidContentType', 'the server does not use TLS'],
  ['client error (SendRequest): connection closed before message completed', 'the server closed the connection'],
  ['Connection reset by peer (os error 104)', 'the connection was reset'],
])("Deno's words %j have the meaning of a code", async (message, says) => {
  const fetch: Fetch = async () => {
    throw Object.assign(new TypeError('fetch failed'), { cause: new Error(message) });
  };

  expect((await failureOf(gatewayWith({ fetch }).request(GET))).message).toContain(says);
});

describe.each([
  ['undici', undefined],
  ['fetch', (url: string, init: RequestInit) => fetch(url, init)],
])('a response through %s', (_, given) => {
  const world = serve();

  test('that begins with a 100 that no request asked for says so, and is not tried again', async () => {
    world.server.answers(rawThenEnd('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'));

    const error = await failureOf(world.gateway({ fetch: given as Fetch, maxRetries: 2 }).request(GET));

    expect(error.message).toContain('the response begins with "100 Continue", which no request asked for');
    expect(error).toMatchObject({ retryable: false, attempts: [{}] });
  });

  const large = `x-a: ${'a'.repeat(20_000)}\r\n`;
  const whole = (headers: string, body: Uint8Array | string) =>
    raw(`HTTP/1.1 200 OK\r\n${headers}content-length: ${body.length}\r\n\r\n`, body);
  test.each([
    { of: 'headers that are too large', sends: whole(large, '{}'), says: '--max-http-header-size=65536 (UND_ERR_H' },
    {
      of: 'text that is declared as gzip',
      sends: whole('content-encoding: gzip\r\n', '{"a":1}'),
      says: 'not encoded as its content-encoding says; let the service or the proxy send the right header (Z_DATA_ERROR). The cause is',
    },
    {
      of: 'text that is declared as brotli',
      sends: whole('content-encoding: br\r\n', '{"a":1} and more text'),
      says: 'not encoded as its content-encoding says',
    },
    {
      of: 'another protocol',
      sends: rawThenEnd('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      says: 'the response switches to another protocol (101)',
    },
  ])('with $of is named, and not tried again', async ({ sends, says }) => {
    world.server.answers(sends, sends);

    const error = await failureOf(world.gateway({ fetch: given as Fetch, maxRetries: 1 }).request(GET));

    expect(error.message).toContain(says);
    expect(error).toMatchObject({ name: 'APIConnectionError', retryable: false, attempts: [{}] });
  });

  test('with a gzip whose end was changed is tried again, because the network may have damaged it', async () => {
    const body = Buffer.concat([gzipSync('{"a":1}').subarray(0, -8), Buffer.alloc(8, 1)]);
    world.server.answers(whole('content-encoding: gzip\r\n', body), whole('', '{"a":1}'));

    expect(await world.gateway({ fetch: given as Fetch, maxRetries: 1 }).request(GET)).toEqual({ a: 1 });
  });
});

describe('https:// is suggested', () => {
  const world = serve();
  const HINT = 'if the port expects TLS, use https:// in baseURL';

  test.each([
    { to: 'a connection that is closed', sends: rawThenEnd(''), isHint: true },
    { to: 'what does not begin as HTTP', sends: raw(Buffer.of(0x15, 3, 1, 0, 2, 2, 10)), isHint: true },
    { to: 'a header that is not valid', sends: raw('HTTP/1.1 200 OK\r\nx y: 1\r\n\r\n'), isHint: false },
    { to: 'headers that are too large', sends: raw(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}`), isHint: false },
  ])('after $to: $isHint', async ({ sends, isHint }) => {
    world.server.answers(sends);

    const error = await failureOf(world.gateway({ maxRetries: 0 }).request(GET));

    expect(error.message.includes(HINT)).toBe(isHint);
  });

  test('not to a client that has had a response from there', async () => {
    world.server.answers(json({}), rawThenEnd(''));
    const gateway = world.gateway({ maxRetries: 0 });
    await gateway.request(GET);

    const error = await failureOf(gateway.request(GET));

    expect(error.message).toContain('the server closed the connection (UND_ERR_SOCKET)');
  });
});

describe('a server that wants a client certificate', () => {
  afterEach(() => vi.unstubAllEnvs());

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('in %s is named, and not asked again', async (maxVersion) => {
    const server = createServer({ ...selfSigned(), requestCert: true, rejectUnauthorized: true, maxVersion });
    await new Promise<void>((resolve) => server.listen(0, resolve));
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const gateway = gatewayWith({
      baseURL: `https://localhost:${(server.address() as AddressInfo).port}`,
      maxRetries: 1,
    });

    const error = await failureOf(gateway.request(GET));

    expect(error.message).toMatch(
      /want(s|) a client certificate.*dispatcher: new Agent\(\{ connect: \{ cert, key \} \}\)/,
    );
    expect(error).toMatchObject({ retryable: false, attempts: [{}] });
    await gateway.close();
    server.close();
  });
});

describe('an error that carries a response is read as one', () => {
  const world = serve();
  const MISSING = { error: { message: 'No such thing.', type: 'invalid_request_error', code: 'nope' } };

  test.each([
    ['responseError', () => new Agent().compose(interceptors.responseError())],
    ['retry', () => new Agent().compose(interceptors.retry({ maxRetries: 0, statusCodes: [404] }))],
    ['RetryAgent', () => new RetryAgent(new Agent(), { maxRetries: 0, statusCodes: [404] })],
  ])('of undici: %s', async (kind, create) => {
    world.server.answers(answer(404, JSON.stringify(MISSING)));
    const dispatcher = create();

    const error = await failureOf(world.gateway({ dispatcher }).request(POST));
    await dispatcher.destroy();

    expect(error).toMatchObject({ name: 'NotFoundError', status: 404, sent: 'no' });
    if (kind === 'responseError') expect(error).toMatchObject({ code: 'nope', body: MISSING });
  });

  test.each<[of: string, fail: (url: string, response: Response) => unknown]>([
    ['ky', (_, response) => ({ response })],
    ['ofetch', async (_, response) => ({ data: await response.json(), response })],
    [
      'undici, in the cause',
      (_, { headers, status: statusCode }) => ({
        cause: Object.assign(new Error(), { statusCode, headers: Object.fromEntries(headers), body: MISSING }),
      }),
    ],
  ])('of a given fetch: %s', async (_, fail) => {
    const fetch: Fetch = async (url) => {
      const fields = await fail(String(url), Response.json(MISSING, { status: 404 }));
      throw Object.assign(new Error('Request failed with status code 404'), fields);
    };

    const error = await failureOf(gatewayWith({ fetch }).request(POST));

    expect(error).toMatchObject({ name: 'NotFoundError', status: 404, code: 'nope', sent: 'no' });
  });

  test('but not the response of another address, which the fetch has called before', async () => {
    const response = Object.defineProperty(new Response('', { status: 401 }), 'url', { value: 'https://login.test/' });
    const fetch: Fetch = () => Promise.reject(Object.assign(new Error('Request failed'), { response }));

    expect(await failureOf(gatewayWith({ fetch }).request(POST))).toMatchObject({ name: 'APIConnectionError' });
  });
});

describe('the cause of a connection error', () => {
  test("is the error that the user's fetch threw, with its name, message and stack", async () => {
    const fetch: Fetch = async function mine() {
      throw new RangeError('no handler for GET /v1/things');
    };

    const error = await failureOf(gatewayWith({ fetch }).request(GET));

    expect(error).toBeInstanceOf(APIConnectionError);
    expect(error.cause).toMatchObject({ name: 'RangeError', message: 'no handler for GET /v1/things' });
    expect((error.cause as Error).stack).toMatch(/^RangeError: no handler.*\n.*at mine .*causes\.test\.ts/);
  });

  test('does not contain the request, which a stack keeps after the message has changed', async () => {
    const fetch: Fetch = async (_, init) => {
      const error = new Error(`cannot send ${init?.body}`);
      expect(error.stack).toContain(PROMPT);
      error.message = 'cannot send the request';
      throw error;
    };

    const error = await failureOf(gatewayWith({ fetch }).request(POST));

    expect((error.cause as Error).stack).toMatch(/^Error: cannot send the request\n +at .*causes\.test\.ts/);
    expect(leaksOf(error, [PROMPT])).toEqual([]);
  });

  const params = { model: 'm', messages: [{ role: 'user' as const, content: `the "secret" ${PROMPT}` }] };
  type Quote = (url: string, init: { headers: Record<string, string>; body: string }) => string;

  test.each<[how: string, quote: Quote]>([
    ['on several lines', (url, { headers }) => `no match for ${JSON.stringify({ url, headers }, null, 2)}`],
    ['in lower case', (_, { headers }) => String(Object.values(headers)).toLowerCase()],
    ['in a URL', (_, { headers }) => encodeURIComponent(JSON.stringify(headers))],
  ])('does not contain the credential if the error quotes the headers %s', async (_, quote) => {
    const fetch: Fetch = async (url, init) => {
      const said = quote(String(url), init as never);
      throw Object.assign(new Error(`it failed\n    at ${said}`, { cause: new Error(said) }), { code: said, init });
    };
    const sessionToken = 'tok/en+AAAA/session-canary==';
    const session = { sessionToken, sessionHeader: { name: 'x-session' } };
    const context = new ContextClient({ baseURL, ...session, maxRetries: 0, fetch }, undefined, eager);
    const options = { headers: { 'x-team-secret': 'team/canary0123' } };

    const errors = [
      await failureOf(gatewayWith({ fetch }).chat.completions.create(params, options)),
      await failureOf(context.retrieve("conversation o'canary", options)),
      await failureOf(context.pin('conversation-canary', 'message-canary-0123456789', {}, options)),
    ];

    const secrets = [KEY, sessionToken, encodeURIComponent(sessionToken)];
    for (const error of errors) expect(leaksOf(error, [...secrets, KEY.toLowerCase()])).toEqual([]);
  });

  test('does not contain the text of a message if the error quotes the body', async () => {
    const fetch: Fetch = async (_, init) => {
      throw new Error(`no handler for ${String(init?.body)}`);
    };

    const error = await failureOf(gatewayWith({ fetch }).chat.completions.create(params));

    expect((error.cause as Error).message).toMatch(/^no handler for .*…/);
    expect(leaksOf(error, [PROMPT])).toEqual([]);
  });

  const symbol = Symbol('request');
  class Printed extends Error {
    constructor(private readonly secret: string) {
      super('x');
    }
    toJSON() {
      return this.secret;
    }
  }
  test.each<[where: string, failure: (secret: string) => Error]>([
    ['in a field named by a symbol', (secret) => Object.assign(new Error('x'), { [symbol]: secret })],
    ['in a cause that is a string', (secret) => new Error('x', { cause: secret })],
    ['in a cause that is an object', (secret) => new Error('x', { cause: { headers: [secret] } })],
    ['in the errors of an AggregateError', (secret) => new AggregateError([new Error(secret)], 'x')],
    [
      'in a field that is not enumerable',
      (secret) => Object.defineProperty(new Error('x'), 'request', { value: secret }),
    ],
    ['in the result of toJSON', (secret) => new Printed(secret)],
  ])('does not contain a credential that the error holds %s', async (_, failure) => {
    const fetch: Fetch = (_, init) => Promise.reject(failure(new Headers(init?.headers).get('authorization') ?? ''));

    const error = await failureOf(gatewayWith({ fetch }).request(GET));

    expect(error.cause).toBeInstanceOf(Error);
    expect(leaksOf(error.cause, [KEY])).toEqual([]);
  });

  test('is undefined if reading the error throws', async () => {
    const broken = {
      name: 'Broken',
      get message() {
        throw new Error(KEY);
      },
    };

    const error = await failureOf(gatewayWith({ fetch: () => Promise.reject(broken) }).request(GET));

    expect(error.name).toBe('APIConnectionError');
    expect(error.cause).toBeUndefined();
  });

  test("is undici's own error if a MockAgent has no matching response", async () => {
    const dispatcher = new MockAgent();
    dispatcher.disableNetConnect();

    const error = await failureOf(gatewayWith({ dispatcher }).request(GET));

    expect(error.message).toMatch(
      /through the dispatcher: no mock matches the request; .*The cause is MockNotMatchedError: Mock dispatch not matched for path '\/v1\/things'/,
    );
    expect(error).toMatchObject({ sent: 'no', retryable: false });
    expect(String(error.cause)).toMatch(/Mock dispatch not matched/);
    await dispatcher.close();
  });

  test('is read even if the error comes from another realm, as in some test runners', async () => {
    const refused = runInNewContext(
      "Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })",
    );
    const fetch: Fetch = () => Promise.reject(refused);

    const error = await failureOf(gatewayWith({ fetch }).request(POST));

    expect(error).toMatchObject({ sent: 'maybe', cause: { name: 'TypeError', code: 'ECONNREFUSED' } });
    expect(error.message).toContain('the connection was refused');
  });
});

describe('a proxy', () => {
  const world = serve();
  const through = async (url: string, maxRetries = 0) => {
    const dispatcher = new ProxyAgent(url);
    const error = await failureOf(gatewayWith({ dispatcher, maxRetries }).request(POST));
    await dispatcher.close();
    return error;
  };

  test.each([
    { status: 407, says: 'it wants credentials', attempts: 1 },
    { status: 403, says: 'it allows no connection to this host', attempts: 1 },
    { status: 429, says: 'it allows no connection to this host', attempts: 2 },
    { status: 502, says: 'it cannot reach the service', attempts: 2 },
  ])('that rejects the tunnel with $status is named, and nothing was sent', async ({ status, says, attempts }) => {
    world.server.answers(rawThenEnd(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`));

    const error = await through(world.server.url, 1);

    expect(error).toMatchObject({ phase: 'connect', sent: 'no', attempts: { length: attempts } });
    expect(error.message).toContain(
      `through the dispatcher: the proxy rejected the connection with status ${status}; ${says}`,
    );
    expect(String(error.cause)).toContain(`${status}`);
  });

  test('that responds with garbage has not forwarded the request', async () => {
    world.server.answers(rawThenEnd('no HTTP\r\n\r\n'));

    const error = await through(world.server.url);

    expect(error).toMatchObject({ name: 'APIConnectionError', phase: 'connect', sent: 'no' });
  });

  test('that does not run is not mistaken for the service', async () => {
    const error = await through('http://127.0.0.1:1');

    expect(error.message).toContain(
      `from ${baseURL} through the dispatcher: the connection was refused; this is not the address of baseURL, so check the proxy`,
    );
    expect(String(error.cause)).toContain('127.0.0.1:1');
  });
});

describe('a response without a web stream, as from React Native and node-fetch', () => {
  const answer = (status: number, text: string, body?: unknown): Fetch =>
    (async () => ({ status, headers: new Headers(), body, text: async () => text })) as unknown as Fetch;

  test.each([undefined, Readable.from(['{}'])])('is read as a whole (%#)', async (body) => {
    expect(await gatewayWith({ fetch: answer(200, '{"a":"ü"}', body) }).request(GET)).toEqual({ a: 'ü' });
  });

  test('is an error if its body or status says so', async () => {
    const context = (fetch: Fetch) => new ContextClient({ baseURL, sessionToken: TOKEN, maxRetries: 0, fetch });
    const unpin = context(answer(200, '{"success":false,"error":"no such pin"}')).unpin('c', 'm');
    expect((await failureOf(unpin)).message).toContain('no such pin');

    const missing = context(answer(404, '{"success":false,"error":"no such conversation"}')).retrieve('c');
    expect(await failureOf(missing)).toMatchObject({ name: 'NotFoundError' });
  });

  test('is read as a stream, whose chunks come all at once', async () => {
    const text = 'data: {"choices":[{"index":0,"delta":{"content":"The"}}]}\n\ndata: [DONE]\n\n';
    const stream = await gatewayWith({ fetch: answer(200, text) }).chat.completions.create(STREAM);

    expect((await stream.finalCompletion()).choices[0]?.message.content).toBe('The');
  });
});
