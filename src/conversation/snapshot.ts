import type { ContextClient, ContextMetadata, PinnedMemoryItem, RollingSummary, UserMemoryItem } from '../index.js';

/** The context as it was at one time. */
export interface Snapshot {
  summary: RollingSummary;
  pins: readonly PinnedMemoryItem[];
  memory: readonly UserMemoryItem[];
  metadata: ContextMetadata;
  readAt: number;
}

/** Where a snapshot is read. */
export interface SnapshotSource {
  context: ContextClient;
  conversationId: string;
  workspaceId?: string | undefined;
  withMemory: boolean;
  maxAge: number;
}

/** Keeps the newest snapshot. One that was asked for before a change is not kept after it. */
export class SnapshotCache {
  readonly #source: SnapshotSource;
  #latest: Snapshot | undefined;
  #isFresh = false;
  #generation = 0;

  constructor(source: SnapshotSource) {
    this.#source = source;
  }

  get latest(): Snapshot | undefined {
    return this.#latest;
  }

  /** Something changed: the next read asks the service. */
  invalidate(): void {
    this.#generation += 1;
    this.#isFresh = false;
  }

  /** The snapshot, read again if it is too old. */
  read(options: { signal?: AbortSignal | undefined } = {}): Promise<Snapshot> {
    const isYoung = this.#latest !== undefined && Date.now() - this.#latest.readAt < this.#source.maxAge;
    return this.#latest !== undefined && this.#isFresh && isYoung ? Promise.resolve(this.#latest) : this.fetch(options);
  }

  async fetch(options: { signal?: AbortSignal | undefined } = {}): Promise<Snapshot> {
    const { context, conversationId, workspaceId, withMemory } = this.#source;
    const generation = this.#generation;
    const [{ rollingSummary, pinnedMemory, metadata }, memory] = await Promise.all([
      context.retrieve(conversationId, options),
      withMemory ? context.memory.list(workspaceId === undefined ? {} : { workspaceId }, options) : [],
    ]);
    const snapshot = { ...this.#unchanged(rollingSummary, pinnedMemory, memory), metadata, readAt: Date.now() };
    if (generation === this.#generation) {
      this.#latest = snapshot;
      this.#isFresh = true;
    }
    return snapshot;
  }

  /** Parts that say the same as before are the same objects, so that nothing is rendered again. */
  #unchanged(summary: RollingSummary, pins: readonly PinnedMemoryItem[], memory: readonly UserMemoryItem[]) {
    const { latest } = this;
    if (latest === undefined) return { summary, pins, memory };
    const same = <T>(before: T, now: T): T => (JSON.stringify(before) === JSON.stringify(now) ? before : now);
    return {
      summary: same(latest.summary, summary),
      pins: same(latest.pins, pins),
      memory: same(latest.memory, memory),
    };
  }
}
