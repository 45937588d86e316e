import { systemRuntime } from '../base/runtime.js';
import {
  type CompactionLevel,
  type CompactionResult,
  ConfigurationError,
  type ContextClient,
  RateLimitError,
  type RequestOptions,
} from '../index.js';
import type { ContextCache } from './context.js';
import type { CompactionReceipt, CompactionReport, CompactionState, ConversationMessage, Snapshot } from './model.js';
import { diffSummaries, entriesOf, observeSummary, sharedTerms, termsOf } from './receipt.js';
import type { ReceiptWatch } from './respond.js';
import type { Session } from './store.js';
import { messageTokens } from './tokens.js';
import { type Background, untilAborted } from './turn.js';

/** What a compactor works with. */
interface CompactionSource {
  client: ContextClient;
  session: Session;
  cache: ContextCache;
  background: Background;
  onCompaction: ((receipt: CompactionReceipt) => void) | undefined;
  count: (text: string) => number;
  /** Tokens of the context from which on it is compacted. */
  limit: number;
  /** Whether it is compacted without being asked. */
  isAutomatic: boolean;
}

/** Compacts the context of a conversation, one compaction at a time, and reports what each lost. */
export class Compactor {
  readonly #source: CompactionSource;
  readonly #session: Session;
  #running: Promise<CompactionReport> | undefined;
  #isCompacting = false;
  /** The compaction whose result has not been read yet, and the receipt of the last one that has been. */
  #cause: Cause | undefined;
  #receipt: Promise<CompactionReceipt> | undefined;
  readonly #watches = new Set<(receipt: CompactionReceipt) => void>();

  constructor(source: CompactionSource) {
    this.#source = source;
    this.#session = source.session;
  }

