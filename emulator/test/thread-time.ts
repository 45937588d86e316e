import { openSync, readSync } from 'node:fs';

/** CPU time of this thread in milliseconds, so that a busy machine makes no difference; wall-clock time if the system does not tell. */
export function threadTime(): () => number {
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const text = Buffer.alloc(64);
    return () => Number(text.toString('latin1', 0, readSync(file, text, 0, 64, 0)).split(' ')[0]) / 1e6;
  } catch {
    return () => performance.now();
  }
}

/** Returns a function that counts the turns of the event loop since then, and tells the CPU time of the longest in milliseconds. */
export function turnsOfTheLoop(): () => { longest: number; count: number } {
  const now = threadTime();
  let last = now();
  let longest = 0;
  let count = 0;
  let isOver = false;
  const turn = (): void => {
    longest = Math.max(longest, now() - last);
    last = now();
    count += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
    return { longest, count };
  };
}
