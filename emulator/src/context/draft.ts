import { hash } from 'node:crypto';
import type { ConversationState } from '../store/conversation-records.js';
import type { SummaryItem } from '../store/summary.js';
import {
  type CompactableMessage,
  type CompactionLevel,
  type CompactionState,
  contextTokens,
} from './compaction/compact.js';

/** A message as compaction sees it, with its id. */
export type StoredMessage = CompactableMessage & { id: string };

/** How a message appears in its context. */
export type MessageStatus = 'recent' | 'summarized' | 'pinned' | 'excluded';

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
  return { folded: state.folded, items: state.summary, budget: state.summaryBudget };
}

/** See {@link Draft.sourceHash}. */
export function sourceHashOf(messages: readonly StoredMessage[], folded: number, level: CompactionLevel): string {
  const seen = messages.slice(0, folded).map(({ id, live, pinned }) => [id, live && !pinned]);
  return `${level} ${folded} ${hash('sha256', JSON.stringify(seen), 'base64url')}`;
}

/** Tokens of the context if its summary consisted of these items. */
export function contextTokensWith({ messages, after }: Draft, items: readonly SummaryItem[]): number {
  const out = new Set(leftOut(messages, after.folded));
  const folded = messages.map((message, i) => ({ ...message, summarized: i < after.folded && !out.has(message.id) }));
  return contextTokens(folded, items);
}
