import type { ResponseInfo } from '../base/response-info.js';
import { CharacterJoiner } from '../base/unicode.js';
import { StreamConsumedError } from '../errors/stream.js';
import type { ChatCompletion, ChatCompletionChunk } from '../wire/completions.js';
import { firstText } from './accumulator.js';
import type { StreamMetrics, StreamOwner } from './stream-owner.js';

type Step = IteratorResult<ChatCompletionChunk, undefined>;

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * A streamed completion. Loop over it once. The loop ends when the completion is complete, and throws in every other
 * case; the error's `partial` holds what has arrived. Leaving the loop closes the stream and frees its connection.
 */
export class ChatCompletionStream implements AsyncIterable<ChatCompletionChunk> {
  readonly #owner: StreamOwner;
  #consumed = false;
  #thrown = false;
  /** The promise of the last call of `#next`, and how many calls are pending. */
  #turn: Promise<Step> = Promise.resolve(END);
  #pending = 0;
  /** Chunks that `finalCompletion` has read and a loop will get. */
  #ahead: ChatCompletionChunk[] = [];

  /** @internal With a tag, Vue does not wrap it in a proxy, behind which private fields cannot be read. */
  get [Symbol.toStringTag](): string {
    return 'ChatCompletionStream';
  }

  /** @internal */
  constructor(owner: StreamOwner) {
    this.#owner = owner;
  }

  /** Status, headers and attempts of the response. */
  get response(): ResponseInfo {
    return this.#owner.response.info;
  }

  /** Reads the stream. @throws {StreamConsumedError} on a second loop */
  [Symbol.asyncIterator](): AsyncIterator<ChatCompletionChunk, undefined> {
    if (this.#consumed) throw this.#owner.describe(new StreamConsumedError());
    this.#consumed = true;
    return { next: () => this.#next(this.#step), return: this.#leave };
  }

  /** The text of the first choice, in pieces. Reads the stream, like a loop. */
  get textStream(): AsyncIterable<string> {
    return {
      [Symbol.asyncIterator]: () => {
        const texts = textsOf(this[Symbol.asyncIterator]());
        return { next: () => texts.next(), return: this.#leave }; // the generator's own `return` waits for a pending `next`
      },
    };
  }

  /**
   * The whole completion. Call it instead of a loop, or right before, in or after one. In the loop, it reads the stream
   * to its end, and the loop then gets the chunks that were read. `usage` is set if the service sent it.
   *
   * @throws {StreamTruncatedError} when the loop was left early; otherwise the error that ended the stream
   * @example
   * ```ts
   * const stream = await gateway.chat.completions.create({
   *   model: 'atlas-small',
   *   messages: [{ role: 'user', content: 'The harbour opens at six. When does the harbour open?' }],
   *   stream: true,
   * });
   * const { choices, usage } = await stream.finalCompletion();
   * console.log(choices[0]?.message.content, usage?.total_tokens);
   * ```
   */
  finalCompletion(): Promise<ChatCompletion> {
    const inLoop = this.#isBetweenReads;
    // Reads the stream itself, unless a loop does. The loop may also begin, or go on, right after this call.
    const completion = Promise.resolve().then(async () => {
      if (!this.#consumed) for await (const _ of this);
      // The loop throws the same error. A promise that is never awaited must not end the process.
      else completion.catch(() => {});
      if (inLoop && this.#isBetweenReads) while (this.#owner.isOpen) await this.#next(this.#readAhead);
      await this.#owner.ended;
      return this.#owner.completion();
    });
    return completion;
  }

  /**
   * Closes the stream and frees its connection. A loop over it throws a `StreamTruncatedError`, unless the completion
   * was complete.
   *
   * @example
   * ```ts
   * const stream = await gateway.chat.completions.create({
   *   model: 'atlas-small',
   *   messages: [{ role: 'user', content: 'The harbour opens at six. When does the harbour open?' }],
   *   stream: true,
   * });
   * for await (const text of stream.textStream) {
   *   console.log(text);
   *   break; // closes the stream, too
   * }
   * stream.close();
   * ```
   */
  close(): void {
    this.#owner.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Timings of the stream so far. */
  get metrics(): StreamMetrics {
    return this.#owner.metrics;
  }

  /** For `console.log` on Node: prints no text of the conversation. */
  [Symbol.for('nodejs.util.inspect.custom')](): unknown {
    return { stream: this.#owner.state, ...this.metrics };
  }

  /** Whether the loop has got a chunk, and does not ask for the next one. */
  get #isBetweenReads(): boolean {
    return this.metrics.chunks > 0 && this.#pending === 0;
  }

  /** Overlapping calls resolve in order. */
  #next(step: () => Promise<Step>): Promise<Step> {
    this.#pending += 1;
    this.#turn = this.#pending === 1 ? step() : this.#turn.then(step, step);
    return this.#turn;
  }

  readonly #step = (): Promise<Step> => this.#read(false);
  readonly #readAhead = (): Promise<Step> => this.#read(true);

  /** One function for all, because a generator or one more `await` takes 0.1 to 0.2 microseconds longer for each event. */
  async #read(ahead: boolean): Promise<Step> {
    const owner = this.#owner;
    try {
      const early = ahead || this.#ahead.length === 0 ? undefined : this.#ahead.shift();
      if (early !== undefined) return { done: false, value: early };
      while (owner.isOpen) {
        const value = owner.take();
        if (value !== undefined) {
          if (ahead) this.#ahead.push(value);
          return { done: false, value };
        }
        const received = owner.isOpen ? owner.receive() : undefined;
        if (received !== undefined) await received;
      }
    } catch (error) {
      owner.fail(error);
    } finally {
      this.#pending -= 1;
    }
    if (ahead || this.#thrown) return END;
    this.#thrown = true; // iterators throw once
    owner.throwError();
    return END;
  }

  readonly #leave = async (): Promise<typeof END> => {
    this.#thrown = true; // a reader that leaves gets no error
    this.#ahead = [];
    this.close();
    return END;
  };
}

async function* textsOf(chunks: AsyncIterator<ChatCompletionChunk, undefined>): AsyncGenerator<string, undefined> {
  const pieces = new CharacterJoiner();
  for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) {
    const text = pieces.add(firstText(chunk));
    if (text !== '') yield text;
  }
  const rest = pieces.end();
  if (rest !== '') yield rest;
}
