import { StreamConsumedError, StreamTruncatedError } from '../index.js';
import type { ReplyStream } from './conversation.js';
import type { ChatTurn } from './prompt.js';

/** Generates the pieces of a reply, and passes the resulting turn, complete or stopped, to `settle`. */
export type ReplyWriter = (settle: (turn: ChatTurn) => void) => AsyncGenerator<string, void, undefined>;

/** A reply that can be read once, by a loop or by `final()`. */
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
      this.#left(); // the `finally` of a generator that never started does not run
      return left;
    };
    return { next: () => pieces.next(), return: leave };
  }

  final(): Promise<ChatTurn> {
    // `#turn` rejects with the same error.
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

  /** Rejects the turn. Has no effect if it is already settled. */
  #left(): void {
    this.#reject(new StreamTruncatedError('The reply was left before its first word.'));
  }
}
