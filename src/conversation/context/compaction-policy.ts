import { type CompactionLevel, type CompactionResult, RateLimitError } from '../../index.js';
import type { CompactionState } from '../model.js';

/** Share of the prompt's budget that the context must reach before it is compacted. */
const SHARE = 0.75;
/**
 * Share of the context by which it must grow before the next compaction. Each compaction uses one of the few requests per
 * minute, and invalidates the cached prefix of the prompts.
 */
const MIN_GROWTH = 0.25;
/** Milliseconds without a compaction after a failure, unless the service says how long. Each further failure doubles them. */
const FIRST_WAIT = 30_000;
const LONGEST_WAIT = 600_000;
/** The next level of each. */
export const STRONGER = { light: 'deep', deep: 'aggressive', aggressive: undefined } as const;

/** Tokens of a context. */
export interface ContextTokens {
  /** As the service counted them when it was read. */
  counted: number;
  /** With the messages since then. */
  current: number;
}

/** Tokens that the context must reach before it is compacted. */
export function limitOf(budget: number): number {
  return SHARE * budget;
}

/** The level to compact with now, or `undefined` if no compaction is due. */
export function dueLevel(
  { last, suspended }: CompactionState,
  { counted, current }: ContextTokens,
  limit: number,
  time: number,
): CompactionLevel | undefined {
  if (current < limit || isSuspended(suspended, time)) return undefined;
  if (last === undefined) return 'light';
  // After one that saved nothing, turns count only once the service has stored them.
  const grown = (last.savedNothing ? counted : current) - last.tokens;
  if (grown < MIN_GROWTH * Math.max(limit, last.tokens)) return undefined;
  return last.tokens >= limit ? (STRONGER[last.level] ?? last.level) : last.level;
}

function isSuspended(suspended: CompactionState['suspended'], time: number): boolean {
  if (suspended === undefined) return false;
  const left = suspended.until - time;
  return left > 0 && left <= suspended.wait; // more is left if the clock was set back
}

/** Whether the last compaction was the strongest one, and left too much. */
export function leftTooMuch({ last }: CompactionState, limit: number): boolean {
  return last?.level === 'aggressive' && last.tokens >= limit;
}

/** The state after a compaction. With `validation: 'report'`, the service may leave out its counts. */
export function afterCompaction(level: CompactionLevel, result: CompactionResult): CompactionState {
  const { newTokenCount, previousTokenCount, summaryUpdated } = result;
  const tokens = Number.isFinite(newTokenCount) ? newTokenCount : 0;
  return { last: { level, tokens, savedNothing: tokens >= previousTokenCount || !summaryUpdated } };
}

/** The state after an attempt that failed. */
export function afterFailure({ last, suspended }: CompactionState, error: unknown, time: number): CompactionState {
  const longer = Math.min(LONGEST_WAIT, Math.max(FIRST_WAIT, 2 * (suspended?.wait ?? 0)));
  const wait = (RateLimitError.is(error) ? error.retryAfter : undefined) ?? longer;
  return { last, suspended: { until: time + wait, wait } };
}
