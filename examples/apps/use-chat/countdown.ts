/** On the page: what to show for `error` of `useChat`, and when `regenerate()` works again (performance.now, in ms). */
import type { ErrorData } from 'context-gateway';

export function explain(error: Error): { message: string; retryAt: number } {
  try {
    const { message, retryAfter = 0 }: ErrorData = JSON.parse(error.message);
    return { message, retryAt: performance.now() + retryAfter };
  } catch {
    return { message: 'No connection to the server.', retryAt: performance.now() };
  }
}
