import { defaultCode } from '../../base/error-data.js';
import { unlessSilent, withHeartbeats } from '../../base/heartbeats.js';
import { ignoreErrors } from '../../base/ignore-errors.js';
import { onAbort } from '../../base/on-abort.js';
import { streamOf } from '../../base/stream-of.js';
import {
  APIAbortError,
  type ErrorData,
  RequestValidationError,
  ResponseValidationError,
  StreamTruncatedError,
  toErrorData,
  toErrorResponse,
} from '../../index.js';
import type { ChatTurn, CompactionReceipt, FoundMessage, PromptReport, ReplyStream } from '../model.js';
import type { TurnOptions } from '../options.js';

/**
 * What a page learns about a turn, in this order: `recalled` if something was, the `text` in pieces, the `turn` as it
 * was stored, an `error` if there was one, and the `receipt` of a compaction that ran after it.
 */
export type TurnEvent =
  | { type: 'recalled'; recalled: FoundMessage[] }
  | { type: 'text'; text: string }
  | { type: 'turn'; turn: Omit<ChatTurn, 'completion'> }
  | { type: 'error'; error: ErrorData }
  | { type: 'receipt'; receipt: CompactionReceipt };

/** The end of a turn: what was stored, if any text arrived, and why it ended early. */
export interface TurnEnd {
  turn?: ChatTurn | undefined;
  error?: unknown;
  /** Resolves when the turn's background work has ended, to the receipt of its compaction. */
  receipt?: Promise<CompactionReceipt | undefined> | undefined;
}

/** A reply that any number of loops may read, each from its start. Reading it starts the turn, and drives it. */
export class Reply implements ReplyStream {
  readonly id = crypto.randomUUID();
  readonly #pieces: AsyncGenerator<string, TurnEnd>;
  readonly #caller: AbortSignal | undefined;
  readonly #background: boolean;
  readonly #stop = new AbortController();
  #unfollow: (() => void) | undefined;
  #isRead = false;
  /** Loops that were not left. */
  #loops = 0;
  /** The piece that all loops wait for. */
  #taking: Promise<void> | undefined;
  #end: TurnEnd | undefined;
  /** Not joined for each reader: to cut a text that grows takes quadratic time. */
  readonly #texts: string[] = [];
  #joined = { text: '', texts: 0 };
  report: PromptReport | undefined;

  /** @internal With a tag, Vue does not wrap it in a proxy, behind which private fields cannot be read. */
  get [Symbol.toStringTag](): string {
    return 'Reply';
  }

  constructor(
    makeTurn: (signal: AbortSignal, reply: Reply) => AsyncGenerator<string, TurnEnd>,
    { signal, background = false }: Pick<TurnOptions, 'signal' | 'background'>,
  ) {
    this.#pieces = makeTurn(this.#stop.signal, this);
    this.#caller = signal;
    this.#background = background;
  }

