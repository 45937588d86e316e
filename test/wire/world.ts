import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type Runtime, systemRuntime } from '../../src/base/runtime.js';
import {
  ContextClient,
  type ContextClientOptions,
  ContextGatewayError,
  GatewayClient,
  type GatewayClientOptions,
} from '../../src/index.js';
import { leaksOf } from '../helpers/leaks.js';
import { FaultServer } from './fault-server.js';

export const KEY = 'svc_sk_canary0123456789abcdef';
export const TOKEN = 'session-canary-0123456789';
/** Part of every prompt and file that the tests send. */
export const PROMPT = 'prompt-canary-0123456789';

export const GET = { method: 'GET', path: '/v1/things' } as const;
export const POST = { method: 'POST', path: '/v1/things', body: {} } as const;
/** A question whose reply is a stream. */
export const STREAM = { model: 'm', messages: [{ role: 'user', content: PROMPT }], stream: true } as const;

const SECRETS = [KEY, KEY.slice('svc_sk_'.length), TOKEN, PROMPT];

/** Real sockets and timers, and the set of pending timers. Its backoff is 0 ms, so that tests do not wait. */
export interface WatchedRuntime extends Runtime {
  readonly timers: ReadonlySet<unknown>;
}

export function watched(changes: Partial<Runtime> = {}): WatchedRuntime {
  const timers = new Set<unknown>();
  const runtime: Runtime = { ...systemRuntime, random: () => 0, ...changes };
  return {
    ...runtime,
    timers,
    setTimer: (callback, ms) => {
      // Platforms replace a delay outside this range.
      if (!(ms >= 0 && ms <= 2_147_483_647)) throw new Error(`a timer of ${ms} ms`);
      const timer = runtime.setTimer(() => {
        timers.delete(timer);
        callback();
      }, ms);
      timers.add(timer);
      return timer;
    },
    clearTimer: (timer) => {
      timers.delete(timer);
      runtime.clearTimer(timer);
    },
  };
}

export const eager: Runtime = watched();

/** One server per test, and clients that are closed with it. */
export function serve(tls?: Parameters<typeof FaultServer.start>[0]) {
  const world = {} as { server: FaultServer };
  const clients: { close(): Promise<void> }[] = [];
  const warnings: string[] = [];
  const warned = (warning: Error): void => void warnings.push(String(warning));

  // Each test needs its own port, because the platform's fetch keeps connections open between tests.
  beforeEach(async () => {
    world.server = await FaultServer.start(tls);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await world.server.close();
  });
  beforeAll(() => void process.on('warning', warned));
  afterAll(() => {
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  return {
    get server() {
      return world.server;
    },
    gateway(options: GatewayClientOptions = {}, runtime: Runtime = eager): GatewayClient {
      const client = new GatewayClient({ baseURL: world.server.url, apiKey: KEY, ...options }, undefined, runtime);
      clients.push(client);
      return client;
    },
    context(options: ContextClientOptions = {}, runtime: Runtime = eager): ContextClient {
      const given = { baseURL: world.server.url, sessionToken: TOKEN, ...options };
      const client = new ContextClient(given, undefined, runtime);
      clients.push(client);
      return client;
    },
  };
}

/** The error of a call. Checks that it is one of this package, and that no printed form shows a secret. */
export async function failureOf(call: PromiseLike<unknown>): Promise<ContextGatewayError> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    if (!(error instanceof ContextGatewayError)) throw new Error(`not an error of this package: ${inspect(error)}`);
    expect(leaksOf(error, SECRETS)).toEqual([]);
    return error;
  }
  throw new Error(`succeeded with ${JSON.stringify(value)?.slice(0, 200)}`);
}

/** Waits until a condition is true. The time limit is far above what that takes. */
export async function until(fact: () => boolean, within = 20_000): Promise<void> {
  const end = performance.now() + within;
  while (!fact()) {
    if (performance.now() > end) throw new Error(`not within ${within} ms: ${fact}`);
    await new Promise((go) => setTimeout(go, 2));
  }
}
