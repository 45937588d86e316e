import type { Clock } from './clock.js';
import { type Candidate, messageCandidates } from './compaction/candidates.js';
import {
  type CompactableMessage,
  type CompactionLevel,
  type CompactionState,
  compact,
  contextTokens,
  isRecent,
  resummarize,
  totalTokens,
} from './compaction/compact.js';
import { type RollingSummary, renderSummary } from './compaction/summary.js';
import { notFound } from './errors.js';
import { type Language, type LanguageLoader, TOKENS_PER_MESSAGE } from './language.js';
import type { IdSource } from './random.js';
import type {
  ConversationState,
  Conversations,
  MessageRecord,
  PinCategory,
  PinnedMemoryItem,
} from './store/conversations.js';

/** The metadata of a context, in the form of the interface; `lastCompactionAt` is null before the first (A23). */
export interface ContextMetadata {
  totalTokens: number;
  compressedTokens: number;
  preservationRatio: number;
  lastCompactionAt: string | null;
  recentMessageCount: number;
}

/** The result of a compaction, in the form of the interface. */
export interface CompactionResult {
  success: boolean;
  previousTokenCount: number;
  newTokenCount: number;
  tokensRemoved: number;
  summaryUpdated: boolean;
}

/** A conversation as its context: summary, pins, metadata, and what changes them. */
export class ConversationContexts {
  readonly #conversations: Conversations;
  readonly #language: LanguageLoader;
  readonly #ids: IdSource;
  readonly #clock: Clock;
  /** What a message offers never changes: messages are not edited. Lives as long as the emulator, emptied by reset. */
  readonly #candidates = new Map<string, readonly Candidate[]>();

  constructor(conversations: Conversations, language: LanguageLoader, ids: IdSource, clock: Clock) {
    this.#conversations = conversations;
    this.#language = language;
    this.#ids = ids;
    this.#clock = clock;
  }

  summary(state: ConversationState): RollingSummary {
    return renderSummary(state.summary, state);
  }

  async metadata(conversationId: string): Promise<ContextMetadata> {
    const language = await this.#language.load();
    const state = this.#state(conversationId);
    const messages = this.#compactable(state, language);
    const total = totalTokens(messages);
    const compressed = contextTokens(messages, state.summary);
    return {
      totalTokens: total,
      compressedTokens: compressed,
      preservationRatio: total === 0 ? 1 : compressed / total,
      lastCompactionAt: state.lastCompactionAt,
      recentMessageCount: messages.filter((message, i) => isRecent(message) || (i >= state.folded && message.live))
        .length,
    };
  }

