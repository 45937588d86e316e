import { Agent, buildConnector } from 'undici';
import { afterEach, expect, test, vi } from 'vitest';
import { ContextClient, GatewayClient } from '../../src/index.js';
import { json } from './behaviours.js';
import { FaultServer } from './fault-server.js';
import { eager, failureOf, GET, KEY, serve } from './world.js';

/** A program with these packages beside its bundle, and no others. */
function installed(packages: Record<string, unknown>): void {
  const find = (name: string) => {
    if (Object.hasOwn(packages, name)) return packages[name];
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
  };
  const builtin = process.getBuiltinModule;
  const replaced = (name: string) => (name === 'node:module' ? { createRequire: () => find } : builtin(name));
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(replaced as typeof builtin);
}

const world = serve();

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('a client tells what it sends through', async () => {
  const dispatcher = new Agent();
  const options = { baseURL: 'http://127.0.0.1:9', apiKey: KEY };

  expect(new GatewayClient(options).engine).toBe('undici');
  expect(new GatewayClient({ ...options, dispatcher }).engine).toBe('dispatcher');
  expect(new GatewayClient({ ...options, fetch: globalThis.fetch }).engine).toBe('fetch');
  expect(new ContextClient({ baseURL: options.baseURL, sessionToken: 'token' }).engine).toBe('undici');
  vi.spyOn(globalThis, 'fetch');
  expect(new GatewayClient(options).engine).toBe('fetch');
  await dispatcher.close();
});

test.each([
  { undici: 'is not installed', packages: {}, why: 'undici was not found' },
  {
    undici: 'is of an older major version',
    packages: {
      'undici/package.json': { version: '6.21.0' },
      'undici/lib/dispatcher/agent.js': Agent,
      'undici/lib/core/connect.js': buildConnector,
    },
    why: 'undici cannot be used (version 6.21.0 is not supported)',
  },
  {
    undici: 'has moved its files',
    packages: { 'undici/package.json': { version: '7.99.0' } },
    why: 'undici was not found',
  },
])('calls succeed where undici $undici, and the log says so once', async ({ packages, why }) => {
  world.server.answers(json({ things: [] }));
  const print = vi.spyOn(console, 'error').mockReturnValue();
  vi.stubEnv('CONTEXT_GATEWAY_LOG', 'debug');
  installed(packages);
  const client = new GatewayClient({ baseURL: world.server.url, apiKey: KEY }, undefined, eager);

  expect(await client.request(GET)).toEqual({ things: [] });
  expect(await client.withOptions({ timeout: 1_000 }).request(GET)).toEqual({ things: [] });

  expect(client.engine).toBe('fetch');
  const lines = print.mock.calls.flat().filter((line) => line.startsWith('context-gateway:'));
  expect(lines).toEqual([`context-gateway: ${why}, so requests go through the global fetch`]);
  await client.close();
});

test('without undici, a refused connection still proves that nothing was sent', async () => {
  const closed = await FaultServer.start();
  const { url: baseURL } = closed;
  await closed.close();
  installed({});
  const client = new GatewayClient({ baseURL, apiKey: KEY, maxRetries: 0 }, undefined, eager);

  const error = await failureOf(client.request({ ...GET, method: 'POST', body: {} }));

  expect(error).toMatchObject({ name: 'APIConnectionError', phase: 'connect', sent: 'no' });
  await client.close();
});
