import { defaultCode } from '../../base/error-data.js';
import {
  APIAbortError,
  type ErrorData,
  RequestValidationError,
  ResponseValidationError,
  StreamTruncatedError,
} from '../../index.js';
import type { TurnEvent } from './respond.js';

/** Maximum characters of an event, as of a stream of the Gateway. */
const MAX_EVENT = 8 * 1024 * 1024;

/**
 * Reads a turn in a page: `for await (const event of readTurn(await fetch('/chat', …)))`. Your server must return the
 * response of `toResponse`. A turn that fails yields the event `error`, also for a response with an error status: it does not throw, and
 * may follow half a reply. Leaving the loop before the event `turn` stops the reply.
 *
 * @throws {RequestValidationError} when `response` is not a response, such as a promise of one
 * @throws {StreamTruncatedError} when the response ends before the turn does
 * @throws {APIAbortError} when your signal aborts the request
 * @throws {ResponseValidationError} when the response contains something else, or an event of more than 8 MB
 * @example
 * ```ts
 * const response = await toResponse(conversation.stream('The harbour opens at six. When does the harbour open?'));
 * for await (const event of readTurn(response)) {
 *   if (event.type === 'text') process.stdout.write(event.text);
 *   if (event.type === 'error') console.error(event.error.message);
 * }
 * ```
 */
export async function* readTurn(response: Response): AsyncGenerator<TurnEvent, undefined> {
  if (typeof response?.ok !== 'boolean')
    throw new RequestValidationError([
      { path: ['response'], message: 'expected a Response; await it if it is a promise' },
    ]);
  if (!response.ok) {
    yield { type: 'error', error: await errorOf(response) };
    return;
  }
  const type = response.headers.get('content-type') ?? 'without a type';
  if (response.body === null || !type.startsWith('text/event-stream'))
    throw new ResponseValidationError(`Expected the response of toResponse, but this one is ${type}.`, {
      body: undefined,
    });
  let hasEnded = false;
  try {
    for await (const data of dataOf(response.body)) {
      const event = parsed(data);
      hasEnded ||= event.type === 'turn' || event.type === 'error';
      yield event;
    }
  } catch (error) {
    if (/^(?:Abort|Timeout)Error$/.test(String(Object(error).name))) throw new APIAbortError({ cause: error });
    if (ResponseValidationError.is(error)) throw error;
    // The network failed: below, as if the response had ended.
  }
  if (!hasEnded) throw new StreamTruncatedError('The response ended before the turn was complete.');
}

/** The data of server-sent events as `eventResponse` writes them. */
async function* dataOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // The event that has not ended. Joined when it has: to search it again with each piece would take quadratic time.
  let pieces: string[] = [];
  let length = 0;
  let last = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      const isEnd = `${last}${text}`.includes('\n\n');
      last = text.at(-1) ?? last;
      pieces.push(text);
      length += text.length;
      if (isEnd) {
        const events = pieces.join('').split('\n\n');
        pieces = [events.pop() ?? ''];
        length = pieces[0]?.length ?? 0;
        for (const event of events) if (event.startsWith('data: ')) yield event.slice(6);
      }
      if (length > MAX_EVENT)
        throw new ResponseValidationError('An event of the turn exceeds 8 MB.', { body: undefined });
    }
  } finally {
    await reader.cancel().catch(() => {}); // without effect at the end
  }
}

function parsed(data: string): TurnEvent {
  try {
    const event = JSON.parse(data);
    if (typeof event?.type === 'string') return event;
  } catch {}
  throw new ResponseValidationError('The response contains an event that is not one of a turn.', { body: data });
}

/** The error of a response that `toErrorResponse` made, or that a proxy sent. */
async function errorOf(response: Response): Promise<ErrorData> {
  const body: unknown = await response.json().catch(() => undefined);
  const { message, code, type, retry_after } = Object(Object(body).error) as Record<string, unknown>;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const wait = Number(retry_after ?? response.headers.get('retry-after') ?? Number.NaN);
  return {
    status: response.status,
    code: text(code) ?? text(type) ?? defaultCode(response.status),
    message: text(message) ?? 'The server could not handle the request.',
    ...(wait >= 0 && { retryAfter: wait * 1_000 }),
  };
}
