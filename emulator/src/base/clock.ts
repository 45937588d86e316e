import * as z from 'zod/mini';
import { exact, readTime } from './fields.js';

/** The source of time of an emulator, for timestamps and for waiting. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Moves time forward by a number of milliseconds, at most to the end of the year 9999. */
  advance(ms: number): void;
  /** Resolves after a number of milliseconds on this clock. Rejects with the signal's reason if it is aborted. */
  sleep(ms: number, signal?: AbortSignal | undefined): Promise<void>;
  /** Where the clock stands, for a snapshot. Without it, snapshots have no clock. */
  position?(): ClockPosition;
  /** Puts the clock back to a position. It may go back in time. */
  moveTo?(position: ClockPosition): void;
}

/** Where a clock stands. */
export interface ClockPosition {
  /** ISO 8601. */
  time: string;
  /** For a clock that runs: how many milliseconds it was advanced. It is put back to this, and not to the time. */
  advanced?: number | undefined;
}

export const clockPosition = exact<ClockPosition>()(
  z.object({
    time: readTime,
    advanced: z.optional(z.number()),
  }),
);

/** The system's time. `advance` shifts `now`, but does not shorten waits. */
export function systemClock(): Clock {
  let shift = 0;
  return {
    now: () => Date.now() + shift,
    advance: (ms) => {
      advanced(Date.now() + shift, ms);
      shift += ms;
    },
    sleep: (ms, signal) => realSleep(ms, signal),
    position: () => ({ time: new Date(Date.now() + shift).toISOString(), advanced: shift }),
    moveTo: ({ time, advanced }) => {
      shift = advanced ?? Date.parse(time) - Date.now();
    },
  };
}

/**
 * A clock that stands still until `advance` is called. A sleep ends when the clock is advanced past its end; with
 * `realSleeps`, also after that much real time, for a program that no one advances the clock for.
 */
export function manualClock(
  start: Date | string | number = '2026-01-05T09:00:00.000Z',
  { realSleeps = false }: { realSleeps?: boolean | undefined } = {},
): Clock {
  let time = new Date(start).getTime();
  if (!(time >= 0 && time <= LAST_TIME)) throw new RangeError(`not a time from 1970 to 9999: ${String(start)}`);
  const sleepers = new Set<{ wakeAt: number; wake: () => void }>();
  return {
    now: () => time,
    advance: (ms) => {
      time = advanced(time, ms);
      const due = [...sleepers].filter((sleeper) => sleeper.wakeAt <= time).sort((a, b) => a.wakeAt - b.wakeAt);
      for (const sleeper of due) sleeper.wake();
    },
    position: () => ({ time: new Date(time).toISOString() }),
    moveTo: (position) => {
      const target = Date.parse(position.time);
      // Those that sleep have as long to wait as before.
      for (const sleeper of sleepers) sleeper.wakeAt += target - time;
      time = target;
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (ms <= 0) return resolve();
        const leave = (): void => {
          clearTimeout(timer);
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', abort);
        };
        const abort = (): void => {
          leave();
          reject(signal?.reason);
        };
        const sleeper = {
          wakeAt: time + ms,
          wake: () => {
            leave();
            resolve();
          },
        };
        const timer = realSleeps ? setTimeout(sleeper.wake, Math.min(ms, LONGEST_TIMER)) : undefined;
        sleepers.add(sleeper);
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };
}

function advanced(time: number, ms: number): number {
  if (!(ms >= 0)) throw new RangeError(`cannot advance the clock by ${ms} ms: it only moves forward`);
  if (time + ms > LAST_TIME) throw new RangeError(`cannot advance the clock by ${ms} ms: it ends with the year 9999`);
  return time + ms;
}

/** ISO 8601 writes later years differently. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function realSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const done = (): void => {
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, LONGEST_TIMER));
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Node fires a timer with a longer delay at once. */
const LONGEST_TIMER = 2 ** 31 - 1;
