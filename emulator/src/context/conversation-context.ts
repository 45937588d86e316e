import type { Clock } from '../base/clock.js';
import { notFound } from '../base/errors.js';
import { runSync, type Sliced, Slices } from '../base/slices.js';
import type {
  CompactionLevel,
  ConversationState,
  MessageRecord,
  PinCategory,
  PinnedMemoryItem,
  Statement,
  SummaryVersion,
} from '../store/conversation-records.js';
import type { Conversations } from '../store/conversations.js';
import type { IdSource } from '../store/random.js';
import { type RollingSummary, renderSummary, type SummaryItem } from '../store/summary.js';
import type { LanguageLoader } from '../text/language.js';
import { CompactableMessages } from './compactable-messages.js';
import { type CompactionState, compact, contextTokens, resummarize, totalTokens } from './compaction/compact.js';
import { sourcesOf, statementsIn } from './compaction/summaries.js';
import {
  type AccountedDraft,
  accountOf,
  compactionState,
  contentsOf,
  contextTokensWith,
  type Draft,
  leftOut,
  type MessageStatus,
  sourceHashOf,
  statusOf,
  type WrittenSummary,
} from './draft.js';
import { lostFrom } from './receipts.js';
import { type CompactionOutcome, type ContextMetadata, metadataOf } from './responses.js';
import type { Summarizer } from './summarizer.js';

/** What contexts are computed with. */
interface ContextParts {
  conversations: Conversations;
  language: LanguageLoader;
  ids: IdSource;
  clock: Clock;
  summarizer: Summarizer | undefined;
}

/** The contexts of conversations: summary, pins, exclusions and metadata, and the operations that change them. */
export class ConversationContexts {
  readonly #messages: CompactableMessages;
  readonly #slices = new Slices();

  constructor(private readonly parts: ContextParts) {
    this.#messages = new CompactableMessages(parts.conversations, parts.language);
    parts.conversations.onCut = (id) => this.#withoutDeleted(id);
  }

  summary(state: ConversationState): RollingSummary {
    return renderSummary(state.summary, state);
  }

  async metadata(conversationId: string): Promise<ContextMetadata> {
    await this.#slices.run(this.#messages.counting(this.#state(conversationId).id));
    const state = this.#state(conversationId);
    return metadataOf(state, this.#messages.of(state));
  }

  /**
   * The status of each message, all statements that no later message revokes (what a summary without a limit would
   * contain), and those of them that the context does not contain.
   */
  async inspect(conversationId: string): Promise<Inspection> {
    return this.#slices.run(this.#inspecting(conversationId));
  }

  *#inspecting(conversationId: string): Sliced<Inspection> {
    yield* this.#messages.reading(this.#state(conversationId));
    const state = this.#state(conversationId);
    const messages = this.#messages.of(state);
    const statements = statementsIn(yield* sourcesOf(messages));
    const lost = yield* lostFrom(contentsOf(messages, state.summary, statements));
    return { statements, lost, statuses: messages.map((one) => ({ tokens: one.tokens, status: statusOf(one) })) };
  }

  /** Compacts a conversation, and keeps a receipt. `requestId` is the request that asks for it. */
  async compact(
    conversationId: string,
    level: CompactionLevel,
    requestId?: string | undefined,
  ): Promise<CompactionOutcome> {
    const { summarizer } = this.parts;
    const written = summarizer && (await this.#written(conversationId, level, summarizer));
    return this.#retryOnChange(
      conversationId,
      () => this.#accounted(conversationId, level, written),
      (done) => this.#commit(done, requestId),
    );
  }

