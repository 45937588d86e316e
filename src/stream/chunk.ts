import { stillEncoded } from '#platform';
import { ignoreErrors, isThenable } from '../base/ignore-errors.js';
import { tryJson } from '../base/json.js';
import { isObject, ownField } from '../base/objects.js';
import type { APIError } from '../errors/api.js';
import { ContextGatewayError } from '../errors/base.js';
import { StreamError, StreamTruncatedError } from '../errors/stream.js';
import { ResponseValidationError } from '../errors/validation.js';
import type { ByteSource } from '../platform/engine.js';
import { reportsError } from '../response/body.js';
import { check } from '../response/check.js';
import { errorDetails, excerpt, isBareError, saysWhy } from '../response/error-details.js';
import type { ServiceResponse } from '../response/service-response.js';
import { checkDepth } from '../validation/json.js';
import { type ChatCompletionChunk, chatCompletionChunkSchema } from '../wire/completions.js';
import type { DecodeChunk, ServerSentEvent } from '../wire/decode-chunk.js';
import { objectsIn, tidyMessage, tidyUsage } from '../wire/tidy.js';
import { BARE, EventReader } from './sse.js';

/** What a stream has next. */
type Next =
  | ChatCompletionChunk
  /** The completion is complete. */
  | 'done'
  /** An event without a chunk, such as a heartbeat. */
  | 'skipped'
  /** The body has ended. Whether the completion is complete depends on its chunks. */
  | 'ended'
  /** More of the body must be fed first. */
  | undefined;

/** The `type` of the error event that a relay sends for a truncated stream. */
export const TRUNCATED = 'stream_truncated';

/** Where in a stream an event stands. */
interface Place {
  cut: boolean;
  isWhole: boolean;
}

/** Characters in which the words of what is no event are looked for. What is masked must be whole. */
const MAX_SAID = 64 * 1024;

/** Turns the events of one stream into validated chunks. */
export class EventChunks {
  readonly #events = new EventReader();
  readonly #decode: DecodeChunk | undefined;
  /** The data of the first event that was skipped, and of the last one since the last chunk. */
  #firstSkipped: string | undefined;
  #lastSkipped: string | undefined;
  #hasChunk = false;
  /** What `begin` has read. */
  #first: Next;
  /** The fields that the `delta` of each choice had: a `message` that follows has all of them again. */
  readonly #written = new Map<unknown, Set<string>>();
  /** Whether all that came is JSON in no event with a whole message. */
  #isWholeJson = false;

  constructor(
    private readonly response: ServiceResponse,
    decodeChunk: DecodeChunk | undefined,
  ) {
    this.#decode = decodeChunk;
  }

  /** Takes the next bytes of the body, or `undefined` at its end. */
  feed(bytes: Uint8Array | undefined): void {
    this.#events.feed(bytes);
  }

  /** Reads the body up to the first chunk. Returns the text so far of a page: it begins with neither an event nor JSON. */
  async begin(body: ByteSource): Promise<string | undefined> {
    const decoder = new TextDecoder();
    let start: string | undefined = '';
    for (;;) {
      const next = start === undefined ? this.next(false) : undefined;
      if (next === 'ended') throw this.endedEarly();
      if (next === undefined) {
        const bytes = await body.read();
        if (start !== undefined) start = (start + decoder.decode(bytes, { stream: true })).trimStart();
        this.feed(bytes);
        if (start !== undefined && (start.length >= 'event:'.length || bytes === undefined)) {
          if (!mayStream(start)) return start;
          start = undefined;
        }
      } else if (next !== 'skipped') {
        this.#first = next;
        return undefined;
      }
    }
  }

