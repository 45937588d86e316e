import { APIAbortError } from '../index.js';

/** Waits for a task that other callers may share. An abort ends this wait only, not the task. */
export function untilAborted<T>(task: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return task;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new APIAbortError({ cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
