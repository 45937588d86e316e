import { systemRuntime } from '../base/runtime.js';
import { type CompactionLevel, type CompactionResult, ConfigurationError, RateLimitError } from '../index.js';
import type { CompactionState, Snapshot } from './model.js';
import { entriesOf, sharedTerms, termsOf } from './receipt.js';
import { type History, pauses } from './search.js';

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
  const { suspended: { until, wait } = { until: 0, wait: 0 }, tokens, savedNothing = false, level = 'light' } = state;
  const left = until - systemRuntime.wallClock();
  if (size.now < size.limit || (left > 0 && left <= wait)) return undefined; // more is left if the clock was set back
  const grown = (savedNothing ? size.stored : size.now) - (tokens ?? Number.NEGATIVE_INFINITY);
  return grown >= MIN_GROWTH * Math.max(size.limit, tokens ?? 0) ? level : undefined;
}

/**
 * Records how much a compaction saved. `retry` is the stronger level to try at once, because it saved nothing. `error`
 * says that it saved nothing, because the service has too few of the turns.
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
  const wait = error.retryAfter ?? Math.min(2 * (state.suspended?.wait ?? FIRST_WAIT / 2), LONGEST_WAIT);
  return { ...state, suspended: { until: systemRuntime.wallClock() + wait, wait } };
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

/**
 * Counts old messages that are neither pinned nor the origin of a statement of the summary. Pauses now and then, because
 * there may be many statements.
 */
export async function countOnlyInHistory({ summary, pins, metadata }: Snapshot, history: History): Promise<number> {
  const { messages } = history;
  const end = Math.max(0, messages.length - metadata.recentMessageCount);
  const pinned = new Set<string | undefined>(pins.map(({ messageId }) => messageId));
  const represented = new Set<number>();
  for (const [at, { id, excluded }] of messages.slice(0, end).entries())
    if (excluded === true || (id !== undefined && pinned.has(id))) represented.add(at);
  const index = await history.index();
  const pause = pauses();
  for (const { text } of entriesOf(summary)) {
    const terms = termsOf(text);
    for (const { position } of index.search(text, { limit: 3, neighbours: false })) {
      const shared = sharedTerms(terms, termsOf(messages[position]?.content ?? ''));
      if (position < end && shared >= SAME_STATEMENT * terms.size) represented.add(position);
    }
    await pause();
  }
  return end - represented.size;
}

/** Share of a statement's terms that the message has from which it comes. */
const SAME_STATEMENT = 0.8;
