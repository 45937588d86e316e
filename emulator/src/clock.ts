/** The one source of time of an emulator: what it reads, and what it waits on. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Move time forward by so many milliseconds. */
  advance(ms: number): void;
  /** Resolves after so many milliseconds of this clock; rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal | undefined): Promise<void>;
}

/** Real time. `advance` shifts what `now` says; waiting stays real. */
export function systemClock(): Clock {
  let shift = 0;
  return {
    now: () => Date.now() + shift,
    advance: (ms) => {
      shift += ms;
    },
    sleep: (ms, signal) => realSleep(ms, signal),
  };
}

/** Time that stands still until `advance` is called; a sleep ends when the time has been moved past it. */
export function manualClock(start: Date | string | number = '2026-01-05T09:00:00.000Z'): Clock {
  let time = new Date(start).getTime();
  if (Number.isNaN(time)) throw new RangeError(`not a point in time: ${String(start)}`);
  const sleepers = new Set<{ wakeAt: number; wake: () => void }>();
  return {
    now: () => time,
    advance: (ms) => {
      time += ms;
      const due = [...sleepers].filter((sleeper) => sleeper.wakeAt <= time).sort((a, b) => a.wakeAt - b.wakeAt);
      for (const sleeper of due) sleeper.wake();
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (ms <= 0) return resolve();
        const leave = (): void => {
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
        sleepers.add(sleeper);
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };
}

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

/** A timer above this fires at once in Node. */
const LONGEST_TIMER = 2 ** 31 - 1;
