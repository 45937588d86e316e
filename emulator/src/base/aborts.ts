/**
 * Calls a function when one of the signals is aborted, unless `ended` is aborted before. Not with the option `signal` of
 * `addEventListener`: on Node 20, a garbage collection takes what would remove the listener.
 */
export function whenAborted(signals: readonly AbortSignal[], listener: () => void, ended: AbortSignal): void {
  if (ended.aborted) return;
  for (const signal of signals) {
    signal.addEventListener('abort', listener);
    ended.addEventListener('abort', () => signal.removeEventListener('abort', listener));
  }
}
