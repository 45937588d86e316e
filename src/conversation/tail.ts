import { TOKENS_PER_MESSAGE } from './counter.js';
import type { ConversationMessage } from './messages.js';

type Count = (text: string) => number;

/** Tokens of messages with their bounds. */
export function messageTokens(messages: readonly { content: string }[], count: Count): number {
  return messages.reduce((sum, { content }) => sum + count(content) + TOKENS_PER_MESSAGE, 0);
}

/** Of its room, what a tail keeps when it is cut. */
export const LOW_WATER = 0.75;

/** The newest messages of a history. It is measured from its end: what is too old to be sent is never counted. */
export class Tail {
  readonly #history: readonly ConversationMessage[];
  readonly #count: Count;
  /** Tokens of the newest messages: of none, of one, of two. */
  readonly #sums = [0];

  constructor(history: readonly ConversationMessage[], count: Count) {
    this.#history = history;
    this.#count = count;
  }

  messages(start: number): readonly ConversationMessage[] {
    return this.#history.slice(start).filter(isIncluded);
  }

  tokens(start: number): number {
    const length = Math.max(0, this.#history.length - start);
    for (let newest = this.#sums.length; newest <= length; newest += 1) {
      const message = this.#history.at(-newest);
      const cost = message === undefined || !isIncluded(message) ? 0 : messageTokens([message], this.#count);
      this.#sums.push((this.#sums[newest - 1] ?? 0) + cost);
    }
    return this.#sums[length] ?? 0;
  }

  /** The first message from `from` on with which the tail fits into a room. It may be in the middle of a turn. */
  startWithin(room: number, from: number): number {
    let start = this.#history.length;
    while (start > from && this.tokens(start - 1) <= room) start -= 1;
    return start;
  }

  /**
   * Where the tail begins so that it fits. It is cut by a block, down to three quarters of its room, so that it can grow again with
   * the same beginning; of the newest `keep` messages, which no summary holds yet, only as many go as must.
   */
  cut(room: number, from: number, keep: number): number {
    const wished = Math.min(this.startWithin(LOW_WATER * room, from), this.#history.length - keep);
    const start = Math.max(from, wished, this.startWithin(room, from));
    return start === from ? from : this.startOfTurn(start);
  }

  /** A tail does not begin with a reply whose question is gone. */
  startOfTurn(start: number): number {
    let at = start;
    while (start > 0 && at < this.#history.length && this.#history[at]?.role !== 'user') at += 1;
    return at;
  }
}

export function isIncluded({ excluded }: ConversationMessage): boolean {
  return excluded !== true;
}
