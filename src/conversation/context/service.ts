import { pauses } from '../../base/pauses.js';
import type { Runtime } from '../../base/runtime.js';
import {
  AuthenticationError,
  type CompactionLevel,
  type CompactionResult,
  ConfigurationError,
  type ContextClient,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  type RequestOptions,
  type RollingSummary,
  type UserMemoryItem,
} from '../../index.js';
import type { Background } from '../background.js';
import type { CompactionReceipt, CompactionReport, CompactionState, Snapshot } from '../model.js';
import type { CheckedOptions } from '../options.js';
import { listOf } from '../prompt/entries.js';
import { messageTokens } from '../prompt/tokens.js';
import { untilAborted } from '../turn-timeouts.js';
import { countOnlyInHistory, diffSummaries, lostWith } from './receipt.js';
import type { Session } from './session.js';

/** The context for one prompt. */
export interface CurrentContext {
  snapshot?: Snapshot | undefined;
  memory?: readonly UserMemoryItem[] | undefined;
  stale: boolean;
}

/** A compaction that this conversation asked for. */
interface Cause {
  level: CompactionLevel | undefined;
  result: CompactionResult;
  /** Made by the first read that sees the new version, which may be that of a turn. */
  receipt?: Promise<CompactionReceipt> | undefined;
}

const NO_METADATA = { totalTokens: 0, compressedTokens: 0, preservationRatio: 1, recentMessageCount: 0 };
/** Milliseconds after which a turn reads the context again in the background. */
const FRESH = 30_000;
/** Milliseconds after which a turn waits for a new context. */
const TOO_OLD = 300_000;
/** Share of the prompt's budget that the context must reach before it is compacted. */
const DEFAULT_LIMIT = 0.75;
/**
 * Share of the context by which it must grow before the next compaction. Each compaction uses one of the few requests per
 * minute, and invalidates the cached prefix of the prompts.
 */
const MIN_GROWTH = 0.25;
/** Milliseconds without a compaction after a failure, unless the service says how long. Each failure doubles them. */
const FIRST_WAIT = 30_000;
const LONGEST_WAIT = 600_000;
/** Messages that are excluded at once. */
const EXCLUSIONS = 4;
const STRONGER = { light: 'deep', deep: 'aggressive', aggressive: undefined } as const;

/** The service's context of a conversation: reads it, compacts it, and reports what each compaction lost. */
export class ServiceContext {
  readonly client: ContextClient;
  readonly #options: CheckedOptions;
  readonly #session: Session;
  readonly #background: Background;
  readonly #runtime: Runtime;
  /** Tokens that the context must reach before it is compacted. */
  readonly #limit: number;
  /** The user's memory. Not stored with the conversation, which other users may read. */
  #memory: readonly UserMemoryItem[] | undefined;
  /** Grows with each change. A context requested before one is not kept. */
  #generation = 0;
  #refreshing: Promise<unknown> | undefined;
  #excluding: Promise<unknown> | undefined;
  #compacting: Promise<CompactionReport> | undefined;
  /** The compaction whose result has not been read yet. */
  #cause: Cause | undefined;

  constructor(client: ContextClient, options: CheckedOptions, session: Session, background: Background) {
    this.client = client;
    this.#options = options;
    this.#session = session;
    this.#background = background;
    this.#runtime = options.runtime;
    this.#limit = (options.compaction || DEFAULT_LIMIT) * options.budget;
  }

