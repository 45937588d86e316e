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
