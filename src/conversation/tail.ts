import { TOKENS_PER_MESSAGE } from './counter.js';
import type { ConversationMessage } from './messages.js';

type Count = (text: string) => number;

/** Counts the tokens of messages, including their delimiters. */
export function messageTokens(messages: readonly { content: string }[], count: Count): number {
  return messages.reduce((sum, { content }) => sum + count(content) + TOKENS_PER_MESSAGE, 0);
}

/** Share of its room that the tail keeps when it is cut. */
export const LOW_WATER = 0.75;

/** The newest messages of a history. Counted from the end, so that messages too old to send are never counted. */
export class Tail {
  readonly #history: readonly ConversationMessage[];
  readonly #count: Count;
  /** Cumulative tokens of the newest 0, 1, 2, … messages. */
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

  /**
   * The lowest index, from `from` on, with which the tail fits into `room` tokens. It may be in the middle of a turn.
   */
  startWithin(room: number, from: number): number {
    let start = this.#history.length;
    while (start > from && this.tokens(start - 1) <= room) start -= 1;
    return start;
  }

  /**
   * The index where the tail must start to fit. Cuts a whole block, down to three quarters of the room, so that the
   * tail can grow again without changing its start. Drops as few as possible of the newest `keep` messages, which no
   * summary contains yet.
   */
  cut(room: number, from: number, keep: number): number {
    const wished = Math.min(this.startWithin(LOW_WATER * room, from), this.#history.length - keep);
    const start = Math.max(from, wished, this.startWithin(room, from));
    return start === from ? from : this.startOfTurn(start);
  }

  /** The next index that starts a turn, so that the tail does not start with a reply without its question. */
  startOfTurn(start: number): number {
    let at = start;
    while (start > 0 && at < this.#history.length && this.#history[at]?.role !== 'user') at += 1;
    return at;
  }
}

export function isIncluded({ excluded }: ConversationMessage): boolean {
  return excluded !== true;
}