  /**
   * The context for a prompt. If it cannot be read, the previous one is used, or none with `onContextError: 'skip'`. If
   * the user may not read it, the previous one is not used either.
   */
  async current(options: RequestOptions): Promise<CurrentContext> {
    const { snapshot } = this.#session.state;
    const age = snapshot?.readAt ? this.#runtime.wallClock() - snapshot.readAt : Number.POSITIVE_INFINITY;
    try {
      if (age >= TOO_OLD) return { ...(await this.read(options)), stale: false };
      const stale = age < 0 || age >= FRESH; // below 0 if the clock was set back
      if (stale) this.#refresh();
      return { snapshot, memory: this.#memory ?? (await this.#readMemory(options)), stale };
    } catch (error) {
      const known = isRefusal(error) ? {} : { snapshot, memory: this.#memory };
      const isNeeded = known.snapshot === undefined && this.#options.onContextError !== 'skip';
      if (isNeeded || options.signal?.aborted === true) throw error;
      this.#background.onError(error);
      return { ...known, stale: true };
    }
  }

  #refresh(): void {
    const { signal } = this.#background;
    this.#refreshing ??= this.#background.behind(
      this.read({ signal })
        .then(() => this.#session.save(this.#session.timeouts({ signal })))
        .catch((error: unknown) => {
          if (isRefusal(error)) this.invalidate(); // the next turn reads, and fails
          throw error;
        })
        .finally(() => {
          this.#refreshing = undefined;
        }),
    );
  }

  /** Asks the service. */
  async read(options: RequestOptions): Promise<{ snapshot: Snapshot; memory: readonly UserMemoryItem[] }> {
    const generation = this.#generation;
    const { newest } = this.#session;
    const messages = newest.older + newest.messages.length;
    const [context, memory] = await Promise.all([
      this.client.retrieve(this.#session.id, options),
      this.#readMemory(options),
    ]);
    const snapshot: Snapshot = {
      // With `validation: 'report'`, the service may leave out any field. Only these are used without a check.
      summary: { version: 0, ...(context.rollingSummary as Partial<RollingSummary>) } as RollingSummary,
      pins: listOf(context.pinnedMemory),
      metadata: { ...NO_METADATA, ...context.metadata },
      messages,
      readAt: this.#runtime.wallClock(),
    };
    const { version = -1 } = this.#session.state.snapshot?.summary ?? {};
    if (generation === this.#generation && snapshot.summary.version >= version) this.#keep(snapshot);
    return { snapshot, memory };
  }

  async #readMemory(options: RequestOptions): Promise<readonly UserMemoryItem[]> {
    this.#memory = listOf(await this.client.memory.list({ workspaceId: this.#options.workspaceId }, options));
    return this.#memory;
  }

  /** Makes the next prompt ask the service. */
  invalidate(): void {
    this.#generation += 1;
    const { snapshot } = this.#session.state;
    if (snapshot !== undefined) this.#session.set({ snapshot: { ...snapshot, readAt: 0 } });
  }

  /** Removes messages from the service's summaries, in the background. The service may not have them. */
  exclude(ids: readonly string[]): void {
    const { signal } = this.#background;
    const left = ids.values();
    const exclude = async (): Promise<void> => {
      for (const id of left) {
        await this.client.exclude(this.#session.id, id, { signal }).catch((error: unknown) => {
          if (!NotFoundError.is(error)) this.#background.onError(error);
        });
      }
    };
    this.invalidate();
    const all = Promise.all([this.#excluding, ...Array.from({ length: EXCLUSIONS }, exclude)]);
    this.#excluding = this.#background.behind(all.then(() => this.invalidate()));
  }

  /** Compacts now, or waits for the compaction that runs. */
  compact(level: CompactionLevel | undefined, { signal, ...request }: RequestOptions): Promise<CompactionReport> {
    return untilAborted(
      this.#start(() => this.#compact(level, request)),
      signal,
    );
  }

  /** Compacts in the background if due. Resolves to the receipt, if there is one. */
  async compactIfDue(): Promise<CompactionReceipt | undefined> {
    const { snapshot, compaction } = this.#session.state;
    if (this.#options.compaction === false || snapshot === undefined) return undefined;
    if (this.#background.signal.aborted || this.#compacting !== undefined) return undefined;
    const level = this.#dueLevel(compaction, snapshot);
    if (level === undefined) return undefined;
    const { compressedTokens } = snapshot.metadata;
    const report = await this.#start(() => this.#compactFrom(level, compressedTokens)).catch(this.#background.onError);
    return report && isReceipt(report) ? report : undefined;
  }

  /** Whether even the strongest level leaves the context too large. */
  isExhausted(snapshot: Snapshot): boolean {
    const { level, tokens = 0 } = this.#session.state.compaction;
    return level === 'aggressive' && tokens >= this.#limit && this.#tokensNow(snapshot) >= this.#limit;
  }

  /** Tokens of the context, with the messages since it was read. */
  #tokensNow({ metadata, messages }: Snapshot): number {
    const { newest } = this.#session;
    const since = newest.messages.slice(Math.max(0, messages - newest.older));
    return metadata.compressedTokens + messageTokens(since, this.#session.counter.count);
  }

  /** The level to compact with now, or `undefined` if no compaction is due. */
  #dueLevel(state: CompactionState, snapshot: Snapshot): CompactionLevel | undefined {
    const { level, tokens = 0, savedNothing, suspended: { until, wait } = { until: 0, wait: 0 } } = state;
    const now = this.#tokensNow(snapshot);
    const left = until - this.#runtime.wallClock();
    if (now < this.#limit || (left > 0 && left <= wait)) return undefined; // more is left if the clock was set back
    if (level === undefined) return 'light';
    const grown = (savedNothing ? snapshot.metadata.compressedTokens : now) - tokens;
    if (grown < MIN_GROWTH * Math.max(this.#limit, tokens)) return undefined;
    return tokens >= this.#limit ? (STRONGER[level] ?? level) : level;
  }

  /** One compaction at a time. */
  #start(compact: () => Promise<CompactionReport>): Promise<CompactionReport> {
    // Set before any `await`: a second call in the same tick must see it.
    this.#compacting ??= this.#background.run(
      compact().finally(() => {
        this.#compacting = undefined;
        return this.#session.save(this.#session.timeouts({ signal: this.#background.signal }));
      }),
    );
    return this.#compacting;
  }

  /** If the level saves nothing, tries the next one, once. `stored` is the size of the context as the service counted. */
  async #compactFrom(level: CompactionLevel, stored: number): Promise<CompactionReport> {
    const report = await this.#attempt(level);
    const { savedNothing } = this.#session.state.compaction;
    const stronger = STRONGER[level];
    const { previousTokenCount } = report.result;
    if (!savedNothing) return report;
    if (previousTokenCount > stored || stored >= this.#limit) return stronger ? this.#attempt(stronger) : report;
    const message =
      `The compaction removed nothing: the service has only ${previousTokenCount} tokens of this conversation. ` +
      'Store each turn with the service, or set compaction: false.';
    this.#background.onError(new ConfigurationError(message));
    return report;
  }

  /** Keeps what the compaction showed, for the next ones. */
  async #attempt(level: CompactionLevel): Promise<CompactionReport & { result: CompactionResult }> {
    try {
      const report = await this.#compact(level, { maxRetries: 0 }); // a later turn tries again
      const { newTokenCount: tokens, previousTokenCount, summaryUpdated } = report.result;
      const savedNothing = tokens >= previousTokenCount || !summaryUpdated;
      this.#session.set({ compaction: { level, tokens, savedNothing } });
      return report;
    } catch (error) {
      if (this.#background.signal.aborted) throw error; // closed, not failed
      const { compaction } = this.#session.state;
      const longer = Math.min(LONGEST_WAIT, Math.max(FIRST_WAIT, 2 * (compaction.suspended?.wait ?? 0)));
      const wait = (RateLimitError.is(error) ? error.retryAfter : undefined) ?? longer;
      const until = this.#runtime.wallClock() + wait;
      this.#session.set({ compaction: { ...compaction, suspended: { until, wait } } });
      throw error;
    }
  }

  /** Compacts, then reads the context to report the difference. */
  async #compact(
    level: CompactionLevel | undefined,
    options: RequestOptions,
  ): Promise<CompactionReport & { result: CompactionResult }> {
    const timeouts = this.#session.timeouts({ ...options, signal: this.#background.signal });
    await this.#session.load(timeouts);
    await this.#excluding; // what it removes is not lost
    const { snapshot: before } = await this.current(timeouts.request());
    const result = await this.client.compact(this.#session.id, { level }, { ...options, ...timeouts.request() });
    this.invalidate();
    const cause: Cause = { level, result };
    this.#cause = cause;
    // Read at once, so that every version is seen even if no turn follows. A failed read does not fail the compaction,
    // which is already done.
    const after = await this.read(timeouts.request()).catch(this.#background.onError);
    const receipt = await cause.receipt;
    const version = before?.summary.version ?? 0;
    const versions = { before: version, after: after?.snapshot.summary.version ?? version };
    return { versions, tokens: tokensOf(result), ...receipt, level, result };
  }

  /** Keeps each snapshot once: if a compaction made a new version, records what that version lost. */
  #keep(snapshot: Snapshot): void {
    const pause = pauses(); // a summary may have very many statements
    const { snapshot: before, lost } = this.#session.state;
    const cause = this.#cause;
    this.#cause = undefined;
    const isCompacted = before !== undefined && (cause !== undefined || isCompaction(before, snapshot));
    this.#session.set({ snapshot, lost: lostWith(snapshot.summary, lost, isCompacted ? before.summary : undefined) });
    if (!isCompacted) return;
    const receipt = this.#background.run(this.#receiptOf(before, snapshot, cause, pause));
    if (cause !== undefined) cause.receipt = receipt;
    receipt.then(this.#options.onCompaction).catch(this.#background.onError);
  }

  async #receiptOf(
    before: Snapshot,
    after: Snapshot,
    cause: Cause | undefined,
    pause: () => Promise<void> | undefined,
  ): Promise<CompactionReceipt> {
    await pause();
    const diff = diffSummaries(before.summary, after.summary);
    await pause();
    const read = { before: before.metadata.compressedTokens, after: after.metadata.compressedTokens };
    return {
      ...(cause && { level: cause.level, result: cause.result }),
      versions: { before: before.summary.version, after: after.summary.version },
      tokens: cause === undefined ? read : tokensOf(cause.result),
      diff,
      onlyInHistory: await countOnlyInHistory(after, await this.#session.everyMessage(this.#session.timeouts())),
    };
  }
}

/** Excluding a message makes a new version of the summary too, so the time of the last compaction decides. */
function isCompaction(before: Snapshot, after: Snapshot): boolean {
  return (
    after.summary.version > before.summary.version &&
    after.metadata.lastCompactionAt !== before.metadata.lastCompactionAt
  );
}

/** Whether these credentials may not read the context. Unlike in an outage, an older one must not be used then. */
function isRefusal(error: unknown): boolean {
  return AuthenticationError.is(error) || PermissionDeniedError.is(error) || NotFoundError.is(error);
}

function isReceipt(report: CompactionReport): report is CompactionReceipt {
  return report.diff !== undefined;
}

function tokensOf({ previousTokenCount, newTokenCount }: CompactionResult): CompactionReport['tokens'] {
  return { before: previousTokenCount, after: newTokenCount };
}
