import { type Answer, toResponse } from './answers.js';
import { ConnectionReset } from './relay.js';

/**
 * A `fetch` that is answered here: it rejects the moment its signal fires, and like a broken connection once closed. Its type
 * names what Node's types have as well: `RequestInfo` is in `dom` only.
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
    // Whatever the other side is doing.
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
