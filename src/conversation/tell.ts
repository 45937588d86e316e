/** Calls a function of the app. What goes wrong in it fails neither a turn nor the process. */
export function tell<T>(
  listener: ((told: T) => void) | undefined,
  told: T,
  onError: (error: unknown) => void = () => {},
): void {
  new Promise<void>((resolve) => resolve(listener?.(told))).catch(onError);
}
