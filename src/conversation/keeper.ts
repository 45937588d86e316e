import type { CompactionLevel, CompactionResult, ContextClient, RequestOptions } from '../index.js';
import { diffSummaries } from './diff.js';
import type { Figures } from './history.js';
import type { LedgerEntry } from './ledger-state.js';
import type { CompactionReceipt, CompactionReport, ConversationOptions } from './options.js';
import type { ContextParts } from './prompt.js';
import { type Snapshot, SnapshotCache } from './snapshot.js';
import { StoredLedger } from './stored-ledger.js';
import { tell } from './tell.js';

/** The context for one prompt. */
export interface Kept {
  snapshot?: Snapshot | undefined;
  parts: ContextParts;
  stale: boolean;
}

type Cause = { level: CompactionLevel | undefined; result: CompactionResult };

/** Caches the newest context of a conversation, and records what earlier versions contained. */
export class ContextKeeper {
  readonly #options: ConversationOptions;
  readonly #context: ContextClient;
  readonly #cache: SnapshotCache;
  readonly #ledger: StoredLedger | undefined;
  readonly #onError: (error: unknown) => void;
  #seen: Snapshot | undefined;
  #cause: Cause | undefined;

  constructor(
    options: ConversationOptions,
    source: { withMemory: boolean; added: () => Figures; onError: (error: unknown) => void },
  ) {
    const { context, conversationId, workspaceId, maxAge = 30_000, ledger } = options;
    const { onError, ...more } = source;
    this.#options = options;
    this.#context = context;
    this.#cache = new SnapshotCache({ context, conversationId, workspaceId, maxAge, ...more });
    this.#onError = onError;
    this.#ledger = ledger === false ? undefined : new StoredLedger(ledger, conversationId, onError);
  }

  /** The current context. If it cannot be read: the previous one, or none if the app set `onContextError: 'skip'`. */
  async read({ fresh = false, ...request }: RequestOptions & { fresh?: boolean } = {}): Promise<Kept> {
    let snapshot: Snapshot;
    try {
      snapshot = fresh ? await this.#cache.fetch(request) : await this.#cache.read(request);
    } catch (error) {
      const { latest } = this.#cache;
      const isNeeded = latest === undefined && this.#options.onContextError !== 'skip';
      if (fresh || isNeeded || request.signal?.aborted === true) throw error;
      this.#onError(error);
      return this.#kept(latest, true);
    }
    // A snapshot requested before a change does not show the change, and is not the latest.
    if (snapshot === this.#cache.latest) await this.#take(snapshot);
    return this.#kept(snapshot, false);
  }

  /** Compacts, then reads the context to report the difference. */
  async compact(level: CompactionLevel | undefined, options: RequestOptions): Promise<CompactionReport> {
    const { conversationId } = this.#options;
    const { snapshot: before } = await this.read({ signal: options.signal });
    const result = await this.#context.compact(conversationId, { level }, options);
    this.#cache.invalidate();
    this.#cause = { level, result };
    // Read at once, so that the ledger sees every version even if no turn follows. A failed read does not fail the
    // compaction, which is already done.
    const { snapshot: after } = await this.read({ signal: options.signal, fresh: true }).catch((error: unknown) => {
      this.#onError(error);
      return { snapshot: undefined };
    });
    if (before !== undefined && after !== undefined) return receiptOf(before, after, { level, result });
    const version = before?.summary.version ?? 0;
    return {
      ...{ level, result },
      versions: { before: version, after: after?.summary.version ?? version },
      tokens: tokensOf(result),
    };
  }

  /** Call after a change by the user: the next read asks the service. */
  invalidate(): void {
    this.#cache.invalidate();
  }

  /** Call after a message was excluded. Statements that the summary drops for that reason do not count as lost. */
  async withdraw(content: string | undefined): Promise<void> {
    this.#cache.invalidate();
    await this.#ledger?.forget(content);
  }

  async lost(): Promise<readonly LedgerEntry[]> {
    return (await this.#ledger?.read())?.lost() ?? [];
  }

  #kept(snapshot: Snapshot | undefined, stale: boolean): Kept {
    if (snapshot === undefined) return { parts: {}, stale };
    const { summary, pins, memory } = snapshot;
    return { snapshot, parts: { summary, pins, memory, recovered: this.#ledger?.ledger.recoverable() }, stale };
  }

  /** Processes each snapshot once: if it has a new version, records what that version lost. */
  async #take(snapshot: Snapshot): Promise<void> {
    const before = this.#seen;
    if (before === snapshot || (before !== undefined && snapshot.summary.version < before.summary.version)) return;
    this.#seen = snapshot;
    const cause = this.#cause;
    this.#cause = undefined;
    await this.#ledger?.observe(snapshot.summary, snapshot.metadata).catch((error: unknown) => {
      this.#seen = before; // the ledger is unusable: every turn fails, until the app is repaired
      throw error;
    });
    if (before === undefined || (cause === undefined && !compactedSince(before, snapshot))) return;
    tell(this.#options.onCompaction, receiptOf(before, snapshot, cause), this.#onError);
  }
}

/**
 * Whether a compaction happened between two snapshots. Excluding a message creates a new version too, so the time of
 * the last compaction decides. If the service does not report it, every new version counts as a compaction.
 */
function compactedSince(before: Snapshot, after: Snapshot): boolean {
  if (before.summary.version === after.summary.version) return false;
  const { lastCompactionAt } = after.metadata;
  return lastCompactionAt === undefined || lastCompactionAt !== before.metadata.lastCompactionAt;
}

function receiptOf(before: Snapshot, after: Snapshot, cause: Cause | undefined): CompactionReceipt {
  const read = { before: before.metadata.compressedTokens, after: after.metadata.compressedTokens };
  return {
    ...cause,
    versions: { before: before.summary.version, after: after.summary.version },
    tokens: cause === undefined ? read : tokensOf(cause.result),
    diff: diffSummaries(before.summary, after.summary),
  };
}

function tokensOf({ previousTokenCount, newTokenCount }: CompactionResult): CompactionReport['tokens'] {
  return { before: previousTokenCount, after: newTokenCount };
}
