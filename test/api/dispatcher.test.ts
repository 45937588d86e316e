import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer, type Server as NetServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { APIError, GatewayClient } from 'context-gateway';
import { Agent, type Dispatcher, EnvHttpProxyAgent, interceptors, MockAgent, ProxyAgent, RetryAgent } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { BASE, failureOf, gatewayAt } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';
import { Firehose } from '../stream/firehose.js';
import { MEGABYTE, PARAMS } from '../stream/measure.js';
import { chunk, DONE, event, finish } from '../stream/script.js';

const world = emulatedService({});
afterEach(() => vi.unstubAllEnvs());

const { retry, redirect, dns, decompress } = interceptors;
const TRIES = { minTimeout: 1, maxRetries: 1 };
const GET = { method: 'GET', path: '/v1/things' } as const;

/** Listens on a free port, and returns its URL. */
async function listen(server: NetServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An HTTP proxy that tunnels, and records the target of every tunnel. */
async function startProxy() {
  const tunnels: string[] = [];
  const server = createServer().on('connect', (request, socket) => {
    const target = request.url ?? '';
    tunnels.push(target);
    const [host, port] = target.split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  return { tunnels, url: await listen(server), close: () => server.close() };
}

test('HTTP_PROXY is used with an EnvHttpProxyAgent as the dispatcher, and ignored without it', async () => {
  const proxy = await startProxy();
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, proxy.url);
  for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '');

  expect((await world.gateway().presets.list()).length).toBeGreaterThan(0);
  expect(proxy.tunnels).toEqual([]);

  const dispatcher = new EnvHttpProxyAgent();
  expect((await world.gateway({ dispatcher }).presets.list()).length).toBeGreaterThan(0);
  expect(proxy.tunnels).toEqual([new URL(world.baseURL).host]);

  await dispatcher.destroy();
  proxy.close();
});

/** undici's places for the dispatcher of all requests. Its version 6 knows only the first. */
const PLACES = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));
const globals = globalThis as unknown as Record<symbol, unknown>;

async function withAppWide(dispatcher: unknown, places: readonly symbol[], run: () => Promise<void>): Promise<void> {
  const before = PLACES.map((place) => globals[place]);
  for (const place of PLACES) globals[place] = places.includes(place) ? dispatcher : undefined;
  await run().finally(() => {
    for (const [at, place] of PLACES.entries()) globals[place] = before[at];
  });
}

/** Node 26 has undici 8, whose `fetch` ignores the dispatcher of a version before 7. */
const usesOlder = Number.parseInt(process.versions.undici ?? '', 10) < 8;

describe.each([
  { version: 'a newer undici', places: PLACES },
  ...(usesOlder ? [{ version: 'an older undici, which only fetch can use', places: PLACES.slice(0, 1) }] : []),
])('the dispatcher of all requests, set with $version', ({ places }) => {
  test.each([
    { kind: 'a ProxyAgent', create: (uri: string) => new ProxyAgent({ uri, proxyTunnel: true }) },
    {
      kind: 'an object without a prototype',
      create: (uri: string) => {
        const agent = new ProxyAgent({ uri, proxyTunnel: true });
        const dispatcher: ProxyAgent = Object.create(null);
        return Object.assign(dispatcher, { dispatch: agent.dispatch.bind(agent), destroy: () => agent.destroy() });
      },
    },
  ])('is used if it is $kind', async ({ create }) => {
    const proxy = await startProxy();
    const dispatcher = create(proxy.url);
    const own = new Agent();

    await withAppWide(dispatcher, places, async () => {
      await world.gateway({ dispatcher: own }).presets.list();
      expect(proxy.tunnels).toEqual([]);
      expect((await world.gateway().presets.list()).length).toBeGreaterThan(0);
      expect(proxy.tunnels).toEqual([new URL(world.baseURL).host]);
    });

    await Promise.all([own.destroy(), dispatcher.destroy()]);
    proxy.close();
  });

  test('is used if it is an Agent with interceptors, and ignored if it is a plain one', async () => {
    const gateway = world.gateway();
    const agent = new Agent();
    const sent = vi.fn();
    const noting = agent.compose((dispatch) => (options, handler) => {
      sent(options.path);
      return dispatch(options, handler);
    });

    await withAppWide(noting, places, async () => void (await gateway.presets.list()));
    expect(sent.mock.calls).toEqual([['/v1/presets']]);
    const plain = new Agent();
    const dispatched = vi.spyOn(Object.getPrototypeOf(Agent.prototype), 'dispatch');
    await withAppWide(plain, places, async () => void (await gateway.presets.list()));
    expect(dispatched.mock.contexts).not.toContain(plain);

    await Promise.all([agent.destroy(), plain.destroy()]);
  });
});

