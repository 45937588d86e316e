/** A mistake of the user. The message says how to fix it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
