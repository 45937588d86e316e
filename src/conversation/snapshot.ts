import type {
  ContextClient,
  ContextMetadata,
  PinnedMemoryItem,
  RequestOptions,
  RollingSummary,
  UserMemoryItem,
} from '../index.js';
import type { Figures } from './history.js';

/** The context as it was at one time. */
export interface Snapshot {
  summary: RollingSummary;
  pins: readonly PinnedMemoryItem[];
  memory: readonly UserMemoryItem[];
  metadata: ContextMetadata;
  readAt: number;
  /** What turns had added when it was asked for. */
  added: Figures;
}

/** Where a snapshot is read. */
export interface SnapshotSource {
  context: ContextClient;
  conversationId: string;
  workspaceId?: string | undefined;
  withMemory: boolean;
  maxAge: number;
  added(): Figures;
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
  read(options?: RequestOptions): Promise<Snapshot> {
    const isYoung = this.#latest !== undefined && Date.now() - this.#latest.readAt < this.#source.maxAge;
    return this.#latest !== undefined && this.#isFresh && isYoung ? Promise.resolve(this.#latest) : this.fetch(options);
  }

  async fetch(options?: RequestOptions): Promise<Snapshot> {
    const { context, conversationId, workspaceId, withMemory } = this.#source;
    const generation = this.#generation;
    const added = this.#source.added();
    const [{ rollingSummary, pinnedMemory, metadata }, memory] = await Promise.all([
      context.retrieve(conversationId, options),
      withMemory ? context.memory.list(workspaceId === undefined ? {} : { workspaceId }, options) : [],
    ]);
    const snapshot = { summary: rollingSummary, pins: pinnedMemory, memory, metadata, readAt: Date.now(), added };
    if (generation === this.#generation) {
      this.#latest = snapshot;
      this.#isFresh = true;
    }
    return snapshot;
  }
}
