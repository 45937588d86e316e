import { streamOf } from '../base/stream-of.js';
import { type Ending, endingOf } from '../events/reporter.js';
import { mediaType, readText } from '../response/body.js';
import type { ServiceResponse } from '../response/service-response.js';

/** Headers that do not fit a body which was decoded. */
const OF_THE_WIRE = ['connection', 'content-encoding', 'content-length', 'keep-alive', 'transfer-encoding'];
/** Statuses of a response that must not have a body. */
const WITHOUT_BODY = [204, 205];

/** The headers of a response that is passed on, with the type of its new body. */
export function passedHeaders(given: Headers, type = given.get('content-type')): Headers {
  const headers = new Headers(given);
  for (const name of OF_THE_WIRE) headers.delete(name);
  if (type !== null) headers.set('content-type', type);
  return headers;
}

/** Passes a response on unread: JSON whole, so that a broken one is an error, and all else while it arrives. */
export async function passResponse(response: ServiceResponse): Promise<Response> {
  const { head, source, info } = response;
  const { timeouts, call } = source;
  const init = { status: head.status, headers: passedHeaders(info.headers) };
  const end = (outcome: Ending['outcome'], error?: unknown): void => {
    call?.reporter?.done(error === undefined ? { outcome, error } : endingOf(error), timeouts.runtime.now());
    timeouts.end();
  };
  if (WITHOUT_BODY.includes(head.status) || mediaType(head.headers)?.endsWith('json')) {
    const text = await readText(head);
    end('success');
    return new Response(text === '' ? null : text, init);
  }
  timeouts.startIdle();
  const { body } = head;
  timeouts.follow({ progress: { phase: 'stream', sent: 'yes' }, cancel: (error) => body.cancel(error) });
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    try {
      timeouts.progressed();
      const value = await body.read();
      timeouts.pauseWatching(timeouts.runtime.now());
      if (value !== undefined) return { done: false, value };
    } catch (error) {
      end('error', error);
      throw error;
    }
    end('success');
    return { done: true, value: undefined };
  };
  const leave = (): void => {
    body.cancel(new Error('the rest of the response is not needed'));
    end('cancelled');
  };
  return new Response(streamOf({ next }, leave), init);
}
