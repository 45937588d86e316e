import { systemRuntime } from '../base/runtime.js';
import {
  type CompactionLevel,
  type CompactionResult,
  type ContextClient,
  NotFoundError,
  type RequestOptions,
  type RollingSummary,
} from '../index.js';
import { afterCompaction, afterFailure, type ContextSize, countOnlyInHistory, dueLevel } from './compaction.js';
import { type Background, untilAborted } from './limits.js';
import type { CompactionReceipt, CompactionReport, Snapshot } from './model.js';
import type { ConversationOptions } from './options.js';
import { diffSummaries, isCompaction, listOf, observeSummary } from './receipt.js';
import type { Session } from './store.js';
import { messageTokens } from './tokens.js';

/** The context for one prompt. */
export interface CurrentContext {
  snapshot?: Snapshot | undefined;
  stale: boolean;
}

interface Cause {
  level: CompactionLevel | undefined;
  result: CompactionResult;
}

interface Surroundings {
  session: Session;
  background: Background;
  count: (text: string) => number;
  /** Maximum tokens of a prompt. */
  budget: number;
}

const NO_METADATA = { totalTokens: 0, compressedTokens: 0, preservationRatio: 1, recentMessageCount: 0 };
/** Milliseconds for which a context is reused. After that it is still used, and read again behind the turn. */
const FRESH = 30_000;
/** Milliseconds after which a turn waits for a new context. */
const TOO_OLD = 300_000;
/** Share of the prompt's budget from which on the context is compacted. */
const DEFAULT_LIMIT = 0.75;

/** The service's context of a conversation: reads it, compacts it, and reports what each compaction lost. */
export class ServiceContext {
  readonly client: ContextClient;
  readonly #options: ConversationOptions;
  readonly #session: Session;
  readonly #background: Background;
  readonly #count: (text: string) => number;
  /** Tokens of the context from which on it is compacted. */
  readonly #limit: number;
  /** Grows with each change. A context requested before one is not kept. */
  #generation = 0;
  #refreshing: Promise<unknown> | undefined;
  #compacting: Promise<CompactionReport> | undefined;
  #automatic: Promise<CompactionReceipt[]> | undefined;
  /** The compaction whose result has not been read yet, and the receipt of the last one that has been. */
  #cause: Cause | undefined;
  #receipt: Promise<CompactionReceipt> | undefined;

  constructor(
    client: ContextClient,
    options: ConversationOptions,
    { session, background, count, budget }: Surroundings,
  ) {
    this.client = client;
    this.#options = options;
    this.#session = session;
    this.#background = background;
    this.#count = count;
    this.#limit = (options.compaction || DEFAULT_LIMIT) * budget;
  }

  /** The context for a prompt. If it cannot be read: the one before, or none if the app set `onContextError: 'skip'`. */
  async current(options: RequestOptions): Promise<CurrentContext> {
    const { snapshot } = this.#session.state;
    const age = snapshot === undefined ? Number.POSITIVE_INFINITY : systemRuntime.wallClock() - snapshot.readAt;
    // A negative age: the clock was set back.
    if (age >= 0 && age < FRESH) return { snapshot, stale: false };
    if (age < TOO_OLD && snapshot?.readAt !== 0) {
      this.#refresh();
      return { snapshot, stale: true };
    }
    try {
      return { snapshot: await this.read(options), stale: false };
    } catch (error) {
      const isNeeded = snapshot === undefined && this.#options.onContextError !== 'skip';
      if (isNeeded || options.signal?.aborted === true) throw error;
      this.#background.onError(error);
      return { snapshot, stale: true };
    }
  }

