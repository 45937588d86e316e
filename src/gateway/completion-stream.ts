import type { ResponseInfo } from '../base/response-info.js';
import { isWellFormed, toWellFormed } from '../base/unicode.js';
import { ContextGatewayError } from '../errors/base.js';
import { captureCallSite, endCallWith } from '../errors/call.js';
import { StreamConsumedError, StreamTruncatedError } from '../errors/stream.js';
import { ResponseValidationError } from '../errors/validation.js';
import { discard } from '../transport/body.js';
import type { CallFacts } from '../transport/call.js';
import { type Ending, endingOf } from '../transport/reporter.js';
import type { ServiceResponse } from '../transport/service-response.js';
import { EventReader } from '../transport/sse.js';
import { ChunkReader, type DecodeChunk } from './chunk.js';
import { CompletionSoFar, firstText } from './completion-so-far.js';
import { eventStreamOf } from './event-stream.js';
import type { ChatCompletionChunk, StreamedChatCompletion } from './schemas.js';

/** Timings of a stream. All times are milliseconds. */
export interface StreamMetrics {
  /** From the request to the first chunk. */
  readonly timeToFirstChunk: number | undefined;
  /** The longest wait for an event after the first chunk, without the time that the reader takes. */
  readonly largestGap: number | undefined;
  readonly chunks: number;
  /** From the request to now, or to the end of the stream. */
  readonly duration: number;
}

type Step = IteratorResult<ChatCompletionChunk, undefined>;

/** The first half of a character that UTF-16 writes in two. A service may send its halves in two chunks. */
const FIRST_HALF = /[\ud800-\udbff]$/;

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * A streamed completion. Loop over it once. The loop ends when the completion is complete, and throws in every other
 * case; the error's `partial` holds what has arrived. Leaving the loop closes the stream and frees its connection.
 */
export class ChatCompletionStream implements AsyncIterable<ChatCompletionChunk> {
  readonly #response: ServiceResponse;
  readonly #call: CallFacts;
  readonly #events = new EventReader();
  readonly #reader: ChunkReader;
  readonly #soFar = new CompletionSoFar();
  /** A whole completion that arrived as JSON: the only chunk of this stream. */
  #given: ChatCompletionChunk | undefined;
  #outcome: 'open' | 'complete' | Error = 'open';
  #consumed = false;
  #thrown = false;
  /** The error of a stream that was closed by its reader. */
  #left: Error | undefined;
  /** The promise of the last `next` call, and how many calls are pending. */
  #turn: Promise<Step> = Promise.resolve(END);
  #unanswered = 0;
  /** Chunks that `finalCompletion` has read and a loop will get, and the position of the next one. */
  #ahead: (ChatCompletionChunk | undefined)[] = [];
  #at = 0;
  /** Calls of `finalCompletion` that wait for a loop to end. */
  #waiting: (() => void)[] = [];
  #waitingSince: number | undefined;
  #chunks = 0;
  #firstAt: number | undefined;
  #largestGap: number | undefined;
  #endedAt: number | undefined;

  /** @internal */
  constructor(response: ServiceResponse, decode: DecodeChunk | undefined, given?: ChatCompletionChunk) {
    this.#response = response;
    this.#call = response.call;
    this.#given = given;
    this.#reader = new ChunkReader(response, decode);
    // Called on an abort, a deadline and an idle timeout.
    this.#call.timeouts.follow({ progress: { phase: 'stream', sent: 'yes' }, cancel: (error) => this.#fail(error) });
  }

  /** Status, headers and attempts of the response. */
  get response(): ResponseInfo {
    return this.#response.info;
  }

