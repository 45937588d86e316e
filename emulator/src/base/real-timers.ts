/**
 * The platform's own timers and clock, taken when the emulator is loaded: a test that fakes them would stop every later
 * completion. (What a fault or a latency waits for is the clock of `options.clock`, which a test may fake.)
 */
export const { setImmediate, clearImmediate, setTimeout } = globalThis;
export const now: () => number = performance.now.bind(performance);

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
