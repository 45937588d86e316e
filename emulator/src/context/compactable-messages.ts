import { runSync, type Sliced } from '../base/slices.js';
import type { ConversationState, MessageRecord } from '../store/conversation-records.js';
import type { Conversations } from '../store/conversations.js';
import { type LanguageLoader, TOKENS_PER_MESSAGE } from '../text/language.js';
import { type Offers, offersOf } from './compaction/offers.js';
import type { StoredMessage } from './draft.js';

/** The messages of conversations as compaction sees them. A changed message is a new record, so what is cached is never stale. */
export class CompactableMessages {
  readonly #counts = new WeakMap<MessageRecord, number>();
  readonly #offers = new WeakMap<MessageRecord, Offers>();

  constructor(
    private readonly conversations: Conversations,
    private readonly language: LanguageLoader,
  ) {}

  of(state: ConversationState): StoredMessage[] {
    const pinned = new Set(state.pins.map((pin) => pin.messageId));
    const leftOut = new Set(state.leftOut);
    return this.conversations.messages(state.id).map((message, i) => ({
      id: message.id,
      role: message.role,
      summarized: i < state.folded && !leftOut.has(message.id),
      tokens: this.#counts.get(message) ?? runSync(this.#counting(message)),
      live: !message.excluded,
      pinned: pinned.has(message.id),
      offers: () => runSync(this.#reading(message)),
    }));
  }

  /** The same, after the slow work (counting tokens and finding what messages offer) is done in slices. */
  *reading(state: ConversationState): Sliced<StoredMessage[]> {
    for (const message of this.conversations.messages(state.id)) {
      yield* this.#counting(message);
      if (!message.excluded) yield* this.#reading(message);
      yield;
    }
    return this.of(state);
  }

  /** Counts the tokens of all messages. */
  *counting(conversationId: string): Sliced<void> {
    for (const message of this.conversations.messages(conversationId)) yield* this.#counting(message);
  }

  *#counting(message: MessageRecord): Sliced<number> {
    let tokens = this.#counts.get(message);
    if (tokens === undefined) {
      tokens = (yield* this.language.load().countingTokens(message.content)) + TOKENS_PER_MESSAGE;
      this.#counts.set(message, tokens);
    }
    return tokens;
  }

  *#reading(message: MessageRecord): Sliced<Offers> {
    let offers = this.#offers.get(message);
    if (offers === undefined) {
      offers = yield* offersOf({ ...message, messageId: message.id }, this.language.load());
      this.#offers.set(message, offers);
    }
    return offers;
  }
}
