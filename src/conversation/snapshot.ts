import type {
  ContextClient,
  ContextMetadata,
  PinnedMemoryItem,
  RequestOptions,
  RollingSummary,
  UserMemoryItem,
} from '../index.js';
import type { Figures } from './history.js';

/** The context at one point in time. */
export interface Snapshot {
  summary: RollingSummary;
  pins: readonly PinnedMemoryItem[];
  memory: readonly UserMemoryItem[];
  metadata: ContextMetadata;
  /** The size of the messages that turns had added when the snapshot was requested. */
  added: Figures;
}

/** The source of snapshots. */
export interface SnapshotSource {
  context: ContextClient;
  conversationId: string;
  workspaceId?: string | undefined;
  withMemory: boolean;
  maxAge: number;
  added(): Figures;
}

/** Caches the newest snapshot. A snapshot requested before a change is not cached after it. */
export class SnapshotCache {
  readonly #source: SnapshotSource;
  #latest: Snapshot | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #generation = 0;

  constructor(source: SnapshotSource) {
    this.#source = source;
  }

  get latest(): Snapshot | undefined {
    return this.#latest;
  }

  /** Makes the next read ask the service. */
  invalidate(): void {
    this.#generation += 1;
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  /** Returns the snapshot. Reads it again if it is too old. */
  read(options?: RequestOptions): Promise<Snapshot> {
    const isYoung = Date.now() - this.#readAt < this.#source.maxAge;
    return this.#latest !== undefined && isYoung ? Promise.resolve(this.#latest) : this.fetch(options);
  }

  async fetch(options?: RequestOptions): Promise<Snapshot> {
    const { context, conversationId, workspaceId, withMemory } = this.#source;
    const generation = this.#generation;
    const added = this.#source.added();
    const [{ rollingSummary, pinnedMemory, metadata }, memory] = await Promise.all([
      context.retrieve(conversationId, options),
      withMemory ? context.memory.list({ workspaceId }, options) : [],
    ]);
    const snapshot = { summary: rollingSummary, pins: pinnedMemory, memory, metadata, added };
    if (generation === this.#generation) {
      this.#latest = snapshot;
      this.#readAt = Date.now();
    }
    return snapshot;
  }
}
