import type { Runtime } from '../../src/base/runtime.js';

/** A clock that only tests advance, and a deterministic random function. */
export interface ManualRuntime extends Runtime {
  /** Advances time, fires due timers in order, and lets everything that waits for them run. */
  advance(ms: number): Promise<void>;
  /** Shifts only the wall clock, as an adjusted system clock does. */
  shiftWallClock(ms: number): void;
  /** The number of pending timers. */
  readonly pending: number;
  /** The delays of all timers that were set. */
  readonly delays: readonly number[];
}

export function manualRuntime(options: { random?: () => number; wallClock?: number | undefined } = {}): ManualRuntime {
  const { random = () => 0, wallClock = Date.UTC(2026, 0, 15, 10) } = options;
  let time = 0;
  let shift = 0;
  const timers = new Set<{ at: number; fire: () => void }>();
  const delays: number[] = [];
  const due = () => [...timers].filter(({ at }) => at <= time).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => time,
    wallClock: () => wallClock + time + shift,
    setTimer: (fire, ms) => {
      delays.push(ms);
      const timer = { at: time + ms, fire };
      timers.add(timer);
      return timer;
    },
    clearTimer: (timer) => {
      timers.delete(timer as { at: number; fire: () => void });
    },
    random,
    async advance(ms) {
      const end = time + ms;
      await settled();
      for (;;) {
        const next = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        time = Math.max(time, next.at);
        for (let timer = due(); timer !== undefined; timer = due()) {
          timers.delete(timer);
          timer.fire();
        }
        await settled();
      }
      time = end;
      await settled();
    },
    shiftWallClock: (ms) => {
      shift += ms;
    },
    get pending() {
      return timers.size;
    },
    delays,
  };
}

/** Waits until nothing is left that is ready to run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A random function with the same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
