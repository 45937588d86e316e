import { defaultCode } from '../base/error-data.js';
import {
  APIAbortError,
  type ErrorData,
  RequestValidationError,
  ResponseValidationError,
  StreamConsumedError,
  StreamTruncatedError,
  toErrorData,
  toErrorResponse,
} from '../index.js';
import type { ChatTurn, CompactionReceipt, PromptReport, Recalled, ReplyStream } from './model.js';

/**
 * What a page learns about a turn, in this order: `recalled` if something was, the `text` in pieces, the `turn` as it
 * was stored, an `error` if there was one, and the `receipt` of a compaction that ran after it.
 */
export type TurnEvent =
  | { type: 'recalled'; recalled: Recalled[] }
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

/** A reply that can be read once, by a loop or by `final()`. Reading it starts the turn, and drives it. */
export class Reply implements ReplyStream {
  readonly #pieces: AsyncGenerator<string, TurnEnd>;
  readonly #caller: AbortSignal | undefined;
  readonly #stop = new AbortController();
  #isRead = false;
  #end: TurnEnd | undefined;
  text = '';
  report: PromptReport | undefined;

  constructor(
    makeTurn: (signal: AbortSignal, reply: Reply) => AsyncGenerator<string, TurnEnd>,
    caller: AbortSignal | undefined,
  ) {
    this.#pieces = makeTurn(this.#stop.signal, this);
    this.#caller = caller;
  }

  /** @throws {StreamConsumedError} on a second loop */
  [Symbol.asyncIterator](): AsyncIterator<string> {
    if (this.#isRead) throw new StreamConsumedError();
    this.#begin();
    let seen = 0;
    let hasLeft = false;
    return {
      next: async () => {
        while (seen === this.text.length && this.#end === undefined) await this.#take();
        const value = this.text.slice(seen);
        seen = this.text.length;
        if (value !== '') return { done: false, value };
        if (this.#end?.error !== undefined && !hasLeft) throw this.#end.error;
        return { done: true, value: undefined };
      },
      return: async () => {
        hasLeft = true;
        this.#stop.abort();
        await this.readOn();
        return { done: true, value: undefined };
      },
    };
  }

  async final(): Promise<ChatTurn> {
    if (!this.#isRead) this.#begin();
    const { turn, error } = await this.readOn();
    if (turn !== undefined) return turn;
    throw error;
  }

  async toResponse(): Promise<Response> {
    const texts = this[Symbol.asyncIterator]();
    try {
      const events = this.#events(texts, await texts.next());
      return eventResponse(events, async () => void (await texts.return?.()));
    } catch (error) {
      return toErrorResponse(error);
    }
  }

  /** Takes all pieces, so that the turn ends even if its reader is slow or has left. */
  async readOn(): Promise<TurnEnd> {
    while (this.#end === undefined) await this.#take();
    return this.#end;
  }

  #begin(): void {
    this.#isRead = true;
    this.#caller?.addEventListener('abort', this.#abort);
    if (this.#caller?.aborted === true) this.#abort();
  }

  readonly #abort = (): void => {
    this.#stop.abort(this.#caller?.reason);
    void this.readOn();
  };

  async #take(): Promise<void> {
    const { done, value } = await this.#pieces.next().catch((error: unknown) => ({ done: true, value: { error } }));
    if (!done) {
      this.text += value;
    } else {
      this.#end ??= value;
      this.#caller?.removeEventListener('abort', this.#abort);
    }
  }

  /** The events for a page, after the first piece of text has arrived. */
  async *#events(texts: AsyncIterator<string>, first: IteratorResult<string>): AsyncGenerator<TurnEvent, undefined> {
    const { recalled = [] } = this.report ?? {};
    if (recalled.length > 0) yield { type: 'recalled', recalled };
    try {
      for (let step = first; !step.done; step = await texts.next()) yield { type: 'text', text: step.value };
    } catch {} // below, as the error of the turn
    const { turn, error, receipt: behind } = await this.readOn();
    if (turn !== undefined) {
      const { completion: _, ...stored } = turn;
      yield { type: 'turn', turn: stored };
    }
    if (error !== undefined) yield { type: 'error', error: toErrorData(error) };
    const receipt = await behind;
    if (receipt !== undefined) yield { type: 'receipt', receipt };
  }
}

/** A response of server-sent events. `leave` is called if the page leaves. */
function eventResponse(events: AsyncGenerator<TurnEvent>, leave: () => Promise<void>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await events.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      },
      cancel: leave, // not the generator's `return`, which would wait for the pending read
    },
    { highWaterMark: 0 },
  );
  // nginx buffers a response without the last header.
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return new Response(body, { headers });
}

/**
 * Reads a turn on a page: `for await (const event of readTurn(await fetch('/chat', …)))`. Pass the response of your
 * server, which is that of `conversation.respond`. A response with an error status is one event, `error`. Leaving the
 * loop before the `turn` stops the reply.
 *
 * @throws {RequestValidationError} when `response` is not a response, such as a promise of one
 * @throws {StreamTruncatedError} when the response ends before the turn does
 * @throws {APIAbortError} when your signal aborts the request
 * @throws {ResponseValidationError} when the response contains something else
 * @example
 * ```ts
 * import { readTurn } from 'context-gateway/conversation';
 * const response = await conversation.respond('The harbour opens at six. When does the harbour open?');
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
    throw new ResponseValidationError(`Expected the response of conversation.respond, but this one is ${type}.`, {
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
