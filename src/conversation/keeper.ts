import type { CompactionLevel, CompactionResult, ContextClient, RequestOptions } from '../index.js';
import { diffSummaries } from './diff.js';
import { Ledger } from './ledger.js';
import type { LedgerEntry, LedgerStore } from './ledger-state.js';
import type { CompactionReport, ConversationOptions } from './options.js';
import type { ContextParts } from './prompt.js';
import { type Snapshot, SnapshotCache } from './snapshot.js';

/** The context as a prompt needs it. */
export interface Kept {
  snapshot?: Snapshot | undefined;
  parts: ContextParts;
  stale: boolean;
}

type Cause = { level: CompactionLevel | undefined; result: CompactionResult };

/** Keeps the newest context of a conversation, and remembers what earlier ones held. */
export class ContextKeeper {
  readonly #options: ConversationOptions;
  readonly #context: ContextClient;
  readonly #cache: SnapshotCache;
  readonly #store: LedgerStore | undefined;
  #ledger: Promise<Ledger> | undefined;
  #seen: Snapshot | undefined;
  #cause: Cause | undefined;
  #withdrawn: string[] | undefined;

  constructor(options: ConversationOptions, withMemory: boolean) {
    const { context, conversationId, workspaceId, maxAge = 30_000, ledger } = options;
    this.#options = options;
    this.#context = context;
    this.#cache = new SnapshotCache({ context, conversationId, workspaceId, withMemory, maxAge });
    this.#store = ledger === false ? undefined : ledger;
  }

  /** The context now; the one from before if it cannot be read; none if the app can do without. */
  async read(options: { signal?: AbortSignal | undefined; fresh?: boolean } = {}): Promise<Kept> {
    const { signal, fresh = false } = options;
    try {
      const snapshot = fresh ? await this.#cache.fetch({ signal }) : await this.#cache.read({ signal });
      return await this.#kept(snapshot, false);
    } catch (error) {
      const { latest } = this.#cache;
      const isNeeded = latest === undefined && this.#options.onContextError !== 'skip';
      if (fresh || isNeeded || signal?.aborted === true) throw error;
      this.#options.onError?.(error);
      return this.#kept(latest, true);
    }
  }

  /** Compact, and see what came of it. */
  async compact(level: CompactionLevel | undefined, options: RequestOptions): Promise<CompactionReport> {
    const { conversationId } = this.#options;
    const { snapshot: before } = await this.read({ signal: options.signal });
    const result = await this.#context.compact(conversationId, level === undefined ? {} : { level }, options);
    this.#cache.invalidate();
    this.#cause = { level, result };
    // Read at once, so that the ledger sees every version although no turn follows. The compaction is done whatever becomes of it.
    const { snapshot: after } = await this.read({ signal: options.signal }).catch(() => ({ snapshot: before }));
    return reportOf(before, after, { level, result });
  }

  /** The user changed something: the next read asks the service. */
  invalidate(): void {
    this.#cache.invalidate();
  }

  /** A message was excluded. What the summary no longer says because of that is not lost. */
  async withdraw(content: string | undefined): Promise<void> {
    this.#withdrawn = [...(this.#withdrawn ?? []), ...(content === undefined ? [] : [content])];
    this.#cache.invalidate();
    if (content !== undefined) (await this.#load()).forget(content);
  }

  async lost(): Promise<readonly LedgerEntry[]> {
    return this.#options.ledger === false ? [] : (await this.#load()).lost();
  }

  async #kept(snapshot: Snapshot | undefined, stale: boolean): Promise<Kept> {
    if (snapshot === undefined) return { parts: {}, stale };
    await this.#take(snapshot);
    const { summary, pins, memory } = snapshot;
    return { snapshot, parts: { summary, pins, memory, recovered: await this.lost() }, stale };
  }

  /** Look once at each snapshot: is there a new version, and what did it lose? */
  async #take(snapshot: Snapshot): Promise<void> {
    const before = this.#seen;
    if (before === snapshot || (before !== undefined && snapshot.summary.version < before.summary.version)) return;
    this.#seen = snapshot;
    const cause = this.#cause;
    this.#cause = undefined;
    const isCompaction = cause !== undefined || compactedSince(before, snapshot);
    if (this.#options.ledger !== false) await this.#remember(snapshot);
    if (isCompaction) this.#options.onCompaction?.(reportOf(before, snapshot, cause));
  }

  async #remember({ summary, metadata }: Snapshot): Promise<void> {
    const ledger = await this.#load();
    const { state } = ledger;
    ledger.observe(summary, metadata, { withdrawn: this.#withdrawn !== undefined });
    for (const content of this.#withdrawn ?? []) ledger.forget(content);
    if (ledger.state.version !== state.version) this.#withdrawn = undefined;
    if (ledger.state === state) return;
    try {
      await this.#store?.save(this.#options.conversationId, ledger.state);
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  #load(): Promise<Ledger> {
    this.#ledger ??= this.#loadState().then((state) => new Ledger(state));
    return this.#ledger;
  }

  async #loadState() {
    try {
      return await this.#store?.load(this.#options.conversationId);
    } catch (error) {
      this.#options.onError?.(error);
      return undefined;
    }
  }
}

/** A new version alone is no compaction: to exclude a message makes one too. Where the service tells no time, it counts as one. */
function compactedSince(before: Snapshot | undefined, after: Snapshot): boolean {
  if (before === undefined || before.summary.version === after.summary.version) return false;
  const { lastCompactionAt } = after.metadata;
  return lastCompactionAt === undefined || lastCompactionAt !== before.metadata.lastCompactionAt;
}

function reportOf(before: Snapshot | undefined, after: Snapshot | undefined, cause?: Cause): CompactionReport {
  const tokens = { before: before?.metadata.compressedTokens ?? 0, after: after?.metadata.compressedTokens ?? 0 };
  const { result } = cause ?? {};
  return {
    ...cause,
    versions: { before: before?.summary.version ?? 0, after: after?.summary.version ?? 0 },
    tokens: result === undefined ? tokens : { before: result.previousTokenCount, after: result.newTokenCount },
    diff:
      before === undefined || after === undefined
        ? { kept: [], reworded: [], lost: [], added: [] }
        : diffSummaries(before.summary, after.summary),
  };
}
