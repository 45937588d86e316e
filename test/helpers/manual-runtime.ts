import type { Runtime } from '../../src/transport/timeouts.js';

/** Time that stands still until it is moved, and dice that always fall alike. */
export interface ManualRuntime extends Runtime {
  /** Moves time on, fires what is due in its order, and lets everything that waits for it run. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock alone, as an adjusted system clock does. */
  shiftWallClock(ms: number): void;
  /** Timers that are armed. */
  readonly pending: number;
  /** Every delay a timer was ever armed with. */
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

/** Until nothing that is ready to run is left. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Dice that fall the same way for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
