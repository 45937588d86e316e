import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { GatewayClient } from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';
import { EnvHttpProxyAgent, MockAgent } from 'undici';
import { afterEach, expect, test, vi } from 'vitest';

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
