import { streamOf } from '../base/stream-of.js';
import type { APIError } from '../errors/api.js';
import { APIAbortError } from '../errors/connection.js';
import { PARTIAL_HINT } from '../errors/stream.js';
import { endingOf } from '../events/reporter.js';
import { mediaType, readJsonBytes } from '../response/body.js';
import { passedHeaders } from '../response/passed-headers.js';
import type { ServiceResponse } from '../response/service-response.js';
import type { ChatCompletionStream } from './completion-stream.js';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;

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

/** The stream whole, with `[DONE]`, or what arrived of it and one error. Clients wait forever if the body itself fails. */
export function passStream(stream: ChatCompletionStream): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const chunks = stream[Symbol.asyncIterator]();
  let isOver = false;
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    if (isOver) return { done: true, value: undefined };
    let data: string;
    try {
      const { value, done } = await chunks.next();
      isOver = done === true;
      data = isOver ? '[DONE]' : JSON.stringify(value);
    } catch (error) {
      if (error instanceof APIAbortError) throw asThrownByFetch(error);
      isOver = true;
      data = JSON.stringify({ error: errorFields(error as Error) });
    }
    return { done: false, value: encoder.encode(`data: ${data}\n\n`) };
  };
  return streamOf({ next }, () => chunks.return?.());
}

/** The form of an error that other clients read. */
export function errorFields(error: Error): object {
  const { type, code, param, sent } = error as Partial<APIError>;
  // Other clients' errors have no `partial`.
  const message = error.message.replace(PARTIAL_HINT, '');
  return { message, type: type ?? error.name, code: code ?? error.name, param: param ?? null, sent };
}
