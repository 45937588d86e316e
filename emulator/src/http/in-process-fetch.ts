import { type PlainResponse, toResponse } from './plain-response.js';
import { ConnectionReset } from './relay.js';

/**
 * A `fetch` that stays in the process. It rejects as soon as its signal fires and, once `closed` fires, like a broken
 * connection. Its type avoids `RequestInfo`, which only `dom` has and Node's types lack.
 */
export function inProcessFetch(
  handle: (request: Request) => Promise<PlainResponse | Response>,
  closed: AbortSignal,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = new Request(input, init);
    if (closed.aborted) throw new ConnectionReset();
    request.signal.throwIfAborted();
    let abort = (): void => {};
    // Rejects on an abort, even if the handler does not react to the signal.
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(request.signal.reason);
      request.signal.addEventListener('abort', abort, { once: true });
    });
    try {
      const response = await Promise.race([handle(request), aborted]);
      return response instanceof Response ? response : toResponse(response);
    } finally {
      request.signal.removeEventListener('abort', abort);
    }
  };
}