describe('the error of a connection that fails', () => {
  const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];
  const HTTPS_PROXY = 'http://proxy.test:3128';
  const messageOf = async (environment: Record<string, string>, options: object = {}): Promise<string> => {
    for (const name of NAMES) vi.stubEnv(name, environment[name]);
    const baseURL = 'https://no-such-host.invalid';
    const gateway = gatewayAt({ baseURL, ...options });
    const error = await failureOf(gateway.request(GET));
    await gateway.close();
    return (error as Error).message;
  };

  test('mentions a proxy that is not used', async () => {
    expect(await messageOf({ HTTPS_PROXY, NO_PROXY: 'other.invalid,host.invalid' })).toMatch(
      /; HTTPS_PROXY is set, but Node uses it only with NODE_USE_ENV_PROXY=1/,
    );
  });

  test.each<[environment: Record<string, string>, options?: object]>([
    [{ HTTP_PROXY: HTTPS_PROXY }],
    [{ HTTPS_PROXY, NO_PROXY: '*' }],
    [{ HTTPS_PROXY, no_proxy: 'other.test, .invalid' }],
    [{ HTTPS_PROXY, NO_PROXY: 'no-such-host.invalid:443' }],
    [{ HTTPS_PROXY }, { baseURL: 'https://localhost:1' }],
    [{ HTTPS_PROXY }, { dispatcher: new Agent() }],
  ])('mentions none otherwise: %o', async (environment, options) => {
    expect(await messageOf(environment, options)).not.toContain('_PROXY');
  });

  test('mentions https:// if a port that expects TLS gets plain HTTP', async () => {
    const server = createSocketServer((socket) => socket.once('data', () => socket.destroy())); // as TLS servers do

    expect(await messageOf({}, { baseURL: await listen(server) })).toContain('use https:// in baseURL');
    server.close();
  });

  test.each(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])('names whose limit it was: %s', async (code) => {
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) }));

    expect(await messageOf({}, { fetch })).toContain('limit of fetch or the dispatcher itself (300 s by default)');
  });
});

test("undici's MockAgent can replace the service", async () => {
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  const reply = { headers: { 'content-type': 'application/json' } };
  const service = dispatcher.get(BASE);
  service.intercept({ path: '/v1/presets' }).reply(200, { data: [{ id: 'a' }] }, reply);

  expect(await gatewayAt({ dispatcher }).presets.list()).toEqual([{ id: 'a' }]);
  await dispatcher.close();
});

