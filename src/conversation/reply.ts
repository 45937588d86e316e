import { StreamConsumedError, StreamTruncatedError } from '../index.js';
import type { ReplyStream } from './conversation.js';
import type { ChatTurn } from './prompt.js';

/** Writes a reply piece by piece, and says what turn it made: a whole one, or one that was stopped. */
export type ReplyWriter = (settle: (turn: ChatTurn) => void) => AsyncGenerator<string, void, undefined>;

/** A reply that is written once: for a loop, or for `final()`. */
export class Reply implements ReplyStream {
  readonly #write: ReplyWriter;
  readonly #turn: Promise<ChatTurn>;
  #resolve: (turn: ChatTurn) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isRead = false;
  text = '';

  constructor(write: ReplyWriter) {
    this.#write = write;
    this.#turn = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#turn.catch(() => {}); // the loop throws the same error
  }

  /** @throws {StreamConsumedError} on a second loop */
  [Symbol.asyncIterator](): AsyncIterator<string> {
    if (this.#isRead) throw new StreamConsumedError();
    this.#isRead = true;
    const pieces = this.#pieces();
    const leave = async (): Promise<IteratorResult<string, undefined>> => {
      const left = await pieces.return(undefined);
      this.#left(); // a generator that was never begun has no end either
      return left;
    };
    return { next: () => pieces.next(), return: leave };
  }

  final(): Promise<ChatTurn> {
    // The error is in the turn.
    if (!this.#isRead) void this.#readAll().catch(() => {});
    return this.#turn;
  }

  async #readAll(): Promise<void> {
    for await (const _ of this);
  }

  async *#pieces(): AsyncGenerator<string, undefined, undefined> {
    try {
      for await (const piece of this.#write(this.#resolve)) {
        this.text += piece;
        yield piece;
      }
    } catch (error) {
      this.#reject(error);
      throw error;
    } finally {
      this.#left();
    }
    return undefined;
  }

  /** Unless there is a turn. */
  #left(): void {
    this.#reject(new StreamTruncatedError('The reply was left before its first word.'));
  }
}
