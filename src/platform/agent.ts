import type { Socket } from 'node:net';
import type buildConnector from 'undici/lib/core/connect.js';
import type AgentClass from 'undici/lib/dispatcher/agent.js';

/** The used part of undici's pool. */
export interface Dispatch {
  dispatch(options: object, handler: DispatchHandler): boolean;
}

export interface Agent extends Dispatch {
  destroy(): Promise<void>;
}

/** The handler methods that undici 7 and 8 call. undici 6 uses another form. */
export interface DispatchHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: ResponseFields): void;
  onResponseData(controller: Controller, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller | undefined, error: Error): void;
}

/** Controls a request. A dispatcher that retries passes a new controller for each attempt. */
export interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Headers by lower-case name. A repeated header is an array. */
export type ResponseFields = Readonly<Record<string, string | readonly string[]>>;
/** Milliseconds for connecting to each address of a host. Node's 250 ms are too short for a slow handshake, as on mobile networks. */
const ATTEMPT = 1_500;
/** Where undici keeps the dispatcher of all requests: versions 6 to 8, and 8 and late versions of 7. */
const LEGACY = Symbol.for('undici.globalDispatcher.1');
const CURRENT = Symbol.for('undici.globalDispatcher.2');

/**
 * Opens our own pool. `connecting` holds the sockets that are still connecting, which undici does not close.
 *
 * @throws if undici is not installed, is of another major version, or has moved its files
 */
export function createAgent(connecting: Set<Socket>): Agent {
  const [{ version }, Pool, connector] = loadUndici();
  // A bundle may have another package's undici beside it.
  if (!/^[78]\./.test(version)) throw new Error(`version ${version} is not supported`);
  // Without a prototype: a polluted Object.prototype with a `socketPath` would send the credential to another process.
  const open = connector({ __proto__: null, timeout: 10_000, autoSelectFamilyAttemptTimeout: ATTEMPT } as object);
  const connect: typeof open = (options, callback) => {
    const socket = open(options, (...result) => {
      connecting.delete(socket);
      callback(...result);
    });
    connecting.add(socket);
    // A server may end TLS after the handshake, such as without a client certificate. undici would report the end of the
    // socket that follows in place of this error.
    socket.on('error', (error) => socket.destroy(error));
    // A waiting call has a timer. A connection without one must not keep the process alive.
    return socket.unref();
  };
  // Timeouts are in timeouts.ts. undici keeps only its connect timeout.
  return new Pool({ __proto__: null, headersTimeout: 0, bodyTimeout: 0, connect } as object) as Agent;
}

/**
 * undici is CommonJS, which breaks in many ES module bundles. So bundlers must not see this: it is looked up at run time,
 * beside this file or the bundle. File tracers (@vercel/nft) know `module.createRequire`, under this name.
 */
function loadUndici(): [{ version: string }, typeof AgentClass, typeof buildConnector] {
  // Not imported: in a bundle of ES modules, a `require` of it in our CommonJS build would end the whole program.
  const module = process.getBuiltinModule('node:module');
  const load = module.createRequire(import.meta.url ?? __filename); // a bundle in CommonJS has no `import.meta`
  return [load('undici/package.json'), load('undici/lib/dispatcher/agent.js'), load('undici/lib/core/connect.js')];
}

/**
 * The dispatcher that the app or Node has set for all requests, such as a proxy. `'fetch'` if it may be from a version that
 * only `fetch` can use, `undefined` if there is none besides undici's default.
 */
export function appWideDispatcher(): Dispatch | 'fetch' | undefined {
  const { [CURRENT]: current, [LEGACY]: legacy } = globalThis as Record<symbol, unknown>;
  if (isSpecial(current)) return current;
  return isSpecial(legacy) ? 'fetch' : undefined;
}

function isSpecial(given: unknown): given is Dispatch {
  const dispatcher = given as Partial<Dispatch> | undefined;
  if (typeof dispatcher?.dispatch !== 'function') return false;
  const name = dispatcher.constructor?.name;
  if (name === 'Dispatcher1Wrapper') return false; // in undici 8, `CURRENT` for older versions
  // One with interceptors looks like its Agent, except for this method.
  return name !== 'Agent' || dispatcher.dispatch !== Object.getPrototypeOf(dispatcher).dispatch;
}
