/**
 * The platform's own timers and clock, taken when the emulator is loaded: a test that fakes them would stop every later
 * completion. (What a fault or a latency waits for is the clock of `options.clock`, which a test may fake.)
 */
export const { setImmediate, clearImmediate, setTimeout } = globalThis;
export const now: () => number = performance.now.bind(performance);

/**
 * Whether a test has faked the timers: those of Vitest and Jest have a clock. If the emulator waited for a turn, the test would
 * run the timeouts of its client. A `setTimeout` that something else has wrapped is real.
 */
export function timersAreFake(): boolean {
  return 'clock' in globalThis.setTimeout;
}

/** Resolves in the next turn of the event loop; at once under fake timers. */
export async function nextTurn(): Promise<void> {
  if (!timersAreFake()) await new Promise<void>((resolve) => void setImmediate(resolve));
}
