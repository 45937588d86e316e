import { systemRuntime } from '../base/runtime.js';
import { type CompactionLevel, type CompactionResult, ConfigurationError, RateLimitError } from '../index.js';

/** What earlier compactions showed. Plain JSON. */
export interface CompactionState {
  /** The level to use next. */
  readonly level?: CompactionLevel | undefined;
  /** Tokens of the context after the last attempt. */
  readonly tokens?: number | undefined;
  /** Whether that attempt saved nothing: then turns count only once the service has stored them. */
  readonly savedNothing?: boolean | undefined;
  /** Whether the strongest level leaves the context too large. */
  readonly exhausted?: boolean | undefined;
  /** After a rate limit: until when no attempt is made, and how many there were in a row. */
  readonly suspended?: { since: number; until: number; refusals: number } | undefined;
}

/** Tokens of the context. */
export interface ContextSize {
  /** With the messages since it was read. */
  now: number;
  /** As the service counted. */
  stored: number;
  /** From which size on it is compacted. */
  limit: number;
}

/** The level to compact with now, or `undefined` if no compaction is due. */
export function dueLevel(state: CompactionState, size: ContextSize): CompactionLevel | undefined {
  const { suspended, tokens, savedNothing = false, level = 'light' } = state;
  const now = systemRuntime.wallClock();
  if (size.now < size.limit) return undefined;
  if (suspended !== undefined && now >= suspended.since && now < suspended.until) return undefined;
  const grown = (savedNothing ? size.stored : size.now) - (tokens ?? Number.NEGATIVE_INFINITY);
  return grown >= MIN_GROWTH * Math.max(size.limit, tokens ?? 0) ? level : undefined;
}

/**
 * Records how much a compaction saved. `retry` is the stronger level to try at once, because it saved nothing.
 *
 * @throws {ConfigurationError} when it saved nothing, because the service has too few of the turns
 */
export function afterCompaction(
  level: CompactionLevel,
  { newTokenCount, previousTokenCount, summaryUpdated }: CompactionResult,
  { stored, limit }: ContextSize,
): { state: CompactionState; retry?: CompactionLevel | undefined; error?: ConfigurationError } {
  const stronger = ({ light: 'deep', deep: 'aggressive', aggressive: undefined } as const)[level];
  const isTooLarge = newTokenCount >= limit;
  const savedNothing = newTokenCount >= previousTokenCount || !summaryUpdated;
  const isEnough = newTokenCount <= WORTHWHILE * previousTokenCount && !isTooLarge;
  const state: CompactionState = {
    level: isEnough ? level : (stronger ?? level),
    tokens: newTokenCount,
    savedNothing,
    exhausted: stronger === undefined && isTooLarge,
  };
  if (!savedNothing) return { state };
  if (previousTokenCount > stored || stored >= limit) return { state, retry: stronger };
  const message =
    `The compaction removed nothing: the service has only ${previousTokenCount} tokens of this conversation. ` +
    'Store each turn with the service, or set compaction: false.';
  return { state: { ...state, level }, error: new ConfigurationError(message) };
}

/** Records a failed attempt. After a rate limit, delays the next one: as the service says, or else longer each time. */
export function afterFailure(state: CompactionState, error: unknown, { now, stored }: ContextSize): CompactionState {
  if (!RateLimitError.is(error)) return { ...state, tokens: state.savedNothing === true ? stored : now };
  const refusals = (state.suspended?.refusals ?? 0) + 1;
  const since = systemRuntime.wallClock();
  const wait = error.retryAfter ?? Math.min(FIRST_WAIT * 2 ** (refusals - 1), LONGEST_WAIT);
  return { ...state, suspended: { since, until: since + wait, refusals } };
}

/** Share of the context by which it must grow before the next attempt. */
const MIN_GROWTH = 0.25;
/**
 * The largest share of the context that a worthwhile compaction leaves. Each compaction costs one of few requests per
 * minute, and invalidates the cached prefix of the prompts.
 */
const WORTHWHILE = 0.9;
const FIRST_WAIT = 30_000; // ms
const LONGEST_WAIT = 600_000; // ms
