import { runSync, type Sliced } from '../base/slices.js';
import type { MessageRecord } from '../store/conversation-records.js';
import { type Language, TOKENS_PER_MESSAGE } from '../text/language.js';

/** Token counts of messages, cached per record. A changed message is a new record, so a count never goes stale. */
export class MessageTokens {
  readonly #counts = new WeakMap<MessageRecord, number>();

  of(message: MessageRecord, language: Language): number {
    return this.#counts.get(message) ?? runSync(this.counting(message, language));
  }

  *counting(message: MessageRecord, language: Language): Sliced<number> {
    const known = this.#counts.get(message);
    if (known !== undefined) return known;
    const tokens = (yield* language.countingTokens(message.content)) + TOKENS_PER_MESSAGE;
    this.#counts.set(message, tokens);
    return tokens;
  }

  *countingAll(messages: readonly MessageRecord[], language: Language): Sliced<void> {
    for (const message of messages) yield* this.counting(message, language);
  }
}
