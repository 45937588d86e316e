import type { Dispatch } from './agent.js';

/** Where undici keeps the dispatcher of all requests: versions 6 to 8, and 8 and late versions of 7. */
const LEGACY = Symbol.for('undici.globalDispatcher.1');
const CURRENT = Symbol.for('undici.globalDispatcher.2');

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
