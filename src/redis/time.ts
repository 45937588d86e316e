/** Time, in one place, so that tests can replace it. Milliseconds. */
export interface Time {
  /** Monotonic: a change of the wall clock does not move it. */
  now(): number;
  setTimer(callback: () => void, ms: number): unknown;
  clearTimer(timer: unknown): void;
}

/** The platform's clock and timers, looked up at each use. */
export const systemTime: Time = {
  now: () => performance.now(),
  setTimer: (callback, ms) => setTimeout(callback, Math.min(ms, 2_147_483_647)), // above that, timers fire at once
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};
