import { repeatedChunk } from '#platform';
import { ignoreErrors, isThenable } from '../base/ignore-errors.js';
import { tryJson } from '../base/json.js';
import { isObject, ownField } from '../base/objects.js';
import type { APIError } from '../errors/api.js';
import { ContextGatewayError } from '../errors/base.js';
import { StreamError, StreamTruncatedError } from '../errors/stream.js';
import { ResponseValidationError } from '../errors/validation.js';
import { reportsError } from '../response/body.js';
import { errorDetails, excerpt, stillEncoded } from '../response/error-details.js';
import type { ServiceResponse } from '../response/service-response.js';
import { checkDepth } from '../validation/json.js';
import { findIssues, repair } from '../validation/schema-issues.js';
import { type ChatCompletionChunk, chatCompletionChunkSchema, completionUsageSchema } from '../wire/completions.js';
import type { DecodeChunk, ServerSentEvent } from '../wire/decode-chunk.js';
import { tidyMessage } from '../wire/tidy.js';
import { BARE_LINE, EventReader } from './sse.js';

/** What a source of chunks has next. */
export type Next =
  | ChatCompletionChunk
  /** The completion is complete. */
  | 'done'
  /** An event without a chunk, such as a heartbeat. */
  | 'skipped'
  /** The body has ended. Whether the completion is complete depends on its chunks. */
  | 'ended'
  /** More of the body must be fed first. */
  | undefined;

/** Where the chunks of a stream come from. */
export interface ChunkSource {
  /** `isWhole`: every choice is complete, so that whatever follows is no part of the completion. */
  next(isWhole: boolean): Next;
  /** The error of a stream that ended before the completion was complete. */
  endedEarly(): ContextGatewayError;
  /** Takes the next bytes of the body, or `undefined` at its end. */
  feed(bytes: Uint8Array | undefined): void;
}

/** The `type` of the error event that a relay sends for a truncated stream. */
export const TRUNCATED = 'stream_truncated';

/** Where in a stream an event stands. */
interface Place {
  cut: boolean;
  isWhole: boolean;
}

const FOREIGN =
  'None of the events is a chat.completion.chunk. For a service with another form, pass the option decodeChunk.';

/** Turns the events of one stream into validated chunks. */
export class EventChunks implements ChunkSource {
  readonly #events = new EventReader();
  readonly #decode: DecodeChunk | undefined;
  readonly #repeated = repeatedChunk<ChatCompletionChunk>();
  /** The data of the first event that was skipped, until there is a chunk. */
  #skipped: string | undefined;
  #hasChunk = false;

  constructor(
    private readonly response: ServiceResponse,
    decodeChunk: DecodeChunk | undefined,
  ) {
    this.#decode = decodeChunk;
  }

  feed(bytes: Uint8Array | undefined): void {
    this.#events.feed(bytes);
  }

