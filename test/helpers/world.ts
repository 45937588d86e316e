import { ContextClient, type ContextClientOptions, GatewayClient, type GatewayClientOptions } from 'context-gateway';
import { createEmulator, type EmulatorOptions } from 'context-gateway-emulator';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

/** The emulator on a local port, with both clients. It is reset before every test. */
export function emulatedService(
  clientOptions: GatewayClientOptions & ContextClientOptions,
  options: EmulatorOptions = {},
) {
  const emulator = createEmulator({ seed: 'contract', now: '2026-01-15T10:00:00.000Z', ...options });
  let baseURL = '';
  beforeAll(async () => {
    baseURL = (await emulator.listen({ port: 0 })).url;
  });
  beforeEach(() => emulator.reset());
  const answered: string[] = [];
  afterEach(() => {
    for (const { method, path, status, headers } of emulator.requests)
      if (status === 200) answered.push(`${method} ${path.split('?')[0]} ${headers.authorization}`);
  });
  const open: { close(): Promise<void> }[] = [];
  afterAll(async () => {
    await Promise.all(open.map((client) => client.close()));
    await emulator.close();
  });

  const keep = <Client extends { close(): Promise<void> }>(client: Client): Client => {
    open.push(client);
    return client;
  };
  return {
    emulator,
    get baseURL() {
      return baseURL;
    },
    gateway: (more: GatewayClientOptions = {}) =>
      keep(new GatewayClient({ baseURL, apiKey: emulator.apiKeys.secret, maxRetries: 0, ...clientOptions, ...more })),
    context: (more: ContextClientOptions = {}) =>
      keep(
        new ContextClient({ baseURL, sessionToken: emulator.sessionToken, maxRetries: 0, ...clientOptions, ...more }),
      ),
    /** The endpoints under `prefix` that no earlier test called with success and this `authorization`. */
    async uncalled(prefix: string, authorization: string): Promise<string[]> {
      const response = await emulator.fetch('http://127.0.0.1/_emulator/openapi.json');
      const { paths } = (await response.json()) as { paths: Record<string, object> };
      const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      return endpoints.filter((endpoint) => {
        const called = new RegExp(`^${endpoint.replace(/\{\w+\}/g, '[^/]+')} ${authorization.replaceAll('*', '\\*')}$`);
        return endpoint.includes(` ${prefix}/`) && !answered.some((request) => called.test(request));
      });
    },
    /** The last received request. */
    get last() {
      const request = emulator.requests.at(-1);
      if (request === undefined) throw new Error('no request was received');
      return request;
    },
  };
}
