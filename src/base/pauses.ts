/** The platform's own functions, also while a test fakes timers. */
const { setImmediate, setTimeout } = globalThis;

/** Milliseconds of work before other events are handled. */
const MAX_BLOCK = 8;

/** Returns a function to call between slices of work. It lets other events be handled, if the last time is long ago. */
export function pauses(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < MAX_BLOCK) return undefined;
    return new Promise<void>(afterEvents).then(() => {
      began = performance.now();
    });
  };
}

/** Does work that may pause at each `yield`. */
export async function inSlices<T>(work: Generator<undefined, T>): Promise<T> {
  const pause = pauses();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await pause();
  }
}

/**
 * A timer takes a millisecond or more, a dozen times for 10,000 messages. Browsers and edge runtimes have nothing else:
 * there, `setImmediate` is missing or throws.
 */
function afterEvents(resolve: () => void): void {
  try {
    setImmediate(resolve);
  } catch {
    setTimeout(resolve, 0);
  }
}