  /** Has a model write a summary. Returns it for a draft in which it fits. */
  async #written(conversationId: string, level: CompactionLevel, summarizer: Summarizer): Promise<WrittenSummary> {
    const work = (): Sliced<Draft> => this.#draft(conversationId, level);
    const draft = await this.#retryOnChange(conversationId, work, (draft) => draft);
    const folded = this.parts.conversations.messages(conversationId).slice(0, draft.after.folded);
    const seen = folded.filter((_, i) => draft.messages[i]?.live && !draft.messages[i]?.pinned);
    const isKnown = draft.sourceHash === draft.state.summarySourceHash;
    const items = isKnown ? undefined : await summarizer(seen, draft.budget);
    return (now) => {
      // The conversation may have changed while the model was writing. Its summary is then out of date.
      const isSame = now.sourceHash === draft.sourceHash && now.state.version === draft.state.version;
      return items !== undefined && isSame && contextTokensWith(now, items) <= now.previous ? items : undefined;
    };
  }

  *#accounted(
    conversationId: string,
    level: CompactionLevel,
    written: WrittenSummary | undefined,
  ): Sliced<AccountedDraft> {
    const extracted = yield* this.#draft(conversationId, level);
    const items = written?.(extracted);
    const draft = items === undefined ? extracted : { ...extracted, after: { ...extracted.after, items } };
    const summarizer = items === undefined ? 'extractive' : 'upstream';
    return { draft, summarizer, account: yield* accountOf(draft) };
  }

  /**
   * Runs work on a conversation in slices, then calls `finish` synchronously, so that nothing changes between the last
   * check and the write. If the conversation changed meanwhile, the work runs again; the last attempt runs in one go.
   */
  async #retryOnChange<D, T>(conversationId: string, work: () => Sliced<D>, finish: (done: D) => T): Promise<T> {
    const revision = (): string =>
      `${JSON.stringify(this.#state(conversationId))} ${this.parts.conversations.countMessages(conversationId)}`;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = revision();
      const done = await this.#slices.run(work());
      if (revision() === before) return finish(done);
    }
    return finish(runSync(work()));
  }

  /** What a compaction would produce now. Changes nothing. */
  *#draft(conversationId: string, level: CompactionLevel): Sliced<Draft> {
    const state = this.#state(conversationId);
    const messages = yield* this.#messages.reading(state);
    const previous = contextTokens(messages, state.summary);
    const extracted = yield* compact(messages, level, compactionState(state));
    const sourceHash = this.parts.summarizer === undefined ? '' : sourceHashOf(messages, extracted.folded, level);
    // A model's summary of the same messages stays: a new one would differ only in wording.
    const stays = this.parts.summarizer !== undefined && sourceHash === state.summarySourceHash;
    const after = stays ? compactionState(state) : { folded: extracted.folded, items: extracted.items };
    const { budget, statements } = extracted;
    return { level, state, messages, previous, after, budget, statements, sourceHash };
  }

  #commit({ draft, summarizer, account }: AccountedDraft, requestId: string | undefined): CompactionOutcome {
    const { level, state, messages, previous, after, sourceHash } = draft;
    const lastCompactionAt = new Date(this.parts.clock.now()).toISOString();
    const next = { ...state, leftOut: leftOut(messages, after.folded), lastCompactionAt };
    if (this.parts.summarizer !== undefined) next.summarySourceHash = sourceHash;
    const newTokenCount = contextTokensWith(draft, after.items);
    const tokens = { previous, total: totalTokens(messages), now: newTokenCount };
    const counts = { previousTokenCount: previous, newTokenCount, tokensRemoved: previous - newTokenCount };
    const summaryUpdated = this.parts.conversations.together(() => {
      const isUpdated = this.#save(next, after, { cause: level, summarizer }, tokens);
      const { version } = this.#state(state.id);
      const facts = { at: lastCompactionAt, level, summarizer, version, ...counts, summaryUpdated: isUpdated };
      this.parts.conversations.history.keepReceipt(state.id, { ...facts, ...account, requestId });
      return isUpdated;
    });
    return { result: { success: true, ...counts, summaryUpdated }, summarizer };
  }

  /** A27: pinning a pinned message returns the same item with the new category. */
  pin(conversationId: string, messageId: string, category: PinCategory): PinnedMemoryItem {
    const state = this.#state(conversationId);
    const message = this.#message(conversationId, messageId);
    const pinned = state.pins.find((pin) => pin.messageId === messageId);
    const item: PinnedMemoryItem =
      pinned === undefined
        ? {
            id: this.parts.ids.next('pin'),
            messageId,
            content: message.content,
            category,
            pinnedAt: new Date(this.parts.clock.now()).toISOString(),
          }
        : { ...pinned, category };
    const pins = pinned === undefined ? [...state.pins, item] : state.pins.map((pin) => (pin === pinned ? item : pin));
    this.parts.conversations.save({ ...state, pins });
    return item;
  }

  unpin(conversationId: string, messageId: string): void {
    const state = this.#state(conversationId);
    if (!state.pins.some((pin) => pin.messageId === messageId)) {
      throw notFound('messageId', 'This message is not pinned in the conversation', 'pin_not_found');
    }
    this.parts.conversations.save({ ...state, pins: state.pins.filter((pin) => pin.messageId !== messageId) });
  }

  /** Excluding removes the message from the summary at once. Including lets the next compaction summarize it again. */
  async exclude(conversationId: string, messageId: string, exclude: boolean): Promise<void> {
    const work = (): Sliced<CompactionState | undefined> =>
      this.#summaryWithout(conversationId, exclude ? messageId : undefined);
    await this.#retryOnChange(conversationId, work, (after) => {
      const state = this.#state(conversationId);
      const message = this.#message(conversationId, messageId);
      const previous = contextTokens(this.#messages.of(state), state.summary);
      // A message that is included again is in the context in full until a compaction summarizes it.
      const leftOut = exclude ? [...new Set([...state.leftOut, messageId])] : state.leftOut;
      this.parts.conversations.together(() => {
        this.parts.conversations.saveMessage(conversationId, { ...message, excluded: exclude });
        this.parts.conversations.save({ ...state, leftOut });
        if (after === undefined) return;
        const now = this.#messages.of({ ...state, leftOut });
        const tokens = { previous, total: totalTokens(now), now: contextTokens(now, after.items) };
        this.#save({ ...state, leftOut }, after, { cause: 'exclude', summarizer: 'extractive' }, tokens);
      });
    });
  }

  /** The summary without an excluded message; undefined if the exclusion changes nothing. */
  *#summaryWithout(conversationId: string, messageId: string | undefined): Sliced<CompactionState | undefined> {
    const state = this.#state(conversationId);
    if (!state.summary.some((item) => item.messageId === messageId)) return undefined;
    const messages = yield* this.#messages.reading(state);
    const others = messages.map((message) =>
      message.id === messageId ? { ...message, live: false, summarized: false } : message,
    );
    return yield* resummarize(others, compactionState(state));
  }

  /** Rewrites the summary, if something in it is from a message that was deleted. */
  #withoutDeleted(conversationId: string): void {
    const state = this.#state(conversationId);
    const isDeleted = ({ messageId }: SummaryItem): boolean =>
      this.parts.conversations.message(conversationId, messageId) === undefined;
    if (!state.summary.some(isDeleted)) return;
    const messages = runSync(this.#messages.reading(state));
    const after = runSync(resummarize(messages, compactionState(state)));
    const previous = contextTokens(messages, state.summary);
    const tokens = { previous, total: totalTokens(messages), now: contextTokens(messages, after.items) };
    this.#save(state, after, { cause: 'cut', summarizer: 'extractive' }, tokens);
  }

  /**
   * Saves the outcome. The version increases by one, but only if the summary changed as the API returns it: the same
   * sentence may come from another message now.
   */
  #save(
    state: ConversationState,
    after: CompactionState,
    by: Pick<SummaryVersion, 'cause' | 'summarizer'>,
    tokens: { previous: number; total: number; now: number },
  ): boolean {
    const shown = (items: SummaryItem[]): string => JSON.stringify(renderSummary(items, state));
    const changed = shown(state.summary) !== shown(after.items);
    const next: ConversationState = {
      ...state,
      summary: after.items,
      folded: after.folded,
      version: changed ? state.version + 1 : state.version,
      lastUpdated: changed ? new Date(this.parts.clock.now()).toISOString() : state.lastUpdated,
    };
    this.parts.conversations.together(() => {
      this.parts.conversations.save(next);
      if (!changed) return;
      this.parts.conversations.history.keepVersion(state.id, {
        summary: this.summary(next),
        ...by,
        totalTokens: tokens.total,
        previousTokens: tokens.previous,
        compressedTokens: tokens.now,
      });
    });
    return changed;
  }

  #state(conversationId: string): ConversationState {
    const state = this.parts.conversations.state(conversationId);
    if (state === undefined)
      throw notFound('conversationId', 'The conversation does not exist', 'conversation_not_found');
    return state;
  }

  #message(conversationId: string, messageId: string): MessageRecord {
    const message = this.parts.conversations.message(conversationId, messageId);
    if (message === undefined) throw notFound('messageId', 'The message does not exist', 'message_not_found');
    return message;
  }
}

/** What is in a context, and what is not. */
interface Inspection {
  statements: SummaryItem[];
  lost: Statement[];
  statuses: { tokens: number; status: MessageStatus }[];
}

/** Attempts in slices before the work runs in one go. */
const ATTEMPTS = 3;
