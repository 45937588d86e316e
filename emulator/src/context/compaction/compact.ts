import type { Sliced } from '../../base/slices.js';
import { COMPACTION_LEVELS, type CompactionLevel } from '../../store/conversation-records.js';
import { type SummaryItem, summaryTokens } from '../../store/summary.js';
import type { Offers } from './offers.js';
import { sourcesOf, statementsIn, summaryOf } from './summaries.js';

/** What compaction needs to know about a message. */
export interface CompactableMessage {
  role: string;
  tokens: number;
  /** Not excluded. */
  live: boolean;
  pinned: boolean;
  /** The summary covers it. A live message that is neither summarized nor pinned is in the context in full. */
  summarized: boolean;
  /** What it offers to a summary. */
  offers: () => Offers;
}

/** The state after a compaction. */
export interface CompactionState {
  /** The number of messages, counted from the first, that are folded into the summary. */
  folded: number;
  items: SummaryItem[];
}

/**
 * A18: per level, mildest first, as fractions of the conversation's tokens: the target size, and the minimum shares of
 * the newest messages and of the summary.
 */
const LEVELS = {
  light: { target: 0.6, tail: 0.15, leastSummary: 0.1 },
  deep: { target: 0.35, tail: 0.05, leastSummary: 0.06 },
  aggressive: { target: 0.15, tail: 0.03, leastSummary: 0.03 },
} as const;

/**
 * Folds older messages into a summary, which may have `budget` tokens. The same messages, level and state give the same result. The context never
 * grows, and a stronger level never leaves more tokens than a milder one: each starts from the result of the one before.
 */
export function* compact(
  messages: readonly CompactableMessage[],
  level: CompactionLevel,
  before: CompactionState,
): Sliced<CompactionState & { budget: number; statements: SummaryItem[] }> {
  const sources = yield* sourcesOf(messages);
  const total = totalTokens(messages);
  let after = { ...before, budget: summaryTokens(before.items) };
  let most = contextTokens(messages, before.items);
  for (const mild of COMPACTION_LEVELS.slice(0, COMPACTION_LEVELS.indexOf(level) + 1)) {
    yield;
    const { target, leastSummary } = LEVELS[mild];
    const folded = Math.max(before.folded, foldPoint(messages, mild));
    const rest = tokensBesidesSummary(messages, folded);
    const budget = Math.floor(Math.max(total * target - rest, total * leastSummary));
    const isDone = folded === before.folded && isUpToDate(messages, folded);
    if (isDone && contextTokens(messages, before.items) <= rest + budget) continue;
    const isTaken = (message: number): boolean => message < folded && messages[message]?.pinned === false;
    const items = yield* summaryOf(sources, isTaken, Math.min(budget, most - rest));
    after = { folded, items, budget };
    most = rest + summaryTokens(items);
  }
  return { ...after, statements: statementsIn(sources) };
}

/** Rewrites the summary after a message was excluded. It covers the same messages otherwise, and does not grow. */
export function* resummarize(messages: readonly CompactableMessage[], state: CompactionState): Sliced<CompactionState> {
  const isTaken = (message: number): boolean => messages[message]?.summarized === true;
  return { ...state, items: yield* summaryOf(yield* sourcesOf(messages), isTaken, summaryTokens(state.items)) };
}

/** The number of messages to fold: all but the newest within their share. The last one stays unless it is large. */
function foldPoint(messages: readonly CompactableMessage[], level: CompactionLevel): number {
  const { target, tail, leastSummary } = LEVELS[level];
  const total = totalTokens(messages);
  const most = Math.min(total * tail, total * (target - leastSummary) - pinnedTokens(messages));
  let kept = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    const cost = message?.live && !message.pinned ? message.tokens : 0;
    if (cost > 0 && kept + cost > most && (kept > 0 || cost > SMALL_MESSAGE)) return at + 1;
    kept += cost;
  }
  return 0;
}

/** In tokens. A newest message up to this size stays in full at every level. */
const SMALL_MESSAGE = 500;

/** A18: tokens of summary, pins and recent messages. A pinned message counts once. */
export function contextTokens(messages: readonly CompactableMessage[], items: readonly SummaryItem[]): number {
  return summaryTokens(items) + pinnedTokens(messages) + sum(messages, isRecent);
}

/** Tokens of all live messages. */
export function totalTokens(messages: readonly CompactableMessage[]): number {
  return sum(messages, (message) => message.live || message.pinned);
}

/** The message is in the context in full, without being pinned. */
export function isRecent(message: CompactableMessage): boolean {
  return message.live && !message.pinned && !message.summarized;
}

/** Whether the summary covers exactly the folded messages that it should. */
function isUpToDate(messages: readonly CompactableMessage[], folded: number): boolean {
  return messages.slice(0, folded).every((message) => message.summarized === (message.live && !message.pinned));
}

/** Tokens of the context apart from the summary, with this many messages folded. */
function tokensBesidesSummary(messages: readonly CompactableMessage[], folded: number): number {
  return pinnedTokens(messages) + sum(messages.slice(folded), (message) => message.live && !message.pinned);
}

function pinnedTokens(messages: readonly CompactableMessage[]): number {
  return sum(messages, (message) => message.pinned);
}

function sum(messages: readonly CompactableMessage[], counts: (message: CompactableMessage) => boolean): number {
  return messages.reduce((total, message) => (counts(message) ? total + message.tokens : total), 0);
}
