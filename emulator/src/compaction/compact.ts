import type { Candidate } from './candidates.js';
import { extractiveSummary, type SourceEntry, type Summarize } from './extractive.js';
import { type SummaryItem, summaryTokens } from './summary.js';

/** How far a compaction goes. */
export type CompactionLevel = 'light' | 'deep' | 'aggressive';

/** A message with what compaction needs to know of it. */
export interface CompactableMessage {
  role: string;
  content: string;
  tokens: number;
  /** Not excluded. */
  live: boolean;
  pinned: boolean;
  /** The summary has taken it in. A live message that is neither this nor pinned stands in the context as it is. */
  summarized: boolean;
  candidates: () => readonly Candidate[];
}

/** What a compaction leaves. */
export interface CompactionState {
  /** How many messages, from the first, are folded into the summary. */
  folded: number;
  items: SummaryItem[];
  /** Tokens the summary was meant to have. */
  budget: number;
}

/** A18: what each level leaves of the conversation's tokens, and how much of that the newest messages have at least. */
const LEVELS: Readonly<Record<CompactionLevel, Level>> = Object.freeze({
  light: { target: 0.6, tail: 0.3, leastSummary: 0.1, milder: undefined },
  deep: { target: 0.35, tail: 0.1, leastSummary: 0.06, milder: 'light' },
  aggressive: { target: 0.15, tail: 0.03, leastSummary: 0.03, milder: 'deep' },
});

interface Level {
  target: number;
  tail: number;
  leastSummary: number;
  milder: CompactionLevel | undefined;
}

/**
 * Fold older messages into a summary. Pure: the same messages, level and state give the same result; it never grows, and
 * a stronger level never leaves more than a milder one would.
 */
export function compact(
  messages: readonly CompactableMessage[],
  level: CompactionLevel,
  before: CompactionState,
  summarize: Summarize = extractiveSummary,
): CompactionState {
  const { target, tail, leastSummary, milder } = LEVELS[level];
  const total = totalTokens(messages);
  const most = milder
    ? tokensAfter(messages, compact(messages, milder, before, summarize))
    : contextTokens(messages, before.items);

  const plan = (folded: number, limit = Number.POSITIVE_INFINITY): CompactionState => {
    const rest = tokensBeside(messages, folded);
    const budget = Math.floor(Math.max(total * target - rest, total * leastSummary));
    const entries = sourceEntries(messages, (_, i) => i < folded);
    return { folded, items: summarize({ messages: entries, budget, most: limit - rest }), budget };
  };
  const first = plan(Math.max(before.folded, foldUntil(messages, total * tail)));
  // What the summary did not need is given back to the newest messages. What was folded once stays folded.
  const room = total * target - pinnedTokens(messages) - summaryTokens(first.items);
  const folded = Math.max(before.folded, foldUntil(messages, Math.max(total * tail, room)));
  const wanted = plan(folded);
  if (tokensAfter(messages, wanted) <= most) return wanted;
  // A milder level after a stronger one: there is nothing to remove.
  if (folded === before.folded && isUpToDate(messages, folded)) return before;
  return plan(folded, most);
}

/** The summary again after a message was taken out: as far as it was folded, and no larger than it was. */
export function resummarize(
  messages: readonly CompactableMessage[],
  state: CompactionState,
  summarize: Summarize = extractiveSummary,
): CompactionState {
  const entries = sourceEntries(messages, ({ summarized }) => summarized);
  return { ...state, items: summarize({ messages: entries, budget: state.budget, most: summaryTokens(state.items) }) };
}

/** A18: tokens of summary, pins and recent messages; a pinned message counts once. */
export function contextTokens(messages: readonly CompactableMessage[], items: readonly SummaryItem[]): number {
  return summaryTokens(items) + pinnedTokens(messages) + sum(messages, isRecent);
}

/** Tokens of all live messages. */
export function totalTokens(messages: readonly CompactableMessage[]): number {
  return sum(messages, (message) => message.live || message.pinned);
}

/** Stands in the context as it was said, without being pinned. */
export function isRecent(message: CompactableMessage): boolean {
  return message.live && !message.pinned && !message.summarized;
}

/** Has the summary seen what it should have seen, and nothing else? */
function isUpToDate(messages: readonly CompactableMessage[], folded: number): boolean {
  return messages.slice(0, folded).every((message) => message.summarized === (message.live && !message.pinned));
}

/** What a context costs once a compaction has left this. */
function tokensAfter(messages: readonly CompactableMessage[], { folded, items }: CompactionState): number {
  return tokensBeside(messages, folded) + summaryTokens(items);
}

/** What stands beside the summary when so many messages are folded. */
function tokensBeside(messages: readonly CompactableMessage[], folded: number): number {
  return pinnedTokens(messages) + sum(messages.slice(folded), (message) => message.live && !message.pinned);
}

function pinnedTokens(messages: readonly CompactableMessage[]): number {
  return sum(messages, (message) => message.pinned);
}

/** How many messages to fold so that the newest ones, at least one of them, stay within so many tokens. */
function foldUntil(messages: readonly CompactableMessage[], tailTokens: number): number {
  let tokens = 0;
  let kept = 0;
  for (let i = messages.length - 1; i >= 0; i -= 1) {
    const message = messages[i];
    if (message === undefined) break;
    const cost = message.live && !message.pinned ? message.tokens : 0;
    if (kept > 0 && cost > 0 && tokens + cost > tailTokens) return i + 1;
    tokens += cost;
    if (cost > 0) kept += 1;
  }
  return 0;
}

function sourceEntries(
  messages: readonly CompactableMessage[],
  isFolded: (message: CompactableMessage, i: number) => boolean,
): SourceEntry[] {
  return messages.flatMap((message, i) => {
    if (!message.live) return [];
    const { role, content, candidates } = message;
    return [{ role, content, candidates, taken: !message.pinned && isFolded(message, i) }];
  });
}

function sum(messages: readonly CompactableMessage[], counts: (message: CompactableMessage) => boolean): number {
  return messages.reduce((total, message) => (counts(message) ? total + message.tokens : total), 0);
}
