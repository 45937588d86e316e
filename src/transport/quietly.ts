/** Calls a function of the user's whose mistakes, also those of an async one, are its own affair and cost the call nothing. */
export function quietly(call: () => unknown): void {
  try {
    const result = call();
    if (isThenable(result)) result.then(undefined, () => {});
  } catch {
    // As said.
  }
}

/** By its form: the promise of an async function is no instance of a `Promise` that was replaced, nor of another realm's. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
