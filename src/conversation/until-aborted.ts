import { APIAbortError } from '../index.js';

/** What comes of a task that others wait for as well, or the abort of the one who waits here. */
export function untilAborted<T>(task: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return task;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new APIAbortError({ cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
