import type { ResponseInfo } from '../api-promise.js';
import { ContextGatewayError } from '../errors/base.js';
import { captureCallSite, endCallWith } from '../errors/call.js';
import { StreamConsumedError, StreamTruncatedError } from '../errors/stream.js';
import type { Answer } from '../transport/answer.js';
import { discard } from '../transport/body.js';
import type { CallFacts } from '../transport/call.js';
import { type Ending, endingOf } from '../transport/reporter.js';
import { EventReader } from '../transport/sse.js';
import { ChunkReader, type DecodeChunk } from './chunk.js';
import { CompletionSoFar, firstText } from './completion-so-far.js';
import { eventStreamOf } from './event-stream.js';
import type { ChatCompletionChunk, StreamedChatCompletion } from './schemas.js';

/** How a stream has gone so far. Times in ms. */
export interface StreamMetrics {
  /** From the request to the first chunk. */
  readonly timeToFirstChunk: number | undefined;
  /** The longest wait for an event after the first chunk. The time the reader takes for itself does not count. */
  readonly largestGap: number | undefined;
  readonly chunks: number;
  /** From the request to now, or to the stream's end. */
  readonly duration: number;
}

type Step = IteratorResult<ChatCompletionChunk, undefined>;

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * A completion while it is written. Loop over it once: the loop ends exactly when the completion is complete, and throws in
 * every other case, with what had arrived in the error's `partial`. Leaving the loop frees the connection.
 */
export class ChatCompletionStream implements AsyncIterable<ChatCompletionChunk> {
  readonly #answer: Answer;
  readonly #call: CallFacts;
  readonly #events = new EventReader();
  readonly #reader: ChunkReader;
  readonly #soFar = new CompletionSoFar();
  /** A whole completion that came as JSON: the one chunk of this stream. */
  #given: ChatCompletionChunk | undefined;
  #outcome: 'open' | 'complete' | Error = 'open';
  #consumed = false;
  #thrown = false;
  /** The error of a stream that its reader closes. */
  #left: Error | undefined;
  /** The last call of `next`, and how many have not been answered. */
  #turn: Promise<Step> = Promise.resolve(END);
  #unanswered = 0;
  /** Calls of `finalCompletion` that wait for a loop to end. */
  #waiting: (() => void)[] = [];
  #waitingSince: number | undefined;
  #chunks = 0;
  #firstAt: number | undefined;
  #largestGap: number | undefined;
  #endedAt: number | undefined;

  /** @internal */
  constructor(answer: Answer, decode: DecodeChunk | undefined, given?: ChatCompletionChunk) {
    this.#answer = answer;
    this.#call = answer.call;
    this.#given = given;
    this.#reader = new ChunkReader(answer, decode);
    // An abort, a deadline and a silent stream come in here.
    this.#call.timeouts.follow({ progress: { phase: 'stream', sent: 'yes' }, cancel: (error) => this.#fail(error) });
  }

  /** What came with the stream's headers. */
  get response(): ResponseInfo {
    return this.#answer.response;
  }