  async compact(conversationId: string, level: CompactionLevel): Promise<CompactionResult> {
    const language = await this.#language.load();
    // Nothing is awaited from here on: what is read is what is written over.
    const state = this.#state(conversationId);
    const messages = this.#compactable(state, language);
    const previousTokenCount = contextTokens(messages, state.summary);
    const after = compact(messages, level, compactionState(state));
    const summaryUpdated = this.#save(
      {
        ...state,
        leftOut: leftOut(messages, after.folded),
        lastCompactionAt: new Date(this.#clock.now()).toISOString(),
      },
      after,
    );
    const newTokenCount = contextTokens(this.#compactable(this.#state(conversationId), language), after.items);
    return {
      success: true,
      previousTokenCount,
      newTokenCount,
      tokensRemoved: previousTokenCount - newTokenCount,
      summaryUpdated,
    };
  }

  /** A27: pinning again gives the same item with its new category. */
  pin(conversationId: string, messageId: string, category: PinCategory): PinnedMemoryItem {
    const state = this.#state(conversationId);
    const message = this.#message(conversationId, messageId);
    const pinned = state.pins.find((pin) => pin.messageId === messageId);
    const item: PinnedMemoryItem =
      pinned === undefined
        ? {
            id: this.#ids.next('pin'),
            messageId,
            content: message.content,
            category,
            pinnedAt: new Date(this.#clock.now()).toISOString(),
          }
        : { ...pinned, category };
    const pins = pinned === undefined ? [...state.pins, item] : state.pins.map((pin) => (pin === pinned ? item : pin));
    this.#conversations.save({ ...state, pins });
    return item;
  }

  unpin(conversationId: string, messageId: string): void {
    const state = this.#state(conversationId);
    if (!state.pins.some((pin) => pin.messageId === messageId)) {
      throw notFound('messageId', 'This message is not pinned in the conversation', 'pin_not_found');
    }
    this.#conversations.save({ ...state, pins: state.pins.filter((pin) => pin.messageId !== messageId) });
  }

  /** Excluding takes the message's traces out of the summary at once; including lets the next compaction see it again. */
  async exclude(conversationId: string, messageId: string, exclude: boolean): Promise<void> {
    const language = await this.#language.load();
    const state = this.#state(conversationId);
    const message = this.#message(conversationId, messageId);
    this.#conversations.saveMessage(conversationId, { ...message, excluded: exclude });
    // Included again it stands in the context as it was said, until a compaction takes it in.
    const changed = { ...state, leftOut: exclude ? [...new Set([...state.leftOut, messageId])] : state.leftOut };
    this.#conversations.save(changed);
    if (!exclude || !state.summary.some((item) => item.messageId === messageId)) return;
    this.#save(changed, resummarize(this.#compactable(changed, language), compactionState(changed)));
  }

  reset(): void {
    this.#candidates.clear();
  }

  /** Keeps the outcome; the version rises by one, and only when the summary is another one. */
  #save(state: ConversationState, after: CompactionState): boolean {
    const changed = JSON.stringify(state.summary) !== JSON.stringify(after.items);
    this.#conversations.save({
      ...state,
      summary: after.items,
      folded: after.folded,
      summaryBudget: after.budget,
      version: changed ? state.version + 1 : state.version,
      lastUpdated: changed ? new Date(this.#clock.now()).toISOString() : state.lastUpdated,
    });
    return changed;
  }

  #compactable(state: ConversationState, language: Language): StoredMessage[] {
    const pinned = new Set(state.pins.map((pin) => pin.messageId));
    const leftOut = new Set(state.leftOut);
    return this.#conversations.messages(state.id).map((message, i) => ({
      id: message.id,
      summarized: i < state.folded && !leftOut.has(message.id),
      tokens: language.countTokens(message.content) + TOKENS_PER_MESSAGE,
      live: !message.excluded,
      pinned: pinned.has(message.id),
      candidates: () => this.#candidatesOf(state.id, message, language),
    }));
  }

  #candidatesOf(conversationId: string, message: MessageRecord, language: Language): readonly Candidate[] {
    const key = `${conversationId}\u0000${message.id}`;
    let candidates = this.#candidates.get(key);
    if (candidates === undefined) {
      candidates = messageCandidates(message, { split: language.sentences, countTokens: language.countTokens });
      this.#candidates.set(key, candidates);
    }
    return candidates;
  }

  #state(conversationId: string): ConversationState {
    const state = this.#conversations.state(conversationId);
    if (state === undefined)
      throw notFound('conversationId', 'The conversation does not exist', 'conversation_not_found');
    return state;
  }

  #message(conversationId: string, messageId: string): MessageRecord {
    const message = this.#conversations.message(conversationId, messageId);
    if (message === undefined) throw notFound('messageId', 'The message does not exist', 'message_not_found');
    return message;
  }
}

type StoredMessage = CompactableMessage & { id: string };

function leftOut(messages: readonly StoredMessage[], folded: number): string[] {
  return messages
    .slice(0, folded)
    .filter((message) => !message.live || message.pinned)
    .map((message) => message.id);
}

function compactionState(state: ConversationState): CompactionState {
  return { folded: state.folded, items: state.summary, budget: state.summaryBudget };
}
