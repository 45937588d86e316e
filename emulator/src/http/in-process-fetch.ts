import { type Answer, toResponse } from './answers.js';
import { ConnectionReset } from './relay.js';

/**
 * A `fetch` that stays in the process. It rejects as soon as its signal fires and, once `closed` fires, like a broken
 * connection. Its type avoids `RequestInfo`, which only `dom` has and Node's types lack.
 */
export function inProcessFetch(
  handle: (request: Request) => Promise<Answer | Response>,
  closed: AbortSignal,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = new Request(input, init);
    if (closed.aborted) throw new ConnectionReset();
    request.signal.throwIfAborted();
    let leave = (): void => {};
    // Rejects on an abort, even if the handler does not react to the signal.
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(request.signal.reason);
      request.signal.addEventListener('abort', leave, { once: true });
    });
    try {
      const answer = await Promise.race([handle(request), left]);
      return answer instanceof Response ? answer : toResponse(answer);
    } finally {
      request.signal.removeEventListener('abort', leave);
    }
  };
}
