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

/** Where a message stands in its context. */
export type Standing = 'recent' | 'summarized' | 'pinned' | 'excluded';

/** Where this one does. */
export function standingOf(message: CompactableMessage): Standing {
  if (message.pinned) return 'pinned';
  if (!message.live) return 'excluded';
  return message.summarized ? 'summarized' : 'recent';
}

/** What a compaction is about to do. */
export interface Draft {
  level: CompactionLevel;
  state: ConversationState;
  messages: StoredMessage[];
  /** Tokens of the context before. */
  previous: number;
  after: CompactionState;
  /** Names the messages it folds and how they stand: the same basis gives the same summary. */
  basis: string;
}

/** The messages a compaction passes over: excluded or pinned at the time. */
export function leftOut(messages: readonly StoredMessage[], folded: number): string[] {
  return messages
    .slice(0, folded)
    .filter((message) => !message.live || message.pinned)
    .map((message) => message.id);
}

/** What is kept of a conversation, as compaction knows it. */
export function compactionState(state: ConversationState): CompactionState {
  return { folded: state.folded, items: state.summary, budget: state.summaryBudget };
}

/** Names the folded messages and how they stand. */
export function basisOf(messages: readonly StoredMessage[], folded: number, level: CompactionLevel): string {
  const seen = messages.slice(0, folded).map(({ id, live, pinned }) => [id, live && !pinned]);
  return `${level} ${folded} ${hash('sha256', JSON.stringify(seen), 'base64url')}`;
}

/** Tokens of the context once these are the items of its summary. */
export function contextWith({ messages, after }: Draft, items: readonly SummaryItem[]): number {
  const out = new Set(leftOut(messages, after.folded));
  const folded = messages.map((message, i) => ({ ...message, summarized: i < after.folded && !out.has(message.id) }));
  return contextTokens(folded, items);
}
