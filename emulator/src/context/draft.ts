import { hash } from 'node:crypto';
import type { Sliced } from '../base/slices.js';
import type {
  CompactionLevel,
  CompactionReceipt,
  ConversationState,
  SummarizerName,
} from '../store/conversation-records.js';
import type { SummaryItem } from '../store/summary.js';
import { type CompactableMessage, type CompactionState, contextTokens, isRecent } from './compaction/compact.js';
import { type ContextContents, keptAndLost } from './receipts.js';

/** A message as compaction sees it, with its id. */
export type StoredMessage = CompactableMessage & { id: string };

/** How a message appears in its context. */
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];
export const MESSAGE_STATUSES = ['recent', 'summarized', 'pinned', 'excluded'] as const;

export function statusOf(message: CompactableMessage): MessageStatus {
  if (message.pinned) return 'pinned';
  if (!message.live) return 'excluded';
  return message.summarized ? 'summarized' : 'recent';
}

/** A compaction that is computed and not yet saved. */
export interface Draft {
  level: CompactionLevel;
  state: ConversationState;
  messages: StoredMessage[];
  /** Tokens of the context before the compaction. */
  previous: number;
  after: CompactionState;
  /** The tokens that its summary may have. */
  budget: number;
  /** The statements of its messages that no later message revokes. */
  statements: SummaryItem[];
  /** Identifies the folded messages and their exclusions and pins. The same hash gives the same summary. */
  sourceHash: string;
}

/** The folded messages that the summary leaves out because they are excluded or pinned. */
export function leftOut(messages: readonly StoredMessage[], folded: number): string[] {
  return messages
    .slice(0, folded)
    .filter((message) => !message.live || message.pinned)
    .map((message) => message.id);
}

/** The part of a conversation's state that compaction works on. */
export function compactionState(state: ConversationState): CompactionState {
  return { folded: state.folded, items: state.summary };
}

/** See {@link Draft.sourceHash}. */
export function sourceHashOf(messages: readonly StoredMessage[], folded: number, level: CompactionLevel): string {
  const seen = messages.slice(0, folded).map(({ id, live, pinned }) => [id, live && !pinned]);
  return `${level} ${folded} ${hash('sha256', JSON.stringify(seen), 'base64url')}`;
}

/** Tokens of the context if its summary consisted of these items. */
export function contextTokensWith(draft: Draft, items: readonly SummaryItem[]): number {
  return contextTokens(messagesAfter(draft), items);
}

/** What the context contains. */
export function contentsOf(
  messages: readonly StoredMessage[],
  summary: readonly SummaryItem[],
  statements: readonly SummaryItem[],
): ContextContents {
  const inFull = new Set(messages.filter((message) => message.pinned || isRecent(message)).map(({ id }) => id));
  return { summary, statements, isInFull: (id) => inFull.has(id) };
}

/** What the receipt of a compaction says of messages and statements. */
export function* accountOf(draft: Draft): Sliced<Account> {
  const { messages, state, statements, after } = draft;
  const now = messagesAfter(draft);
  const quoted = new Set(after.items.map(({ messageId }) => messageId));
  const isGone = (message: StoredMessage): boolean => statusOf(message) === 'summarized' && !quoted.has(message.id);
  const statementsKept = yield* keptAndLost(
    contentsOf(messages, state.summary, statements),
    contentsOf(now, after.items, statements),
  );
  const live = now.filter((message) => statusOf(message) !== 'excluded').length;
  return { recognised: statements.length, messages: { live, gone: now.filter(isGone).length }, ...statementsKept };
}

/** The summary that a model wrote, if it fits a draft. */
export type WrittenSummary = (draft: Draft) => SummaryItem[] | undefined;

/** A draft with what its receipt says. */
export interface AccountedDraft {
  draft: Draft;
  summarizer: SummarizerName;
  account: Account;
}

type Account = Pick<CompactionReceipt, 'recognised' | 'messages' | 'kept' | 'lost'>;

/** The messages as they are in the context after the compaction. */
function messagesAfter({ messages, after }: Draft): StoredMessage[] {
  const out = new Set(leftOut(messages, after.folded));
  return messages.map((message, i) => ({ ...message, summarized: i < after.folded && !out.has(message.id) }));
}
