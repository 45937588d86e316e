/** Time and randomness, in one place, so that tests can replace them. All times are milliseconds. */
export interface Runtime {
  /** Monotonic: a change of the wall clock does not move it. */
  now(): number;
  /** The wall clock, for responses without a `Date` header. */
  wallClock(): number;
  setTimer(callback: () => void, ms: number): unknown;
  clearTimer(timer: unknown): void;
  /** 0 to 1, 1 excluded. */
  random(): number;
}

/** The platform's clock and random numbers, looked up at each use. */
export const systemRuntime: Runtime = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  setTimer: (callback, ms) => setTimeout(callback, ms),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  random: () => Math.random(),
};
/** Timers fire at once above this many milliseconds. */
export const MAX_TIMER = 2_147_483_647;

/** Whether a request cannot wait for another one: in workerd, it would wait for ever. */
export function isRequestBound(): boolean {
  return 'WebSocketPair' in globalThis;
}
