/** Calls a user's function and ignores its errors, including those of an async function. */
export function ignoreErrors(call: () => unknown): void {
  try {
    const result = call();
    if (isThenable(result)) result.then(undefined, () => {});
  } catch {
    // Ignored on purpose.
  }
}

/**
 * A structural check: the promise of an async function is not an instance of a replaced `Promise`, or of another
 * realm's.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
