import { streamOf } from '../base/stream-of.js';
import { APIAbortError } from '../errors/connection.js';
import { endingOf } from '../events/reporter.js';
import { mediaType, readJsonBytes } from '../response/body.js';
import type { ServiceResponse } from '../response/service-response.js';

/** Headers that do not fit a body which was read. */
const OF_THE_WIRE = ['connection', 'content-length', 'keep-alive', 'transfer-encoding'];
/** What every platform decodes. */
const DECODED = /^(?:x-gzip|gzip|deflate|br)$/i;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;

/** The headers of a response that is passed on, with the type of its new body. */
export function passedHeaders(given: Headers, type = given.get('content-type')): Headers {
  const headers = new Headers(given);
  for (const name of OF_THE_WIRE) headers.delete(name);
  if (DECODED.test(headers.get('content-encoding') ?? '')) headers.delete('content-encoding');
  if (type !== null) headers.set('content-type', type);
  return headers;
}

/** What the platform's `fetch` throws in place of an error. */
export function asThrownByFetch(error: unknown): unknown {
  return error instanceof APIAbortError ? (error.cause ?? error) : error;
}

/** Passes the bytes of a response on: JSON as a whole, so that a broken one is an error, and all else while it arrives. */
export async function passResponse(response: ServiceResponse): Promise<Response> {
  const { head, source, info } = response;
  const { timeouts, call } = source;
  const { body, status } = head;
  const init = { status, headers: passedHeaders(info.headers) };
  let isOver = false;
  const end = (error?: unknown, outcome: 'success' | 'cancelled' = 'success'): void => {
    if (isOver) return;
    isOver = true;
    const ending = error === undefined ? { outcome, error: undefined } : endingOf(error);
    call?.reporter?.done(ending, timeouts.runtime.now());
    timeouts.end();
  };
  if (status === 204 || status === 205 || JSON_TYPE.test(mediaType(head.headers) ?? '')) {
    const bytes = await readJsonBytes(head);
    end();
    return new Response(bytes.length === 0 ? null : (bytes as Uint8Array<ArrayBuffer>), init);
  }
  timeouts.startIdle();
  const stop = (error: Error): void => {
    end(error); // an unread body would keep its call open
    body.cancel(error);
  };
  timeouts.follow({ progress: { phase: 'stream', sent: 'yes' }, cancel: stop });
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    try {
      timeouts.progressed();
      const value = await body.read();
      timeouts.pauseWatching(timeouts.runtime.now());
      if (value !== undefined) return { done: false, value };
    } catch (error) {
      end(error);
      throw asThrownByFetch(error);
    }
    end();
    return { done: true, value: undefined };
  };
  const leave = (): void => {
    end(undefined, 'cancelled');
    body.cancel(new Error('the rest of the response is not needed'));
  };
  return new Response(streamOf({ next }, leave), init);
}
