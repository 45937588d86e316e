import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type APIError, GatewayClient } from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';
import { Agent, EnvHttpProxyAgent, MockAgent } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllEnvs());

/** A proxy that tunnels, and counts. */
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { tunnels, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

test('the proxy of the environment is used with the documented line, and by nobody without it', async () => {
  const emulator = createEmulator();
  const { url: baseURL } = await emulator.listen({ port: 0 });
  const proxy = await startProxy();
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, proxy.url);
  for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '');
  const apiKey = emulator.apiKeys.secret;

  const direct = new GatewayClient({ baseURL, apiKey });
  expect((await direct.presets.list()).length).toBeGreaterThan(0);
  expect(proxy.tunnels).toEqual([]);

  const dispatcher = new EnvHttpProxyAgent();
  const proxied = new GatewayClient({ baseURL, apiKey, dispatcher });
  expect((await proxied.presets.list()).length).toBeGreaterThan(0);
  expect(proxy.tunnels).toEqual([new URL(baseURL).host]);

  await Promise.all([direct.close(), proxied.close(), dispatcher.destroy()]);
  proxy.close();
  await emulator.close();
});

test("undici's MockAgent answers in the service's place", async () => {
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  const reply = { headers: { 'content-type': 'application/json' } };
  dispatcher
    .get('https://service.test')
    .intercept({ path: '/v1/presets' })
    .reply(200, { data: [{ id: 'a' }] }, reply);
  const gateway = new GatewayClient({ baseURL: 'https://service.test', apiKey: 'svc_sk_test12345', dispatcher });

  expect(await gateway.presets.list()).toEqual([{ id: 'a' }]);

  await gateway.close();
  await dispatcher.close();
});

type Handler = Record<string, ((...given: unknown[]) => unknown) | undefined>;
const OLDER = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onError'];
const NEWER = ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError'];

describe.each([
  { version: 'undici 6, which knows the older form of a handler only', known: OLDER },
  { version: 'undici 8, which knows the newer form of a handler only', known: NEWER },
])('a dispatcher of $version', ({ known }) => {
  const text = 'x'.repeat(3_000_000);
  const server = createServer((request, response) => {
    response.setHeader('x-request-id', 'req_1').setHeader('content-type', 'application/json');
    if (request.url === '/v1/large') response.end(JSON.stringify({ text }));
    else if (request.url === '/v1/refused') response.writeHead(404, { 'set-cookie': ['a', 'b'] }).end('{}');
    else if (request.url === '/v1/cut')
      response.writeHead(200, { 'content-length': 9 }).write('{', () => request.destroy());
  });
  const agent = new Agent();
  const dispatcher = {
    dispatch: (options: never, handler: Handler) =>
      agent.dispatch(options, Object.fromEntries(known.map((name) => [name, handler[name]?.bind(handler)]))),
  };
  let gateway: GatewayClient;

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    gateway = new GatewayClient({ baseURL, apiKey: 'svc_sk_test12345', dispatcher, maxRetries: 0 });
  });
  afterAll(async () => {
    await Promise.all([gateway.close(), agent.destroy()]);
    server.close();
  });

  test('answers, however large', async () => {
    const { data, response } = await gateway.request({ method: 'GET', path: '/v1/large' }).withResponse();

    expect(data).toEqual({ text });
    expect(response.requestId).toBe('req_1');
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  test('refuses and breaks off', async () => {
    const refused = await gateway
      .request({ method: 'GET', path: '/v1/refused' })
      .catch((error: unknown) => error as APIError);
    expect(refused).toMatchObject({ name: 'NotFoundError', requestId: 'req_1' });
    expect((refused as APIError).headers.getSetCookie()).toEqual(['a', 'b']);
    await expect(gateway.request({ method: 'GET', path: '/v1/cut' })).rejects.toMatchObject({
      name: 'APIConnectionError',
      phase: 'body',
      sent: 'yes',
    });
  });

  test('is told of an abort', async () => {
    const controller = new AbortController();
    const call = gateway.request({ method: 'GET', path: '/v1/silent' }, { signal: controller.signal });
    const closed = new Promise((resolve) => server.once('request', (request) => request.once('close', resolve)));
    setTimeout(() => controller.abort(), 20);

    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await closed;
  });
});
