import type { Sliced } from '../../base/slices.js';
import { type SummaryItem, summaryTokens } from '../../store/summary.js';
import type { Extraction } from './candidates.js';
import { Summaries } from './summaries.js';

/** How far a compaction goes. */
export type CompactionLevel = (typeof COMPACTION_LEVELS)[number];
/** All compaction levels, mildest first. */
export const COMPACTION_LEVELS = ['light', 'deep', 'aggressive'] as const;

/** What compaction needs to know about a message. */
export interface CompactableMessage {
  role: string;
  tokens: number;
  /** Not excluded. */
  live: boolean;
  pinned: boolean;
  /** The summary covers it. A live message that is neither summarized nor pinned is in the context in full. */
  summarized: boolean;
  /** Its candidates for a summary. */
  extraction: () => Extraction;
}

/** The state after a compaction. */
export interface CompactionState {
  /** The number of messages, counted from the first, that are folded into the summary. */
  folded: number;
  items: SummaryItem[];
  /** The tokens the summary was allowed. */
  budget: number;
}

/**
 * A18: per level, mildest first, as fractions of the conversation's tokens: the target size, and the minimum shares of
 * the newest messages and of the summary.
 */
const LEVELS = [
  { name: 'light', target: 0.6, tail: 0.15, leastSummary: 0.1 },
  { name: 'deep', target: 0.35, tail: 0.05, leastSummary: 0.06 },
  { name: 'aggressive', target: 0.15, tail: 0.03, leastSummary: 0.03 },
] as const;

type Level = (typeof LEVELS)[number];

type CountTokens = (text: string) => Sliced<number>;

/**
 * Folds older messages into a summary. The same messages, level and state give the same result. The context never
 * grows, and a stronger level never leaves more tokens than a milder one.
 */
export function* compact(
  messages: readonly CompactableMessage[],
  level: CompactionLevel,
  before: CompactionState,
  countTokens: CountTokens,
): Sliced<CompactionState & { statements: SummaryItem[] }> {
  const summaries = yield* summariesOf(messages, countTokens);
  const strongest = LEVELS.findIndex(({ name }) => name === level);
  let state = before;
  let most = contextTokens(messages, before.items);
  for (const mild of LEVELS.slice(0, strongest + 1)) {
    state = yield* atLevel(mild, { messages, before, most, summaries });
    most = state === before ? most : tokensBesidesSummary(messages, state.folded) + summaryTokens(state.items);
  }
  return { ...state, statements: summaries.statements };
}

/** Rewrites the summary after a message was excluded. It covers the same messages otherwise, and does not grow. */
export function* resummarize(
  messages: readonly CompactableMessage[],
  state: CompactionState,
  countTokens: CountTokens,
): Sliced<CompactionState> {
  const summaries = yield* summariesOf(messages, countTokens);
  const isTaken = (message: number): boolean => messages[message]?.summarized === true;
  return { ...state, items: yield* summaries.write(isTaken, Math.min(state.budget, summaryTokens(state.items))) };
}

/** The statements of live messages, without those repeated or revoked later. */
export function* statementsOf(
  messages: readonly CompactableMessage[],
  countTokens: CountTokens,
): Sliced<SummaryItem[]> {
  return (yield* summariesOf(messages, countTokens)).statements;
}

function summariesOf(messages: readonly CompactableMessage[], countTokens: CountTokens): Sliced<Summaries> {
  const entries = messages.map(({ role, live, pinned, extraction }) =>
    live ? { role, isPinned: pinned, extraction } : undefined,
  );
  return Summaries.of(entries, countTokens);
}

function* atLevel(
  level: Level,
  work: { messages: readonly CompactableMessage[]; before: CompactionState; most: number; summaries: Summaries },
): Sliced<CompactionState> {
  const { messages, before, most, summaries } = work;
  const total = totalTokens(messages);
  yield;
  const folded = Math.max(before.folded, foldPoint(level, messages, summaries.supplies()));
  const rest = tokensBesidesSummary(messages, folded);
  const budget = Math.floor(Math.max(total * level.target - rest, total * level.leastSummary));
  const isDone = folded === before.folded && isUpToDate(messages, folded);
  if (isDone && contextTokens(messages, before.items) <= rest + budget) return before;
  const items = yield* summaries.write((message) => message < folded, Math.min(budget, most - rest));
  return { folded, budget, items };
}

/**
 * The number of messages to fold. The newest messages stay in full within their share of the target, and beyond it
 * while the summary of the others would not fill the rest. The very last one stays unless it is too large for the
 * level.
 */
function foldPoint(
  { target, tail, leastSummary }: Level,
  messages: readonly CompactableMessage[],
  supplies: readonly number[],
): number {
  const total = totalTokens(messages);
  const room = total * target - pinnedTokens(messages);
  const most = room - total * leastSummary;
  let supply = supplies.reduce((sum, tokens) => sum + tokens, 0);
  let kept = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    const cost = message?.live && !message.pinned ? message.tokens : 0;
    const isInTail = kept + cost <= total * tail || (kept === 0 && cost <= SMALL_MESSAGE);
    const isNeeded = kept + supply < room;
    const fits = kept + cost <= most || (kept === 0 && cost <= SMALL_MESSAGE);
    if (cost > 0 && !(fits && (isInTail || isNeeded))) return at + 1;
    kept += cost;
    supply -= supplies[at] ?? 0;
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
