// What Node and undici do not promise, and we rely on: how their own parts are recognised, and where these are. A test for each version
// of both fails when one of these facts changes; then requests go through `fetch`, or around a proxy of the app.

import type buildConnector from 'undici/lib/core/connect.js';
import type AgentClass from 'undici/lib/dispatcher/agent.js';
import type { Dispatch } from './dispatch.js';

/** Where undici keeps the dispatcher of all requests: versions 6 to 8, and 8 and late versions of 7. */
const LEGACY = Symbol.for('undici.globalDispatcher.1');
const CURRENT = Symbol.for('undici.globalDispatcher.2');
/** A path in the source text of Node's `fetch`. */
const NODES_FETCH = 'internal/deps/undici';

/** Whether this is Node's own `fetch`, rather than one that a mock or an instrumentation has put in its place. */
export function isNodesFetch(fetch: unknown): boolean {
  return String(fetch).includes(NODES_FETCH);
}

/** Whether this is the platform's own `fetch`: Node's, or that of Bun or Deno. */
export function isNativeFetch(fetch: unknown): boolean {
  return isNodesFetch(fetch) || /^function fetch\(.*\[native code\]/s.test(String(fetch));
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

/** Whether a dispatcher is another than undici's default. */
function isSpecial(given: unknown): given is Dispatch {
  const dispatcher = given as Partial<Dispatch> | undefined;
  if (typeof dispatcher?.dispatch !== 'function') return false;
  const name = dispatcher.constructor?.name;
  if (name === 'Dispatcher1Wrapper') return false; // in undici 8, `CURRENT` for older versions
  // One with interceptors looks like its Agent, except for this method.
  return name !== 'Agent' || dispatcher.dispatch !== Object.getPrototypeOf(dispatcher).dispatch;
}

/**
 * undici's pool and connector alone: the whole package takes three times as long to load, and replaces the global dispatcher of
 * Node 20's `fetch`. undici is CommonJS, which breaks in many ES module bundles. So bundlers must not see this: it is looked up
 * at run time, beside this file or the bundle. File tracers (@vercel/nft) know `module.createRequire`, under this name.
 *
 * @throws if undici is not installed, is of another major version, or has moved its files
 */
export function loadUndici(): [typeof AgentClass, typeof buildConnector] {
  // Not imported: in a bundle of ES modules, a `require` of it in our CommonJS build would end the whole program.
  const module = process.getBuiltinModule('node:module');
  const load = module.createRequire(import.meta.url ?? __filename); // a bundle in CommonJS has no `import.meta`
  const { version } = load('undici/package.json') as { version: string };
  // A bundle may have another package's undici beside it.
  if (!/^[78]\./.test(version)) throw new Error(`version ${version} is not supported`);
  return [load('undici/lib/dispatcher/agent.js'), load('undici/lib/core/connect.js')];
}
