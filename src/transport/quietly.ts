/** Calls a function of the user's whose mistakes, also those of an async one, are its own affair and cost the call nothing. */
export function quietly(call: () => unknown): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(() => {});
  } catch {
    // As said.
  }
}