  /** @throws {StreamConsumedError} on a second loop */
  [Symbol.asyncIterator](): AsyncIterator<ChatCompletionChunk, undefined> {
    if (this.#consumed) throw this.#withFacts(new StreamConsumedError());
    this.#consumed = true;
    return { next: () => this.#next(), return: this.#leave };
  }

  /** The text of the first choice, piece by piece. Reads the stream. */
  get textStream(): AsyncIterable<string> {
    return {
      [Symbol.asyncIterator]: () => {
        const texts = textsOf(this[Symbol.asyncIterator]());
        // A generator's own would come after the `next` that is waited for.
        return { next: () => texts.next(), return: this.#leave };
      },
    };
  }

  /**
   * The whole completion, once it is complete: instead of a loop, right before one, during one, or after one. `usage` is there
   * if the service sent it. Await it after the loop, not inside it: there the two wait for each other, until the stream has not
   * been read for five times `streamIdleTimeout` and both end with an `APITimeoutError`.
   *
   * @throws {StreamTruncatedError} when the loop was left early; whatever else ended the stream
   */
  finalCompletion(): Promise<StreamedChatCompletion> {
    // It reads the stream itself unless there is a loop, which may also begin right after this call, in the same turn.
    const whole = Promise.resolve().then(() => {
      if (!this.#consumed) return this.#readAll();
      // The loop throws the same error: a whole that is never awaited must not end the process.
      whole.catch(() => {});
      return this.#whole();
    });
    return whole;
  }

  /**
   * The stream as server-sent events again, to relay it to a browser, where `readChatCompletionStream` reads it. What goes
   * wrong on the way becomes an error event. Cancelling it closes this stream.
   */
  toReadableStream(): ReadableStream<Uint8Array> {
    return eventStreamOf(this[Symbol.asyncIterator]());
  }

  /** Ends the stream and frees its connection. A loop over it throws a `StreamTruncatedError`, unless it was complete. */
  close(): void {
    this.#left = new StreamTruncatedError('The stream was closed before the completion was complete.');
    this.#end(this.#left);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** How it has gone so far. */
  get metrics(): StreamMetrics {
    const { startedAt, runtime } = this.#call;
    return {
      timeToFirstChunk: this.#firstAt === undefined ? undefined : this.#firstAt - startedAt,
      largestGap: this.#largestGap,
      chunks: this.#chunks,
      duration: (this.#endedAt ?? runtime.now()) - startedAt,
    };
  }

  /** What Node prints: no text of the conversation. */
  [Symbol.for('nodejs.util.inspect.custom')](): unknown {
    return { stream: (this.#outcome as Error).name ?? this.#outcome, ...this.metrics };
  }

  async #readAll(): Promise<StreamedChatCompletion> {
    for await (const _ of this);
    return this.#whole();
  }

  async #whole(): Promise<StreamedChatCompletion> {
    if (this.#outcome === 'open') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#outcome instanceof Error) {
      captureCallSite(this.#outcome);
      throw this.#outcome;
    }
    return this.#soFar.whole();
  }

  /** Calls that overlap are answered in their order. By hand: with a generator each event takes 0.1 µs longer. */
  #next(): Promise<Step> {
    this.#unanswered += 1;
    this.#turn = this.#unanswered === 1 ? this.#step() : this.#turn.then(this.#step, this.#step);
    return this.#turn;
  }

  readonly #step = async (): Promise<Step> => {
    try {
      while (this.#outcome === 'open') {
        if (this.#given !== undefined) return { done: false, value: this.#takeGiven(this.#given) };
        const event = this.#events.next();
        if (event === undefined && !this.#events.ended) {
          const bytes = this.#answer.head.body.read();
          this.#startWaiting();
          this.#events.feed(bytes === undefined || ArrayBuffer.isView(bytes) ? bytes : await bytes);
          continue;
        }
        this.#stopWaiting();
        const chunk = event === undefined ? this.#endOfBody() : this.#reader.read(event, this.#events.ended);
        if (chunk === 'done') this.#complete();
        else if (chunk !== undefined) return { done: false, value: this.#take(chunk) };
      }
    } catch (error) {
      this.#fail(error as Error); // nothing else is thrown here
    } finally {
      this.#unanswered -= 1;
    }
    if (!(this.#outcome instanceof Error) || this.#thrown) return END;
    this.#thrown = true; // once, as by every iterator
    captureCallSite(this.#outcome);
    throw this.#outcome;
  };

  readonly #leave = async (): Promise<typeof END> => {
    this.#thrown = true; // leaving is no error to the reader that leaves
    this.close();
    return END;
  };

  /** The service's clock runs while an event is waited for, whatever else arrives. At all other times the reader's does. */
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

  /** Every choice has said why it ended: complete, also without `[DONE]`. */
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
    // Most services end the body right after `[DONE]`: the connection can be used again then. A lingering one is cut.
    void discard(this.#answer.head.body, this.#call.runtime);
  }

  /** Whatever ends it before its time, unless that is the reader. */
  #fail(error: Error): void {
    if (this.#outcome === 'open') {
      const { attempts, reporter } = this.#call;
      reporter?.emit({ type: 'failure', attempt: attempts.length, reason: error.name, stop: 'not-repeatable' });
    }
    this.#end(error);
  }

  #end(error: Error): void {
    if (this.#outcome !== 'open') return;
    const ending = error === this.#left ? ({ outcome: 'left', error: undefined } as const) : endingOf(error);
    this.#settle(error instanceof ContextGatewayError ? this.#withFacts(error) : error, ending);
    this.#answer.head.body.cancel(error);
  }

  #withFacts<E extends ContextGatewayError>(error: E): E {
    endCallWith(error, this.#call, this.#soFar.partial());
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

async function* textsOf(chunks: AsyncIterator<ChatCompletionChunk, undefined>): AsyncGenerator<string, undefined> {
  for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) {
    const text = firstText(chunk);
    if (text !== '') yield text;
  }
}