  /**
   * `isWhole`: every choice is complete, so that whatever follows is no part of the completion.
   * @throws {StreamError} for an error event, {ResponseValidationError} for anything unreadable
   */
  next(isWhole: boolean): Next {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    const { ended } = this.#events;
    const event = this.#events.next();
    if (event === undefined && ended) return this.#isWholeJson ? 'done' : 'ended';
    if (event === undefined) return undefined;
    const chunk = this.#read(event, { cut: ended, isWhole });
    if (chunk === undefined) return this.#skip(event);
    this.#lastSkipped = undefined;
    if (this.#hasChunk) this.#isWholeJson = false;
    if (chunk !== 'done') this.#hasChunk = true;
    else if (this.#isForeign) throw this.#foreign();
    return chunk;
  }

  /** The error of a stream that ended before the completion was complete. */
  endedEarly(): ContextGatewayError {
    const { head, source } = this.response;
    const { unread } = this.#events;
    const encoded = stillEncoded(unread, head.headers);
    if (encoded !== undefined) return new ResponseValidationError(encoded, { body: undefined });
    const value = tryJson(this.#lastSkipped ?? '');
    const saysNothing = this.#decode !== undefined || !saysWhy(value, source.redactor);
    if (isObject(value) && (reportsError(value) || !saysNothing)) return reportedError(value, this.response);
    if (this.#isForeign) return this.#foreign();
    // JSON that is no error may repeat anything of the caller.
    const text = unread
      .slice(0, MAX_SAID)
      .replace(/^error:/, '')
      .trim();
    const said = /^[[{]/.test(text) ? '' : excerpt(text, head.status, source.redactor);
    return new StreamTruncatedError(said && `The stream ended too early, with this text in no event: ${said}`);
  }

  /** Whether there was any chunk. */
  get hasChunk(): boolean {
    return this.#hasChunk;
  }

  /** Whether all events so far are of another form. */
  get #isForeign(): boolean {
    return !this.#hasChunk && this.#firstSkipped !== undefined && this.#decode === undefined;
  }

  #foreign(): ResponseValidationError {
    const message =
      'None of the events is a chat.completion.chunk: error.body is the first. For a service with another form, pass the option decodeChunk.';
    return new ResponseValidationError(message, { body: this.#firstSkipped });
  }

  /** The first skipped event is reported, in case something else than heartbeats is skipped. */
  #skip({ event, data }: ServerSentEvent): 'skipped' {
    const { call, redactor } = this.response.source;
    if (this.#firstSkipped === undefined && this.#decode === undefined)
      call?.reporter?.emit({ type: 'skipped', event: event === undefined ? undefined : redactor.mask(event) });
    this.#firstSkipped ??= data;
    this.#lastSkipped = data;
    return 'skipped';
  }

  /**
   * Reads one event as a validated chunk. `cut` means that the body ended within the event. Then an unreadable event is
   * skipped, and the end of the body decides whether anything is missing. So is one after a whole completion.
   */
  #read(event: ServerSentEvent, { cut, isWhole }: Place): ChatCompletionChunk | 'done' | undefined {
    const isBare = event.event === BARE;
    const data = event.data.trim();
    if (data === '[DONE]') return 'done';
    if (event.event === 'error') throw reportedError(tryJson(data) ?? data, this.response);
    const decode = this.#decode;
    let value: object | 'done' | undefined;
    if (decode === undefined || isBare) {
      const found = parsed(event, cut || isWhole);
      if (found === undefined) return undefined;
      if (reportsError(found)) throw reportedError(found, this.response);
      // An event of another name says how the work goes on, and one after a whole completion that it went well.
      const isOther = event.event !== undefined && event.event !== 'message' && !isBare;
      const isOver = isOther || (isWhole && ownField(found, 'error') === undefined);
      if (decode === undefined && !isOver && isBareError(found)) throw reportedError(found, this.response);
      if (decode === undefined ? isChunk(found) : hasReply(found)) value = this.#tidy(found, isBare);
    }
    if (value === undefined && decode !== undefined) value = decoded(isBare ? { data } : event, cut || isWhole, decode);
    if (value === undefined || value === 'done') return value;
    const chunk = value as ChatCompletionChunk; // checked in the next line, or reported and returned as it is
    check(this.response, chatCompletionChunkSchema, value);
    return chunk;
  }

  /**
   * Gives a chunk the documented form where services differ: `message` in place of `delta`, no `choices` beside `usage`,
   * usage that is not whole.
   */
  #tidy(chunk: Record<string, unknown>, isBare: boolean): object {
    tidyUsage(chunk);
    chunk.choices ??= [];
    const choices = objectsIn(chunk.choices);
    for (const [at, choice] of choices.entries()) {
      const { delta, message } = choice;
      if (choices.length === 1 || message) choice.index ??= at;
      const written = this.#written.get(choice.index) ?? new Set();
      this.#written.set(choice.index, written);
      for (const [name, piece] of Object.entries(Object(delta))) if (piece) written.add(name);
      if (delta === undefined || delta === null || isObject(message)) {
        const more = Object.entries(Object(message)).filter(([name]) => !written.has(name));
        choice.delta = { ...Object(delta), ...Object.fromEntries(more) };
      }
      if (isObject(choice.delta)) tidyMessage(choice.delta);
    }
    this.#isWholeJson = isBare && choices.length > 0 && choices.every(({ message }) => message);
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

/** Whether a text may be that of a stream: it begins with an event, or with JSON. */
export function mayStream(text: string): boolean {
  return /^(?:(?:data|event|id|retry)? *:|\{|\[\s*[[{])/.test(text.trimStart());
}

/** Whether an object has a choice in the form of a chunk or a completion. */
function hasReply(value: object): boolean {
  return objectsIn(ownField(value, 'choices')).some(({ delta, message }) => delta || message);
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
