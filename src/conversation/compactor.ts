import { type CompactionLevel, type ContextMetadata, RateLimitError, type RollingSummary } from '../index.js';
import type { CompactionOptions, CompactionReport } from './options.js';
import { shouldCompact } from './trigger.js';

/** Decides when to compact and how far, and remembers what came of it. */
export class Compactor {
  readonly #options: CompactionOptions;
  readonly #budget: number;
  /** What each level left of the whole conversation, when it was last used. */
  readonly #yields = new Map<CompactionLevel, number>();
  #tokensAtLastAttempt: number | undefined;
  #attemptedAt = 0;
  #suspendedUntil = 0;
  #refusals = 0;
  #exhausted = false;

  constructor(options: CompactionOptions, budget: number) {
    this.#options = options;
    this.#budget = budget;
  }

  /** The strongest level did not make the context small enough, and it is not now. */
  isExhausted(metadata: ContextMetadata): boolean {
    return this.#exhausted && this.#isReached(metadata);
  }

  /** The level to compact with now, if it is time to. */
  levelNow(metadata: ContextMetadata): CompactionLevel | undefined {
    const now = Date.now();
    if (now < this.#suspendedUntil || !this.#isReached(metadata)) return undefined;
    const { minGrowth = 0.1, cooldown = Number.POSITIVE_INFINITY } = this.#options;
    const grown = metadata.compressedTokens - (this.#tokensAtLastAttempt ?? 0);
    const hasGrown = this.#tokensAtLastAttempt === undefined || grown >= minGrowth * this.#budget;
    if (!hasGrown && now - this.#attemptedAt < cooldown) return undefined;
    return this.#promising(metadata);
  }

  /** Whether the user wants it. */
  async isAllowed(metadata: ContextMetadata, summary: RollingSummary): Promise<boolean> {
    return (await this.#options.onBefore?.(metadata, summary)) !== false;
  }

  /** Learn what a level saved. When that was nothing: the next level. */
  learn({ level, result }: CompactionReport, metadata: ContextMetadata): CompactionLevel | undefined {
    if (level === undefined || result === undefined) return undefined;
    const { newTokenCount, previousTokenCount, summaryUpdated } = result;
    this.#refusals = 0;
    this.#attempted(newTokenCount);
    this.#yields.set(level, newTokenCount / Math.max(1, metadata.totalTokens));
    const next = stronger(level);
    this.#exhausted = next === undefined && this.#isReached({ ...metadata, compressedTokens: newTokenCount });
    return newTokenCount < previousTokenCount && summaryUpdated ? undefined : next;
  }

  /** Wait before the next attempt, for as long as the service says, or longer each time. */
  failed(error: unknown, tokens: number): void {
    this.#attempted(tokens);
    if (!RateLimitError.is(error)) return;
    const backoff = Math.min(FIRST_WAIT * 2 ** this.#refusals, LONGEST_WAIT);
    this.#refusals += 1;
    this.#suspendedUntil = Date.now() + (error.retryAfter ?? backoff);
    this.#tokensAtLastAttempt = undefined; // it was refused, not tried
  }

  #attempted(tokens: number): void {
    this.#tokensAtLastAttempt = tokens;
    this.#attemptedAt = Date.now();
  }

  #isReached(metadata: ContextMetadata): boolean {
    const { when = { fraction: 0.75 } } = this.#options;
    return [when].flat().some((trigger) => shouldCompact(metadata, trigger, this.#budget));
  }

  /** The mildest level from the one wished for that is likely to save enough, by what it left the last time. */
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

/** What a compaction may leave of the context: it costs one of few requests a minute, and the common beginning of the prompts. */
const WORTHWHILE = 0.9;
/** A mild level that saves little would be due again soon. */
const WORTHWHILE_IF_MILD = 0.75;
const FIRST_WAIT = 30_000;
const LONGEST_WAIT = 600_000;