  get text(): string {
    const { text, texts } = this.#joined;
    if (texts < this.#texts.length)
      this.#joined = { text: text + this.#texts.slice(texts).join(''), texts: this.#texts.length };
    return this.#joined.text;
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    this.#begin();
    this.#loops += 1;
    let seen = 0;
    let hasLeft = false;
    return {
      next: async () => {
        while (!hasLeft && seen === this.#texts.length && this.#end === undefined) await this.#take();
        const value = this.#texts.slice(seen).join('');
        seen = this.#texts.length;
        if (hasLeft) return { done: true, value: undefined };
        if (value !== '') return { done: false, value };
        if (this.#end?.error !== undefined) throw this.#end.error;
        return { done: true, value: undefined };
      },
      return: async () => {
        if (!hasLeft) {
          hasLeft = true;
          await this.#leave();
        }
        return { done: true, value: undefined };
      },
    };
  }

  async final(): Promise<ChatTurn> {
    const { turn, error } = await this.readOn();
    if (turn !== undefined) return turn;
    throw error;
  }

  async receipt(): Promise<CompactionReceipt | undefined> {
    return (await this.readOn()).receipt;
  }

  /** Takes all pieces, so that the turn ends even if its reader is slow or has left. */
  async readOn(): Promise<TurnEnd> {
    this.#begin();
    while (this.#end === undefined) await this.#take();
    return this.#end;
  }

  #begin(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    if (this.#caller !== undefined) this.#unfollow = onAbort(this.#caller, this.#abort);
    if (this.#caller?.aborted === true) this.#abort();
    if (this.#background) void this.readOn();
  }

  /** The last loop that is left stops the reply, and waits until its text so far is stored. */
  async #leave(): Promise<void> {
    this.#loops -= 1;
    if (this.#loops > 0 || this.#background) return;
    this.#stop.abort();
    await this.readOn();
  }

  readonly #abort = (): void => {
    this.#stop.abort(this.#caller?.reason);
    void this.readOn();
  };

  #take(): Promise<void> {
    this.#taking ??= this.#next().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #next(): Promise<void> {
    const failed = (error: unknown) => ({ done: true as const, value: { error } });
    const { done, value } = await this.#pieces.next().catch(failed);
    if (done) {
      this.#end ??= value;
      this.#unfollow?.();
    } else if (value !== '') this.#texts.push(value);
  }
}

/**
 * Creates the response for a page, which reads it with `readTurn`: server-sent events, or a JSON error with its status if the
 * turn fails within eight seconds, before its first text. Reads the reply from its start. If the turn starts a compaction, the
 * response ends after it. While the model is silent, a comment is sent every eight seconds, so that no proxy ends the response.
 *
 * If the page is closed, the reply is stopped, and its text so far is stored. Also pass the signal of the request to the
 * reply, so that it stops if the page is closed before the first text. With the option `background`, and without that
 * signal, the reply continues, and a page that is reloaded gets another response.
 *
 * A page is not told about problems of your own server: a missing key, a service that cannot be reached. It gets a status
 * of 500 or more, and `onError` the error.
 *
 * @example
 * ```ts
 * import { toResponse } from 'context-gateway/conversation';
 * const response = await toResponse(conversation.stream('The harbour opens at six. When does the harbour open?'));
 * console.log(response.status, (await response.text()).split('\n')[0]);
 * ```
 */
export async function toResponse(
  reply: ReplyStream,
  { onError }: { onError?: ((error: unknown) => void) | undefined } = {},
): Promise<Response> {
  const texts = reply[Symbol.asyncIterator]();
  const tell = (error: unknown): void => {
    if (toErrorData(error).status >= 500) ignoreErrors(() => onError?.(error));
  };
  const first = texts.next();
  try {
    await unlessSilent(first);
  } catch (error) {
    tell(error);
    return toErrorResponse(error);
  }
  const events = eventsOf(reply, texts, first, tell);
  first.catch(() => {}); // the page may leave before it reads the events
  return eventResponse(events, () => texts.return?.());
}

/** The events for a page. */
async function* eventsOf(
  reply: ReplyStream,
  texts: AsyncIterator<string>,
  first: Promise<IteratorResult<string>>,
  onError: (error: unknown) => void,
): AsyncGenerator<TurnEvent, undefined> {
  let failure: { error: unknown } | undefined;
  try {
    let step = await first;
    const { recalled = [] } = reply.report ?? {};
    if (recalled.length > 0) yield { type: 'recalled', recalled };
    for (; !step.done; step = await texts.next()) yield { type: 'text', text: step.value };
  } catch (error) {
    failure = { error };
    onError(error);
  }
  const ended = await reply.final().catch(() => undefined); // with the error of the loop
  if (ended !== undefined) {
    const { completion: _, ...turn } = ended;
    yield { type: 'turn', turn };
  }
  if (failure !== undefined) yield { type: 'error', error: toErrorData(failure.error) };
  const receipt = await reply.receipt();
  if (receipt !== undefined) yield { type: 'receipt', receipt };
}

/** A response of server-sent events. `leave` is called if the page leaves. */
function eventResponse(events: AsyncGenerator<TurnEvent>, leave: () => unknown): Response {
  const body = streamOf(withHeartbeats(encoded(events)), leave);
  // Without `no-transform`, middleware that compresses holds the text back; without the last header, nginx does.
  const cache = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };
  const headers = { 'content-type': 'text/event-stream', ...cache };
  return new Response(body, { headers });
}

async function* encoded(events: AsyncGenerator<TurnEvent>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  for await (const event of events) yield encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
}

/**
 * Reads a turn in a page: `for await (const event of readTurn(await fetch('/chat', …)))`. Your server must return the
 * response of `toResponse`. A response with an error status yields one event, `error`. Leaving the loop before the event
 * `turn` stops the reply.
 *
 * @throws {RequestValidationError} when `response` is not a response, such as a promise of one
 * @throws {StreamTruncatedError} when the response ends before the turn does
 * @throws {APIAbortError} when your signal aborts the request
 * @throws {ResponseValidationError} when the response contains something else
 * @example
 * ```ts
 * import { readTurn, toResponse } from 'context-gateway/conversation';
 * const response = await toResponse(conversation.stream('The harbour opens at six. When does the harbour open?'));
 * for await (const event of readTurn(response)) if (event.type === 'text') process.stdout.write(event.text);
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
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      rest += text;
      if (!text.includes('\n')) continue; // a long event is not searched again with each part of it
      const events = rest.split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) if (event.startsWith('data: ')) yield event.slice(6);
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