  /** Compacts now, or waits for the compaction that runs. */
  compact(
    level: CompactionLevel | undefined,
    request: RequestOptions,
    signal?: AbortSignal,
  ): Promise<CompactionReport> {
    const { background } = this.#source;
    // Set before any `await`: a second call in the same tick must see it.
    this.#running ??= background.run(
      this.#compact(level, { ...request, signal: background.signal }).finally(() => {
        this.#running = undefined;
      }),
    );
    return untilAborted(this.#running, signal);
  }

  /** Makes the next read ask the service. */
  invalidate(): void {
    this.#source.cache.invalidate();
    const { snapshot } = this.#session.state;
    if (snapshot !== undefined) this.#session.set({ snapshot: { ...snapshot, readAt: 0 } });
  }

  /** Whether even the strongest level leaves the context too large. */
  isExhausted(snapshot: Snapshot): boolean {
    const { now, limit } = this.#sizeOf(snapshot);
    return this.#session.state.compaction.exhausted === true && now >= limit;
  }

  /** Collects the receipts of compactions from now on. */
  watch(): ReceiptWatch {
    const receipts: CompactionReceipt[] = [];
    const watch = (receipt: CompactionReceipt): void => void receipts.push(receipt);
    this.#watches.add(watch);
    return {
      collect: () => this.#source.background.settled().then(() => receipts),
      end: () => void this.#watches.delete(watch),
    };
  }

  #sizeOf({ metadata, messages }: Snapshot): ContextSize {
    const since = this.#session.history.messages.slice(messages);
    return {
      now: metadata.compressedTokens + messageTokens(since, this.#source.count),
      stored: metadata.compressedTokens,
      limit: this.#source.limit,
    };
  }

  /** Compacts behind the turn if due. */
  compactIfDue(): void {
    const { background } = this.#source;
    const { snapshot, compaction } = this.#session.state;
    if (!this.#source.isAutomatic || background.signal.aborted || snapshot === undefined) return;
    if (this.#isCompacting || this.#running !== undefined) return;
    const size = this.#sizeOf(snapshot);
    const level = dueLevel(compaction, size);
    if (level === undefined) return;
    this.#isCompacting = true;
    const done = (): void => {
      this.#isCompacting = false;
    };
    this.#source.background.behind(this.#compactFrom(level, size).finally(done));
  }

  async #compactFrom(first: CompactionLevel, size: ContextSize): Promise<void> {
    try {
      let level: CompactionLevel | undefined = first;
      // If a level saves nothing, try the next one, once. No retries here: after a failure, a later turn tries again.
      for (let attempt = 0; level !== undefined && attempt < 2; attempt += 1) {
        const report: CompactionReport = await this.compact(level, { maxRetries: 0 });
        if (report.result === undefined) break;
        const { state, retry, error } = afterCompaction(report.level ?? level, report.result, size);
        this.#session.set({ compaction: state });
        if (error !== undefined) this.#source.background.onError(error);
        level = retry;
      }
    } catch (error) {
      this.#session.set({ compaction: afterFailure(this.#session.state.compaction, error, size) });
      this.#source.background.onError(error);
    }
    await this.#session.save();
  }

  /** Compacts, then reads the context to report the difference. */
  async #compact(level: CompactionLevel | undefined, options: RequestOptions): Promise<CompactionReport> {
    const { client, cache } = this.#source;
    const limits = await this.#session.load(options);
    const { snapshot: before } = await cache.read(limits.request());
    const result = await client.compact(this.#session.id, { level }, { ...options, ...limits.request() });
    this.invalidate();
    this.#cause = { level, result };
    this.#receipt = undefined;
    // Read at once, so that the ledger sees every version even if no turn follows. A failed read does not fail the
    // compaction, which is already done.
    const after = await cache.fetch(limits.request()).catch((error: unknown) => this.#source.background.onError(error));
    const receipt = await (this.#receipt as Promise<CompactionReceipt> | undefined); // set when the read was observed
    await this.#session.save();
    const version = before?.summary.version ?? 0;
    const versions = { before: version, after: after?.summary.version ?? version };
    return receipt ?? { level, result, versions, tokens: tokensOf(result) };
  }

  /** Processes each snapshot once: if it has a new version, records what that version lost. */
  async observe(snapshot: Snapshot): Promise<void> {
    const { snapshot: before, ledger } = this.#session.state;
    const cause = this.#cause;
    this.#cause = undefined;
    this.#session.set({ snapshot, ledger: observeSummary(ledger, snapshot.summary, snapshot.metadata) });
    if (before === undefined || (cause === undefined && !compactedSince(before, snapshot))) return;
    const receipt = this.#receiptOf(before, snapshot, cause).then((receipt) => {
      for (const watch of this.#watches) watch(receipt);
      new Promise((resolve) => resolve(this.#source.onCompaction?.(receipt))).catch(this.#source.background.onError);
      return receipt;
    });
    this.#receipt = receipt;
    this.#source.background.behind(receipt);
  }

  async #receiptOf(before: Snapshot, after: Snapshot, cause: Cause | undefined): Promise<CompactionReceipt> {
    const read = { before: before.metadata.compressedTokens, after: after.metadata.compressedTokens };
    return {
      ...cause,
      versions: { before: before.summary.version, after: after.summary.version },
      tokens: cause === undefined ? read : tokensOf(cause.result),
      diff: diffSummaries(before.summary, after.summary),
      onlyInHistory: await this.#countOnlyInHistory(after),
    };
  }

  /** Counts old messages that are neither pinned nor the origin of a statement. */
  async #countOnlyInHistory({ summary, pins, metadata }: Snapshot): Promise<number> {
    const { messages } = this.#session.history;
    const end = Math.max(0, messages.length - metadata.recentMessageCount);
    const pinned = new Set(pins.map(({ messageId }) => messageId));
    const old = messages.slice(0, end);
    const represented = new Set(Array.from(old.keys()).filter((at) => isExempt(old[at], pinned)));
    const index = await this.#session.history.index();
    let began = performance.now();
    for (const { text } of entriesOf(summary)) {
      const terms = termsOf(text);
      for (const { position } of index.search(text, { limit: 3, neighbours: false })) {
        const content = messages[position]?.content ?? '';
        if (position < end && sharedTerms(terms, termsOf(content)) >= SAME_STATEMENT * terms.size)
          represented.add(position);
      }
      if (performance.now() - began < MAX_BLOCK) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      began = performance.now();
    }
    return end - represented.size;
  }
}

interface Cause {
  level: CompactionLevel | undefined;
  result: CompactionResult;
}

/** Tokens of the context. */
interface ContextSize {
  /** With the messages since it was read. */
  now: number;
  /** As the service counted. */
  stored: number;
  /** From which size on it is compacted. */
  limit: number;
}

/** The level to compact with now, or `undefined` if no compaction is due. */
function dueLevel(state: CompactionState, size: ContextSize): CompactionLevel | undefined {
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
function afterCompaction(
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
function afterFailure(state: CompactionState, error: unknown, { now, stored }: ContextSize): CompactionState {
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

/** Share of a statement's terms that the message has from which it comes. */
const SAME_STATEMENT = 0.8;
/** Milliseconds of work before other events are handled. */
const MAX_BLOCK = 8;

/**
 * Whether a compaction happened between two snapshots. Excluding a message creates a new version too, so the time of
 * the last compaction decides. If the service does not report it, every new version counts as a compaction.
 */
function compactedSince(before: Snapshot, after: Snapshot): boolean {
  if (before.summary.version === after.summary.version) return false;
  const { lastCompactionAt } = after.metadata;
  return lastCompactionAt === undefined || lastCompactionAt !== before.metadata.lastCompactionAt;
}

function tokensOf({ previousTokenCount, newTokenCount }: CompactionResult): CompactionReport['tokens'] {
  return { before: previousTokenCount, after: newTokenCount };
}
function isExempt(message: ConversationMessage | undefined, pinned: ReadonlySet<string | undefined>): boolean {
  return message === undefined || message.excluded === true || (message.id !== undefined && pinned.has(message.id));
}
