import { afterAll, beforeAll } from 'vitest';
import { ContextClient, GatewayClient, type GatewayClientOptions } from '../../src/index.js';
import { engines } from '../helpers/engines.js';
import { KEY, TOKEN, watched } from '../wire/world.js';
import { Backend } from './backend.js';
import { type Kind, missingBinary, type ProxyName, proxyNames, type RunningProxy, startProxy } from './proxies.js';

export const proxies = proxyNames.map((proxy) => ({ proxy, missing: missingBinary(proxy) !== undefined }));
/** Every proxy with both engines. */
export const ways = proxies.flatMap((proxy) => engines.map((engine) => ({ ...proxy, ...engine })));

/** The client's clock runs this much faster than real time: a proxy's `Retry-After: 5` takes 50 ms. */
const SPEED = 100;
const hurried = watched({
  now: () => performance.now() * SPEED,
  setTimer: (callback, ms) => setTimeout(callback, ms / SPEED),
});

export interface Clients {
  readonly gateway: GatewayClient;
  readonly context: ContextClient;
}

/** One service for all tests of a file, behind every installed proxy. */
export function serveBehindProxies(idle?: number) {
  let backend: Backend;
  const running = new Map<ProxyName, RunningProxy>();
  const opened: (GatewayClient | ContextClient)[] = [];

  beforeAll(async () => {
    backend = await Backend.start();
    // Node 20's fetch loads its parser once its first connection is open. If that connection closes meanwhile, the call
    // hangs until its timeout. (undici, as the client loads it, is not affected.)
    await (await fetch(`http://127.0.0.1:${backend.port}`)).text();
    const start = async (name: ProxyName) => running.set(name, await startProxy(name, backend.port, idle));
    await Promise.all(proxies.filter(({ missing }) => !missing).map(({ proxy }) => start(proxy)));
  });
  afterAll(async () => {
    await Promise.all(opened.map((client) => client.close()));
    await Promise.all([...running.values()].map((proxy) => proxy.stop()));
    await backend.close();
  });

  return {
    get backend() {
      return backend;
    },
    clients(proxy: ProxyName, kind: Kind, options: GatewayClientOptions): Clients {
      const halfAMinute = 30_000 * SPEED;
      const patient = { timeout: halfAMinute, streamIdleTimeout: halfAMinute };
      const usual = { ...patient, ...options, baseURL: running.get(proxy)?.url(kind) };
      const gateway = new GatewayClient({ ...usual, apiKey: KEY }, undefined, hurried);
      const context = new ContextClient({ ...usual, sessionToken: TOKEN }, undefined, hurried);
      opened.push(gateway, context);
      return { gateway, context };
    },
  };
}
