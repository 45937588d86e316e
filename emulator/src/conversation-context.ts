import type { Clock } from './clock.js';
import { type Candidate, messageCandidates } from './compaction/candidates.js';
import {
  type CompactionLevel,
  type CompactionState,
  compact,
  contextTokens,
  isRecent,
  resummarize,
  totalTokens,
} from './compaction/compact.js';
import { type RollingSummary, renderSummary } from './compaction/summary.js';
import type { CompactionOutcome, ContextMetadata } from './context-answers.js';
import {
  basisOf,
  compactionState,
  contextWith,
  type Draft,
  leftOut,
  type Standing,
  type StoredMessage,
  standingOf,
} from './context-draft.js';
import { notFound } from './errors.js';
import { type Language, type LanguageLoader, TOKENS_PER_MESSAGE } from './language.js';
import type { IdSource } from './random.js';
import type {
  ConversationState,
  MessageRecord,
  PinCategory,
  PinnedMemoryItem,
  SummaryVersion,
} from './store/conversation-records.js';
import type { Conversations } from './store/conversations.js';
import type { Summarizer } from './summarizer.js';

/** A conversation as its context: summary, pins, metadata, and what changes them. */
export class ConversationContexts {
  readonly #conversations: Conversations;
  readonly #language: LanguageLoader;
  readonly #ids: IdSource;
  readonly #clock: Clock;
  readonly #summarizer: Summarizer | undefined;
  /** What a message offers never changes: messages are not edited. Lives as long as the emulator, emptied by reset. */
  readonly #candidates = new Map<string, readonly Candidate[]>();

  constructor(
    conversations: Conversations,
    language: LanguageLoader,
    ids: IdSource,
    clock: Clock,
    summarizer: Summarizer | undefined,
  ) {
    this.#summarizer = summarizer;
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

  /** Where each message stands: as it was said, only in the summary, pinned, or excluded. */
  async standings(conversationId: string): Promise<{ tokens: number; standing: Standing }[]> {
    const language = await this.#language.load();
    return this.#compactable(this.#state(conversationId), language).map((message) => ({
      tokens: message.tokens,
      standing: standingOf(message),
    }));
  }

  async compact(conversationId: string, level: CompactionLevel): Promise<CompactionOutcome> {
    const language = await this.#language.load();
    const draft = this.#draft(conversationId, level, language);
    if (this.#summarizer === undefined || draft.basis === draft.state.summaryBasis) {
      return this.#commit(draft, language, 'extractive');
    }
    const folded = this.#conversations.messages(conversationId).slice(0, draft.after.folded);
    const seen = folded.filter((_, i) => draft.messages[i]?.live && !draft.messages[i]?.pinned);
    const items = await this.#summarizer(seen, draft.after.budget);
    // While the model was writing, the conversation may have moved on; then its summary is of something else.
    const now = this.#draft(conversationId, level, language);
    const usable = items !== undefined && now.basis === draft.basis && now.state.version === draft.state.version;
    if (!usable || contextWith(now, items) > now.previous) return this.#commit(now, language, 'extractive');
    return this.#commit({ ...now, after: { ...now.after, items } }, language, 'upstream');
  }

  /** What a compaction would do now. Nothing is awaited here: what is read is what may be written over. */
  #draft(conversationId: string, level: CompactionLevel, language: Language): Draft {
    const state = this.#state(conversationId);
    const messages = this.#compactable(state, language);
    const previous = contextTokens(messages, state.summary);
    const extracted = compact(messages, level, compactionState(state));
    const basis = basisOf(messages, extracted.folded, level);
    // A model's summary of the same messages stays: it would only be worded anew.
    const stays = this.#summarizer !== undefined && basis === state.summaryBasis;
    const after = stays ? compactionState(state) : extracted;
    return { level, state, messages, previous, after, basis };
  }

  #commit(draft: Draft, language: Language, summarizer: 'extractive' | 'upstream'): CompactionOutcome {
    const { level, state, messages, previous, after, basis } = draft;
    const lastCompactionAt = new Date(this.#clock.now()).toISOString();
    const next = { ...state, leftOut: leftOut(messages, after.folded), lastCompactionAt };
    if (this.#summarizer !== undefined) next.summaryBasis = basis;
    const summaryUpdated = this.#save(next, after, language, { cause: level, summarizer, previous });
    const newTokenCount = contextTokens(this.#compactable(this.#state(state.id), language), after.items);
    const counts = { previousTokenCount: previous, newTokenCount, tokensRemoved: previous - newTokenCount };
    return { result: { success: true, ...counts, summaryUpdated }, summarizer };
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
    const previous = contextTokens(this.#compactable(state, language), state.summary);
    this.#conversations.together(() => {
      this.#conversations.saveMessage(conversationId, { ...message, excluded: exclude });
      this.#exclude(state, messageId, exclude, language, previous);
    });
  }

  #exclude(state: ConversationState, messageId: string, exclude: boolean, language: Language, previous: number): void {
    // Included again it stands in the context as it was said, until a compaction takes it in.
    const changed = { ...state, leftOut: exclude ? [...new Set([...state.leftOut, messageId])] : state.leftOut };
    this.#conversations.save(changed);
    if (!exclude || !state.summary.some((item) => item.messageId === messageId)) return;
    const after = resummarize(this.#compactable(changed, language), compactionState(changed));
    this.#save(changed, after, language, { cause: 'exclude', summarizer: 'extractive', previous });
  }

  reset(): void {
    this.#candidates.clear();
  }

  /** Keeps the outcome; the version rises by one, and only when the summary is another one. */
  #save(
    state: ConversationState,
    after: CompactionState,
    language: Language,
    { cause, summarizer, previous }: Pick<SummaryVersion, 'cause' | 'summarizer'> & { previous: number },
  ): boolean {
    const changed = JSON.stringify(state.summary) !== JSON.stringify(after.items);
    const next: ConversationState = {
      ...state,
      summary: after.items,
      folded: after.folded,
      summaryBudget: after.budget,
      version: changed ? state.version + 1 : state.version,
      lastUpdated: changed ? new Date(this.#clock.now()).toISOString() : state.lastUpdated,
    };
    this.#conversations.together(() => {
      this.#conversations.save(next);
      if (!changed) return;
      const messages = this.#compactable(next, language);
      this.#conversations.keepVersion(state.id, {
        summary: this.summary(next),
        cause,
        summarizer,
        totalTokens: totalTokens(messages),
        previousTokens: previous,
        compressedTokens: contextTokens(messages, next.summary),
      });
    });
    return changed;
  }

  #compactable(state: ConversationState, language: Language): StoredMessage[] {
    const pinned = new Set(state.pins.map((pin) => pin.messageId));
    const leftOut = new Set(state.leftOut);
    return this.#conversations.messages(state.id).map((message, i) => ({
      id: message.id,
      role: message.role,
      content: message.content,
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
