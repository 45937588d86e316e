import {
  type CompactionLevel,
  ConfigurationError,
  type ContextMetadata,
  RateLimitError,
  type RollingSummary,
} from '../index.js';
import type { CompactionOptions, CompactionReport } from './options.js';
import { shouldCompact } from './trigger.js';

/**
 * Decides when to compact and at which level, and learns from the results. `metadata` includes the turns made since the
 * context was read, `stored` does not.
 */
export class Compactor {
  readonly #options: CompactionOptions;
  readonly #budget: number;
  /**
   * For each level, the share of the whole conversation's tokens that was left when it was last used. Guessed before:
   * another process may have compacted the context so far that a mild level would remove nothing.
   */
  readonly #yields = new Map<CompactionLevel, number>(GUESSED_YIELDS);
  #tokensAtLastAttempt: number | undefined;
  #savedNothing = false;
  #attemptedAt = 0;
  #suspendedUntil = 0;
  #refusals = 0;
  #exhausted = false;

  constructor(options: CompactionOptions, budget: number) {
    this.#options = options;
    this.#budget = budget;
  }

  /** Whether the strongest level did not make the context small enough, and the context is still too large. */
  isExhausted(metadata: ContextMetadata): boolean {
    return this.#exhausted && this.#isReached(metadata);
  }

  /** The level to compact with now, or `undefined` if no compaction is due. */
  levelNow(metadata: ContextMetadata, stored: ContextMetadata): CompactionLevel | undefined {
    const now = Date.now();
    if (now < this.#suspendedUntil || !this.#isReached(metadata)) return undefined;
    const { minGrowth = 0.1, cooldown = Number.POSITIVE_INFINITY } = this.#options;
    const grown = this.#tokens(metadata, stored) - (this.#tokensAtLastAttempt ?? 0);
    const hasGrown = this.#tokensAtLastAttempt === undefined || grown >= minGrowth * this.#budget;
    if (!hasGrown && now - this.#attemptedAt < cooldown) return undefined;
    return this.#promising(metadata);
  }

  /** Whether `onBefore` allows the compaction. */
  async isAllowed(metadata: ContextMetadata, summary: RollingSummary): Promise<boolean> {
    return (await this.#options.onBefore?.(metadata, summary)) !== false;
  }

  /**
   * Records how much a level saved. Returns the next level to try if it saved nothing.
   *
   * @throws {ConfigurationError} when it saved nothing, because the service has too few of the turns
   */
  learn(
    { level, result }: CompactionReport,
    metadata: ContextMetadata,
    stored: ContextMetadata,
  ): CompactionLevel | undefined {
    if (level === undefined || result === undefined) return undefined;
    const { newTokenCount, previousTokenCount, summaryUpdated } = result;
    this.#refusals = 0;
    this.#attempted(newTokenCount);
    this.#yields.set(level, newTokenCount / Math.max(1, metadata.totalTokens));
    const next = stronger(level);
    this.#exhausted = next === undefined && this.#isReached({ ...metadata, compressedTokens: newTokenCount });
    this.#savedNothing = newTokenCount >= previousTokenCount || !summaryUpdated;
    if (!this.#savedNothing) return undefined;
    if (previousTokenCount > stored.compressedTokens || this.#isReached(stored)) return next;
    throw new ConfigurationError(
      `The compaction removed nothing: the service has only ${previousTokenCount} tokens of this conversation. ` +
        'Store each turn with the service, or set compaction: false.',
    );
  }

  /**
   * Records a failed attempt. After a rate limit, delays the next one: as the service says, or else longer each time.
   */
  failed(error: unknown, metadata: ContextMetadata, stored: ContextMetadata): void {
    this.#attempted(this.#tokens(metadata, stored));
    if (!RateLimitError.is(error)) return;
    const backoff = Math.min(FIRST_WAIT * 2 ** this.#refusals, LONGEST_WAIT);
    this.#refusals += 1;
    this.#suspendedUntil = Date.now() + (error.retryAfter ?? backoff);
    this.#tokensAtLastAttempt = undefined; // the service rejected it without compacting
  }

  #attempted(tokens: number): void {
    this.#tokensAtLastAttempt = tokens;
    this.#attemptedAt = Date.now();
  }

  /** After a compaction that saved nothing, turns count only once the service has stored them. It may never do so. */
  #tokens(metadata: ContextMetadata, stored: ContextMetadata): number {
    return (this.#savedNothing ? stored : metadata).compressedTokens;
  }

  #isReached(metadata: ContextMetadata): boolean {
    const { when = { fraction: 0.75 } } = this.#options;
    return [when].flat().some((trigger) => shouldCompact(metadata, trigger, this.#budget));
  }

  /** The mildest level, starting from the configured one, that should save enough, judging by its last result. */
  #promising(metadata: ContextMetadata): CompactionLevel | undefined {
    const { level = 'light' } = this.#options;
    let candidate: CompactionLevel | undefined = typeof level === 'function' ? level(metadata) : level;
    while (candidate !== undefined) {
      const share = this.#yields.get(candidate);
      const next = stronger(candidate);
      const most = (next === undefined ? WORTHWHILE : WORTHWHILE_IF_MILD) * metadata.compressedTokens;
      if (share === undefined || share * metadata.totalTokens <= most) return candidate;
      candidate = next;
    }
    this.#exhausted = true;
    return undefined;
  }
}

function stronger(level: CompactionLevel): CompactionLevel | undefined {
  return ({ light: 'deep', deep: 'aggressive', aggressive: undefined } as const)[level];
}

/**
 * The largest share of the context that a worthwhile compaction leaves. Each compaction costs one of few requests per
 * minute, and invalidates the cached prefix of the prompts.
 */
const WORTHWHILE = 0.9;
/** The same for a milder level: if it saved little, the next compaction would soon be due. */
const WORTHWHILE_IF_MILD = 0.75;
/** Low, so that a level is skipped only if it would clearly save too little. A stronger level loses more. */
const GUESSED_YIELDS = [
  ['light', 0.5],
  ['deep', 0.3],
] as const;
const FIRST_WAIT = 30_000; // ms
const LONGEST_WAIT = 600_000; // ms
