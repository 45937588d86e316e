import type { Runtime } from '../base/runtime.js';
import { MAX_BLOCK } from './rate-window.js';

/**
 * A runtime whose clock never goes back. If the given one does, as when fake timers end, it leaps ahead by the longest
 * wait: every wait then ends, because how much of it is left is unknown.
 */
export function forwardRuntime(runtime: Runtime): Runtime {
  let last = Number.NEGATIVE_INFINITY;
  let ahead = 0;
  const now = (): number => {
    const time = runtime.now();
    if (time < last) ahead += last - time + MAX_BLOCK;
    last = time;
    return time + ahead;
  };
  return { ...runtime, now };
}
