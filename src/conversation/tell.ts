/** Calls a callback of the app. An error in it, also an asynchronous one, fails neither the turn nor the process. */
export function tell<T>(
  listener: ((told: T) => void) | undefined,
  told: T,
  onError: (error: unknown) => void = () => {},
): void {
  new Promise<void>((resolve) => resolve(listener?.(told))).catch(onError);
}
