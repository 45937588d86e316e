import type { WithResponse } from './response-info.js';

/**
 * The return value of every method: a promise. Await it for the data; call `withResponse()` for status, headers, rate limit
 * and attempts too. Awaiting it several times sends the request once.
 */
export interface APIPromise<T> extends Promise<T> {
  /** The data together with status, headers, rate limit and attempts. */
  withResponse(): Promise<WithResponse<T>>;
  /**
   * A web `Response`: status, headers and body of the service, for code that takes one. The body is what this client has read:
   * decoded and checked, with every field that the service sent. That of a stream has its events, and an error as its last one; read it, or
   * the stream, not both. Failures reject as usual: there is no `Response` with an error's status.
   */
  asResponse(): Promise<Response>;
}

/** A native promise, not a subclass: frameworks and `await` treat it as any other. */
export function apiPromise<T>(result: Promise<WithResponse<T>>): APIPromise<T> {
  const data = result.then((read) => read.data);
  const withResponse = (): Promise<WithResponse<T>> => {
    data.catch(() => {}); // its caller awaits the other promise
    return result;
  };
  const asResponse = async (): Promise<Response> => (await withResponse()).response.toResponse();
  return Object.assign(data, { withResponse, asResponse });
}