// undici 7 runs on every Node that this package supports. compat/ tests its first version, and undici 8.
describe.each([
  { kind: 'an Agent', create: () => new Agent() },
  { kind: 'a ProxyAgent', create: (proxy: string) => new ProxyAgent(proxy) },
  { kind: 'a RetryAgent', create: () => new RetryAgent(new Agent(), TRIES) },
  { kind: 'interceptors', create: () => new Agent().compose(retry(TRIES), redirect(), dns(), decompress()) },
])('through $kind', ({ create }) => {
  const text = 'x'.repeat(3_000_000);
  const server = createServer((request, response) => {
    response.setHeader('x-request-id', 'req_1').setHeader('content-type', 'application/json');
    if (request.url === '/v1/large')
      response.setHeader('content-encoding', 'gzip').end(gzipSync(JSON.stringify({ text })));
    else if (request.url === '/v1/refused') response.writeHead(404, { 'set-cookie': ['a', 'b'] }).end('{}');
    else if (request.url === '/v1/cut')
      response.writeHead(200, { 'content-length': 9 }).write('{', () => request.destroy());
  });
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let dispatcher: Dispatcher;
  let gateway: GatewayClient;

  beforeAll(async () => {
    proxy = await startProxy();
    dispatcher = create(proxy.url);
    gateway = gatewayAt({ baseURL: await listen(server), dispatcher });
  });
  afterAll(async () => {
    await Promise.all([gateway.close(), dispatcher.destroy()]);
    proxy.close();
    server.close();
  });

  test('a compressed response is decoded, an error keeps its headers, and one that breaks off is an error', async () => {
    const { data, response } = await gateway.request({ method: 'GET', path: '/v1/large' }).withResponse();
    const refused = (await failureOf(gateway.request({ method: 'GET', path: '/v1/refused' }))) as APIError;
    const cut = await failureOf(gateway.request({ method: 'GET', path: '/v1/cut' }));

    expect(data).toEqual({ text });
    expect(response.requestId).toBe('req_1');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(refused).toMatchObject({ name: 'NotFoundError', requestId: 'req_1' });
    expect(refused.headers.getSetCookie()).toEqual(['a', 'b']);
    expect(cut).toMatchObject({ name: 'APIConnectionError', phase: 'body', sent: 'yes' });
  });

  test('an abort closes the connection to the service', async () => {
    const controller = new AbortController();
    const call = gateway.request({ method: 'GET', path: '/v1/silent' }, { signal: controller.signal });
    const failed = expect(call).rejects.toMatchObject({ name: 'AbortError' });
    const closed = new Promise((resolve) => {
      server.once('request', (request) => {
        request.once('close', resolve);
        controller.abort();
      });
    });

    await failed;
    await closed;
  });

  test('a slow reader applies backpressure to the service', async () => {
    const EVENT = event(chunk([{ index: 0, delta: { content: 'word ' } }], { padding: 'x'.repeat(9_900) }));
    const firehose = new Firehose(EVENT, 4_000, finish() + DONE);
    const client = gatewayAt({ baseURL: await firehose.start(), dispatcher });
    let read = 0;
    let ahead = 0;

    for await (const _ of await client.chat.completions.create(PARAMS)) {
      if (read++ % 1_000 !== 0) continue;
      ahead = Math.max(ahead, (await firehose.standstill()) - read * EVENT.length);
    }

    expect(read).toBe(4_001);
    // The kernel buffers up to 10 MB in each of the two connections that a proxy has.
    expect(ahead).toBeLessThan(24 * MEGABYTE);
    await client.close();
    await firehose.close();
  });
});

type Handler = Record<string, ((...given: unknown[]) => unknown) | undefined>;
const invalidHandler = Object.assign(new Error('invalid onHeaders method'), { code: 'UND_ERR_INVALID_ARG' });
const refuse = () => {
  throw invalidHandler;
};

test.each([
  { kind: 'an Agent', dispatch: (_: never, handler: Handler) => Boolean(handler.onError?.(invalidHandler)) },
  { kind: 'an interceptor', dispatch: refuse },
  {
    kind: 'a MockAgent',
    dispatch: (_: never, handler: Handler) => {
      handler.onConnect?.((error: unknown) => handler.onError?.(error));
      return Boolean(handler.onHeaders?.(200, [], () => {}));
    },
  },
])('$kind of undici 6 is rejected, and the error names the supported majors', async ({ dispatch }) => {
  const error = await failureOf(gatewayAt({ dispatcher: { dispatch } }).request(GET));

  expect(error).toMatchObject({ name: 'ConfigurationError' });
  expect(String(error)).toContain('must be from undici 7 or 8');
});

test('headers that undici decoded as UTF-8 have one character per byte, as with fetch', async () => {
  const controller = { abort: () => {}, pause: () => {}, resume: () => {} };
  const dispatch = (_: never, handler: Handler) => {
    handler.onRequestStart?.(controller, null);
    handler.onResponseStart?.(controller, 200, { 'x-city': '東京' });
    handler.onResponseData?.(controller, new TextEncoder().encode('{}'));
    handler.onResponseEnd?.(controller, {});
    return true;
  };
  const { response } = await gatewayAt({ dispatcher: { dispatch } }).request(GET).withResponse();

  expect(Buffer.from(response.headers.get('x-city') ?? '', 'latin1').toString()).toBe('東京');
});
