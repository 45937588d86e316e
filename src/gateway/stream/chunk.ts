import { ignoreErrors, isThenable } from '../../base/ignore-errors.js';
import { isObject, ownField } from '../../base/objects.js';
import type { APIError } from '../../errors/api.js';
import { ContextGatewayError } from '../../errors/base.js';
import { StreamError, StreamTruncatedError } from '../../errors/stream.js';
import { ResponseValidationError } from '../../errors/validation.js';
import { checkDepth, tryJson } from '../../transport/arguments/json.js';
import { reportsError } from '../../transport/response/body.js';
import { errorDetails } from '../../transport/response/error-details.js';
import type { ServiceResponse } from '../../transport/response/service-response.js';
import type { CompletionForm } from '../extended.js';
import type { ChatCompletionChunk } from '../schemas.js';
import { RepeatedChunk } from './repeated-chunk.js';
import type { ServerSentEvent } from './sse.js';

/**
 * Decodes a stream event into a chunk, for services whose events have another form. Return `'done'` to end the
 * completion, `undefined` to skip the event. Not called for `[DONE]` and `event: error`. If it throws, the stream ends
 * with a `ResponseValidationError` whose `cause` is the error.
 */
export type DecodeChunk = (event: ServerSentEvent) => ChatCompletionChunk | 'done' | undefined;

/** The `type` of the error event that a relay sends for a truncated stream. */
export const TRUNCATED = 'stream_truncated';

/** Turns the events of one stream into validated chunks. */
export class ChunkReader {
  readonly #response: ServiceResponse;
  readonly #form: CompletionForm;
  readonly #decode: DecodeChunk | undefined;
  readonly #repeated = new RepeatedChunk();

  constructor(response: ServiceResponse, form: CompletionForm, decode: DecodeChunk | undefined) {
    this.#response = response;
    this.#form = form;
    this.#decode = decode;
  }

  /**
   * Reads one event as a validated chunk. `cut` means that the body ended within the event. Then an unreadable event is
   * skipped, and the end of the body decides whether anything is missing.
   *
   * @throws {StreamError} for an error event, {ResponseValidationError} for anything unreadable
   */
  read(event: ServerSentEvent, cut: boolean): ChatCompletionChunk | 'done' | undefined {
    const plain = event.event === undefined && this.#decode === undefined;
    const repeated = plain ? this.#repeated.recognise(event.data) : undefined;
    if (repeated !== undefined) return repeated;
    if (event.data.trim() === '[DONE]') return 'done';
    if (event.event === 'error') throw reportedError(tryJson(event.data) ?? event.data, this.#response);
    const value = this.#decode === undefined ? parsed(event, cut) : decoded(event, cut, this.#decode);
    if (value === undefined || value === 'done') return value;
    if (this.#decode === undefined) {
      if (reportsError(value) || isBareError(value)) throw reportedError(value, this.#response);
      useDelta(value);
    }
    const chunk = value as ChatCompletionChunk; // checked in the next line, or reported and returned as it is
    if (this.#response.check(this.#form.chunk, value) && plain) this.#repeated.learn(event.data, chunk);
    return chunk;
  }
}

function parsed({ data }: ServerSentEvent, cut: boolean): object | undefined {
  const value = tryJson(data);
  if (isObject(value)) return checkDepth(value, data);
  if (cut) return undefined;
  throw new ResponseValidationError('The stream contains an event that is not a JSON object.', { body: data });
}

function decoded(event: ServerSentEvent, cut: boolean, decode: DecodeChunk): ChatCompletionChunk | 'done' | undefined {
  const body = event.data;
  let chunk: ReturnType<DecodeChunk>;
  try {
    chunk = decode(event) ?? undefined;
  } catch (cause) {
    if (cut) return undefined;
    if (cause instanceof ContextGatewayError) throw cause;
    throw new ResponseValidationError('decodeChunk threw on an event of the stream. Its error is the cause.', {
      body,
      cause,
    });
  }
  if (!isThenable(chunk)) return chunk;
  ignoreErrors(() => chunk);
  throw new ResponseValidationError('decodeChunk must not be async: return the chunk, not a promise.', {
    body,
  });
}

/** `{ "error": "…" }` in the place of a chunk. */
function isBareError(value: object): boolean {
  return 'error' in value && typeof ownField(value, 'error') === 'string' && !Object.hasOwn(value, 'choices');
}

/** The status is that of a success, so it is removed from the message. */
function reportedError(body: unknown, response: ServiceResponse): APIError | StreamTruncatedError {
  const details = errorDetails(response, body);
  if (details.type === TRUNCATED) return new StreamTruncatedError();
  const { status } = response.head;
  return new StreamError(status, { ...details, message: details.message.replace(`${status} `, '') });
}

/** Some services stream `message` instead of `delta`. */
export function useDelta(value: object): void {
  if (!('choices' in value) || !Array.isArray(value.choices)) return;
  for (const choice of value.choices) {
    if (isObject(choice) && choice.delta === undefined && choice.message !== undefined) {
      choice.delta = choice.message;
    }
  }
}