  #refresh(): void {
    const { signal } = this.#background;
    this.#refreshing ??= this.#background.behind(
      this.read({ signal })
        .then(() => this.#session.save())
        .finally(() => {
          this.#refreshing = undefined;
        }),
    );
  }

  /** Asks the service. */
  async read(options: RequestOptions): Promise<Snapshot> {
    const generation = this.#generation;
    const messages = this.#session.history.messages.length;
    const [context, memory] = await Promise.all([
      this.client.retrieve(this.#session.id, options),
      this.client.memory.list({ workspaceId: this.#options.workspaceId }, options),
    ]);
    const snapshot: Snapshot = {
      // With `validation: 'report'`, the service may leave out any field. Only these are used without a check.
      summary: { version: 0, ...(context.rollingSummary as Partial<RollingSummary>) } as RollingSummary,
      pins: listOf(context.pinnedMemory),
      memory: listOf(memory),
      metadata: { ...NO_METADATA, ...context.metadata },
      messages,
      readAt: systemRuntime.wallClock(),
    };
    const { version = -1 } = this.#session.state.snapshot?.summary ?? {};
    if (generation === this.#generation && snapshot.summary.version >= version) this.#keep(snapshot);
    return snapshot;
  }

  /** Makes the next prompt ask the service. */
  invalidate(): void {
    this.#generation += 1;
    const { snapshot } = this.#session.state;
    if (snapshot !== undefined) this.#session.set({ snapshot: { ...snapshot, readAt: 0 } });
  }

  /** Removes messages from the service's summaries, behind the turn. It may not have them. */
  exclude(ids: readonly string[]): void {
    const { signal } = this.#background;
    const exclude = async (): Promise<void> => {
      for (const id of ids) {
        await this.client.exclude(this.#session.id, id, { signal }).catch((error: unknown) => {
          if (!NotFoundError.is(error)) this.#background.onError(error);
        });
      }
      this.invalidate();
    };
    this.invalidate();
    this.#background.behind(exclude());
  }

  /** Compacts now, or waits for the compaction that runs. */
  compact(level: CompactionLevel | undefined, { signal, ...request }: RequestOptions): Promise<CompactionReport> {
    // Set before any `await`: a second call in the same tick must see it.
    this.#compacting ??= this.#background.run(
      this.#compact(level, { ...request, signal: this.#background.signal }).finally(() => {
        this.#compacting = undefined;
      }),
    );
    return untilAborted(this.#compacting, signal);
  }

  /** Compacts behind the turn if due. Resolves to the receipts. */
  async compactIfDue(): Promise<readonly CompactionReceipt[]> {
    const { snapshot, compaction } = this.#session.state;
    if (this.#automatic !== undefined) return this.#automatic;
    if (this.#options.compaction === false || snapshot === undefined) return [];
    if (this.#background.signal.aborted || this.#compacting !== undefined) return [];
    const size = this.#sizeOf(snapshot);
    const level = dueLevel(compaction, size);
    if (level === undefined) return [];
    this.#automatic = this.#background.run(
      this.#compactFrom(level, size).finally(() => {
        this.#automatic = undefined;
      }),
    );
    return this.#automatic;
  }

  /** Whether even the strongest level leaves the context too large. */
  isExhausted(snapshot: Snapshot): boolean {
    return this.#session.state.compaction.exhausted === true && this.#sizeOf(snapshot).now >= this.#limit;
  }

  #sizeOf({ metadata: { compressedTokens: stored }, messages }: Snapshot): ContextSize {
    const since = this.#session.history.messages.slice(messages);
    return { now: stored + messageTokens(since, this.#count), stored, limit: this.#limit };
  }

  async #compactFrom(first: CompactionLevel, size: ContextSize): Promise<CompactionReceipt[]> {
    const receipts: CompactionReceipt[] = [];
    try {
      let level: CompactionLevel | undefined = first;
      // If a level saves nothing, try the next one, once. No retries here: after a failure, a later turn tries again.
      for (let attempt = 0; level !== undefined && attempt < 2; attempt += 1) {
        const report: CompactionReport = await this.compact(level, { maxRetries: 0 });
        const receipt = await this.#receipt;
        if (receipt !== undefined) receipts.push(receipt);
        if (report.result === undefined) break;
        const { state, retry, error } = afterCompaction(report.level ?? level, report.result, size);
        this.#session.set({ compaction: state });
        if (error !== undefined) this.#background.onError(error);
        level = retry;
      }
    } catch (error) {
      this.#session.set({ compaction: afterFailure(this.#session.state.compaction, error, size) });
      this.#background.onError(error);
    }
    await this.#session.save();
    return receipts;
  }

  /** Compacts, then reads the context to report the difference. */
  async #compact(level: CompactionLevel | undefined, options: RequestOptions): Promise<CompactionReport> {
    const limits = await this.#session.load(options);
    const { snapshot: before } = await this.current(limits.request());
    const result = await this.client.compact(this.#session.id, { level }, { ...options, ...limits.request() });
    this.invalidate();
    this.#cause = { level, result };
    this.#receipt = undefined;
    // Read at once, so that the ledger sees every version even if no turn follows. A failed read does not fail the
    // compaction, which is already done.
    const after = await this.read(limits.request()).catch(this.#background.onError);
    const receipt = await (this.#receipt as Promise<CompactionReceipt> | undefined); // set when the read was kept
    await this.#session.save();
    const version = before?.summary.version ?? 0;
    const versions = { before: version, after: after?.summary.version ?? version };
    return receipt ?? { level, result, versions, tokens: tokensOf(result) };
  }

  /** Keeps each snapshot once: if a compaction made a new version, records what that version lost. */
  #keep(snapshot: Snapshot): void {
    const { snapshot: before, ledger } = this.#session.state;
    const cause = this.#cause;
    this.#cause = undefined;
    this.#session.set({ snapshot, ledger: observeSummary(ledger, snapshot.summary, snapshot.metadata) });
    if (before === undefined || (cause === undefined && !isCompaction(ledger, snapshot.summary, snapshot.metadata)))
      return;
    this.#receipt = this.#background.run(this.#receiptOf(before, snapshot, cause));
    this.#receipt.then(this.#options.onCompaction).catch(this.#background.onError);
  }

  async #receiptOf(before: Snapshot, after: Snapshot, cause: Cause | undefined): Promise<CompactionReceipt> {
    const read = { before: before.metadata.compressedTokens, after: after.metadata.compressedTokens };
    return {
      ...cause,
      versions: { before: before.summary.version, after: after.summary.version },
      tokens: cause === undefined ? read : tokensOf(cause.result),
      diff: diffSummaries(before.summary, after.summary),
      onlyInHistory: await countOnlyInHistory(after, this.#session.history),
    };
  }
}

function tokensOf({ previousTokenCount, newTokenCount }: CompactionResult): CompactionReport['tokens'] {
  return { before: previousTokenCount, after: newTokenCount };
}