  /** Reads the stream. @throws {StreamConsumedError} on a second loop */
  [Symbol.asyncIterator](): AsyncIterator<ChatCompletionChunk, undefined> {
    if (this.#consumed) throw this.#withFacts(new StreamConsumedError());
    this.#consumed = true;
    return { next: () => this.#next(this.#step), return: this.#leave };
  }

  /** The text of the first choice, in pieces. Reads the stream, like a loop. */
  get textStream(): AsyncIterable<string> {
    return {
      [Symbol.asyncIterator]: () => {
        const texts = textsOf(this[Symbol.asyncIterator]());
        // The generator's own `return` would wait for the pending `next`.
        return { next: () => texts.next(), return: this.#leave };
      },
    };
  }

  /**
   * The whole completion. Call it instead of a loop, or right before, in or after one. In the loop, it reads the stream
   * to its end, and the loop then gets the chunks that were read. `usage` is set if the service sent it.
   *
   * @throws {StreamTruncatedError} when the loop was left early; otherwise the error that ended the stream
   */
  finalCompletion(): Promise<StreamedChatCompletion> {
    const inLoop = this.#isBetweenReads;
    // Reads the stream itself, unless a loop does. The loop may also begin, or go on, right after this call.
    const whole = Promise.resolve().then(() => {
      if (!this.#consumed) return this.#readAll();
      // The loop throws the same error. A promise that is never awaited must not end the process.
      whole.catch(() => {});
      return this.#whole(inLoop);
    });
    return whole;
  }

  /**
   * The stream as server-sent events, to relay it to a browser. There, `readChatCompletionStream` reads it. An error
   * becomes an error event. Cancelling the returned stream closes this one.
   */
  toReadableStream(): ReadableStream<Uint8Array> {
    return eventStreamOf(this[Symbol.asyncIterator]());
  }

  /**
   * Closes the stream and frees its connection. A loop over it throws a `StreamTruncatedError`, unless the completion
   * was complete.
   */
  close(): void {
    this.#left = new StreamTruncatedError('The stream was closed before the completion was complete.');
    this.#end(this.#left);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Timings of the stream so far. */
  get metrics(): StreamMetrics {
    const { startedAt, runtime } = this.#call;
    return {
      timeToFirstChunk: this.#firstAt === undefined ? undefined : this.#firstAt - startedAt,
      largestGap: this.#largestGap,
      chunks: this.#chunks,
      duration: (this.#endedAt ?? runtime.now()) - startedAt,
    };
  }

  /** For `console.log` on Node: prints no text of the conversation. */
  [Symbol.for('nodejs.util.inspect.custom')](): unknown {
    return { stream: (this.#outcome as Error).name ?? this.#outcome, ...this.metrics };
  }

  async #readAll(): Promise<StreamedChatCompletion> {
    for await (const _ of this);
    return this.#whole(false);
  }

  /** Whether the loop has got a chunk, and does not ask for the next one. */
  get #isBetweenReads(): boolean {
    return this.#chunks > 0 && this.#unanswered === 0;
  }

  async #whole(inLoop: boolean): Promise<StreamedChatCompletion> {
    if (inLoop && this.#isBetweenReads) while (this.#outcome === 'open') await this.#next(this.#readAhead);
    if (this.#outcome === 'open') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#outcome instanceof Error) {
      captureCallSite(this.#outcome);
      throw this.#outcome;
    }
    return this.#soFar.whole();
  }

  /** Overlapping calls resolve in order. */
  #next(step: () => Promise<Step>): Promise<Step> {
    this.#unanswered += 1;
    this.#turn = this.#unanswered === 1 ? step() : this.#turn.then(step, step);
    return this.#turn;
  }

  readonly #step = (): Promise<Step> => this.#read(false);
  readonly #readAhead = (): Promise<Step> => this.#read(true);

  /** One function for all, because a generator or one more `await` takes 0.1 to 0.2 µs longer for each event. */
  async #read(ahead: boolean): Promise<Step> {
    try {
      const early = ahead ? undefined : this.#takeAhead();
      if (early !== undefined) return { done: false, value: early };
      while (this.#outcome === 'open') {
        if (this.#given !== undefined) return { done: false, value: this.#takeGiven(this.#given) };
        const event = this.#events.next();
        if (event === undefined && !this.#events.ended) {
          const bytes = this.#response.head.body.read();
          this.#startWaiting();
          this.#events.feed(bytes === undefined || ArrayBuffer.isView(bytes) ? bytes : await bytes);
          continue;
        }
        this.#stopWaiting();
        const chunk = event === undefined ? this.#endOfBody() : this.#reader.read(event, this.#events.ended);
        if (chunk === 'done') this.#complete();
        else if (chunk !== undefined) {
          const value = this.#take(chunk);
          if (ahead) this.#ahead.push(value);
          return { done: false, value };
        }
      }
    } catch (error) {
      this.#fail(error instanceof ContextGatewayError ? error : unreadable(error));
    } finally {
      this.#unanswered -= 1;
    }
    if (ahead || !(this.#outcome instanceof Error) || this.#thrown) return END;
    this.#thrown = true; // iterators throw once
    captureCallSite(this.#outcome);
    throw this.#outcome;
  }

  #takeAhead(): ChatCompletionChunk | undefined {
    const chunk = this.#ahead[this.#at];
    if (chunk !== undefined) this.#ahead[this.#at++] = undefined;
    return chunk;
  }

  readonly #leave = async (): Promise<typeof END> => {
    this.#thrown = true; // a reader that leaves gets no error
    this.#ahead = [];
    this.close();
    return END;
  };

  /** The idle timeout runs while the reader waits for an event, whatever else arrives. At other times it is paused. */
  #startWaiting(): void {
    if (this.#waitingSince !== undefined) return;
    this.#waitingSince = this.#call.runtime.now();
    this.#call.timeouts.progressed(1, this.#waitingSince);
  }

  #stopWaiting(): void {
    const now = this.#call.runtime.now();
    this.#call.timeouts.pauseWatching(now);
    if (this.#waitingSince === undefined) return;
    const waited = now - this.#waitingSince;
    if (this.#chunks > 0) this.#largestGap = Math.max(this.#largestGap ?? 0, waited);
    this.#waitingSince = undefined;
  }

  /** Without `[DONE]`, the completion is complete if every choice has its `finish_reason`. */
  #endOfBody(): 'done' {
    if (!this.#soFar.finished) throw new StreamTruncatedError();
    return 'done';
  }

  #take(chunk: ChatCompletionChunk): ChatCompletionChunk {
    this.#firstAt ??= this.#call.runtime.now();
    this.#chunks += 1;
    this.#soFar.add(chunk);
    return chunk;
  }

  #takeGiven(chunk: ChatCompletionChunk): ChatCompletionChunk {
    this.#given = undefined;
    this.#stopWaiting();
    return this.#take(chunk);
  }

  #complete(): void {
    this.#settle('complete', { outcome: 'success', error: undefined });
    // Most services end the body right after `[DONE]`, so its connection can be reused. A body that goes on is
    // cancelled.
    void discard(this.#response.head.body, this.#call.runtime);
  }

  /** Ends the stream early with an error, unless its reader left it. */
  #fail(error: Error): void {
    if (this.#outcome === 'open') {
      const { attempts, reporter } = this.#call;
      reporter?.emit({ type: 'failure', attempt: attempts.length, reason: error.name, stop: 'not-repeatable' });
    }
    this.#end(error);
  }

  #end(error: Error): void {
    if (this.#outcome !== 'open') return;
    const ending = error === this.#left ? ({ outcome: 'cancelled', error: undefined } as const) : endingOf(error);
    this.#settle(error instanceof ContextGatewayError ? this.#withFacts(error) : error, ending);
    this.#response.head.body.cancel(error);
  }

  #withFacts<E extends ContextGatewayError>(error: E): E {
    endCallWith(error, this.#call, () => this.#soFar.partial());
    return error;
  }

  #settle(outcome: 'complete' | Error, ending: Ending): void {
    const { reporter, runtime } = this.#call;
    this.#outcome = outcome;
    this.#endedAt = runtime.now();
    if (reporter !== undefined) {
      const { timeToFirstChunk, largestGap } = this.metrics;
      reporter.completion = this.#soFar.facts();
      reporter.done({ ...ending, timeToFirstChunk, largestGap }, this.#endedAt);
    }
    this.#call.timeouts.end();
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}

/** A chunk from `decodeChunk` whose fields cannot be read. It may throw anything, also what is no error. */
function unreadable(cause: unknown): ResponseValidationError {
  return new ResponseValidationError('A chunk of the stream could not be read.', { body: undefined, cause });
}

async function* textsOf(chunks: AsyncIterator<ChatCompletionChunk, undefined>): AsyncGenerator<string, undefined> {
  let half = '';
  for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) {
    const text = half + firstText(chunk);
    half = isWellFormed(text) ? '' : (FIRST_HALF.exec(text)?.[0] ?? '');
    const complete = toWellFormed(text.slice(0, text.length - half.length));
    if (complete !== '') yield complete;
  }
  if (half !== '') yield toWellFormed(half);
}