  /** @throws {StreamError} for an error event, {ResponseValidationError} for anything unreadable */
  next(isWhole: boolean): Next {
    const { ended } = this.#events;
    const event = this.#events.next();
    if (event === undefined) return ended ? 'ended' : undefined;
    const chunk = this.#read(event, { cut: ended, isWhole });
    if (chunk === undefined) return this.#skip(event);
    if (chunk !== 'done') this.#hasChunk = true;
    else if (this.#isForeign)
      throw new ResponseValidationError(`${FOREIGN} error.body is the first event.`, { body: this.#skipped });
    return chunk;
  }

  endedEarly(): ContextGatewayError {
    const { head, source } = this.response;
    const encoded = stillEncoded(this.#events.unread, head.headers);
    if (encoded !== undefined) return new ResponseValidationError(encoded, { body: undefined });
    const text = this.#events.unread.replace(/^error:/, '').trim();
    const json = tryJson(text);
    if (json !== undefined) checkDepth(json, text);
    const [value] = [json].flat();
    if (isObject(value) && (reportsError(value) || isBareError(value))) return reportedError(value, this.response);
    if (this.#isForeign) return new StreamTruncatedError(`The stream ended too early. ${FOREIGN}`);
    // JSON that is no error may repeat anything of the caller.
    const said = /^[[{]/.test(text) ? '' : excerpt(text, head.status, source.redactor);
    return new StreamTruncatedError(said && `The stream ended too early, with this text in no event: ${said}`);
  }

  /** Whether all events so far are of another form. */
  get #isForeign(): boolean {
    return !this.#hasChunk && this.#skipped !== undefined && this.#decode === undefined;
  }

  /** The first skipped event is reported, in case something else than heartbeats is skipped. */
  #skip({ event, data }: ServerSentEvent): 'skipped' {
    const { call, redactor } = this.response.source;
    if (this.#skipped === undefined && this.#decode === undefined)
      call?.reporter?.emit({ type: 'skipped', event: event === undefined ? undefined : redactor.mask(event) });
    this.#skipped ??= data;
    return 'skipped';
  }

  /**
   * Reads one event as a validated chunk. `cut` means that the body ended within the event. Then an unreadable event is
   * skipped, and the end of the body decides whether anything is missing. So is one after a whole completion.
   */
  #read(event: ServerSentEvent, { cut, isWhole }: Place): ChatCompletionChunk | 'done' | undefined {
    const plain = event.event === undefined && this.#decode === undefined;
    const repeated = plain ? this.#repeated?.recognise(event.data) : undefined;
    if (repeated !== undefined) return repeated;
    const data = event.data.trim();
    if (data === '[DONE]') return 'done';
    if (event.event === 'error') throw reportedError(tryJson(data) ?? data, this.response);
    const value =
      this.#decode === undefined ? parsed(event, cut || isWhole) : decoded(event, cut || isWhole, this.#decode);
    if (value === undefined || value === 'done') return value;
    if (this.#decode === undefined) {
      const isOver = isWhole && ownField(value, 'error') === undefined; // such as { code: 200, message: 'success' }
      if (reportsError(value) || (!isOver && isBareError(value))) throw reportedError(value, this.response);
      if (!isChunk(value)) return undefined;
      tidy(value as Record<string, unknown>);
    }
    const chunk = value as ChatCompletionChunk; // checked in the next line, or reported and returned as it is
    if (this.response.check(chatCompletionChunkSchema, value) && plain) this.#repeated?.learn(event.data, chunk);
    return chunk;
  }
}

function parsed({ event = 'message', data }: ServerSentEvent, isLast: boolean): Record<string, unknown> | undefined {
  const value = tryJson(data);
  if (isObject(value)) return checkDepth(value, data);
  // Heartbeats, and events that EventSource would not call messages.
  if (isLast || event !== 'message' || value === null || data.trim() === '') return undefined;
  throw new ResponseValidationError('The stream contains an event that is not a JSON object.', { body: data });
}

function decoded(
  event: ServerSentEvent,
  isLast: boolean,
  decode: DecodeChunk,
): ChatCompletionChunk | 'done' | undefined {
  if (event.event === BARE_LINE) return undefined;
  const body = event.data;
  let chunk: ReturnType<DecodeChunk>;
  try {
    chunk = decode(event) ?? undefined;
  } catch (cause) {
    if (isLast) return undefined;
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

/** `{ "error": "…" }`, or `{ "message": "…", "code": … }`, in the place of a chunk. */
function isBareError(value: object): boolean {
  if (Object.hasOwn(value, 'choices') || Object.hasOwn(value, 'usage')) return false;
  const isCoded = ownField(value, 'code') !== undefined && typeof ownField(value, 'message') === 'string';
  return isCoded || typeof ownField(value, 'error') === 'string';
}

/** Whether an object has what a chunk is for. Others, such as `{ "type": "ping" }`, are skipped. */
function isChunk(value: object): boolean {
  return (ownField(value, 'choices') ?? ownField(value, 'usage') ?? null) !== null;
}

/** The status is that of a success, so it is removed from the message. */
function reportedError(body: unknown, response: ServiceResponse): APIError | StreamTruncatedError {
  const details = errorDetails(response, body);
  if (details.type === TRUNCATED) return new StreamTruncatedError();
  const { status } = response.head;
  return new StreamError(status, { ...details, message: details.message.replace(`${status} `, '') });
}

/**
 * Gives a chunk the documented form where services differ: `message` in place of `delta`, no `choices` beside `usage`, usage
 * that is not whole.
 */
export function tidy(chunk: Record<string, unknown>): void {
  const { usage } = chunk;
  // Many services send null with each chunk but the last.
  const isGiven = usage !== undefined && usage !== null;
  const isRead = (): boolean => findIssues(completionUsageSchema, usage) === undefined;
  if (isGiven && !isRead() && !(repair(completionUsageSchema, usage) && isRead())) chunk.usage = undefined;
  chunk.choices ??= [];
  const { choices } = chunk;
  if (!Array.isArray(choices)) return;
  for (const choice of choices) {
    if (!isObject(choice)) continue;
    choice.delta ??= choice.message ?? {};
    if (isObject(choice.delta)) tidyMessage(choice.delta);
    if (choices.length === 1) choice.index ??= 0;
  }
}
