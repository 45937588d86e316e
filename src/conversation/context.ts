import { systemRuntime } from '../base/runtime.js';
import type { ContextClient, ContextMetadata, RequestOptions, RollingSummary } from '../index.js';
import type { ContextParts, Snapshot } from './model.js';
import { listOf } from './receipt.js';

/** The context for one prompt. */
export interface CurrentContext {
  snapshot: Snapshot | undefined;
  parts: ContextParts;
  stale: boolean;
}

/** Where snapshots come from and where the newest is kept. */
export interface ContextSource {
  client: ContextClient;
  conversationId: string;
  workspaceId: string | undefined;
  onContextError: 'throw' | 'skip' | undefined;
  /** The number of messages in the history. */
  messages(): number;
  latest(): Snapshot | undefined;
  /** Called with each newer snapshot. */
  store(snapshot: Snapshot): Promise<void> | undefined;
  /** Runs a read behind the turn. */
  inBackground(read: (signal: AbortSignal) => Promise<unknown>): void;
  onError(error: unknown): void;
}

/** Milliseconds for which a context is reused. After that it is still used, and read again behind the turn. */
const FRESH = 30_000;
/** Milliseconds after which a turn waits for a new context. */
const TOO_OLD = 300_000;

/** Reads the context of a conversation. A context requested before a change is not kept after it. */
export class ContextCache {
  readonly #source: ContextSource;
  #generation = 0;
  #isRefreshing = false;

  constructor(source: ContextSource) {
    this.#source = source;
  }

  /**
   * The context for a prompt. If it cannot be read: the previous one, or none if the app set `onContextError: 'skip'`.
   */
  async read(options: RequestOptions): Promise<CurrentContext> {
    const latest = this.#source.latest();
    const age = latest === undefined ? Number.POSITIVE_INFINITY : systemRuntime.wallClock() - latest.readAt;
    // A negative age: the clock was set back.
    if (latest !== undefined && age >= 0 && age < FRESH) return current(latest, false);
    if (latest !== undefined && latest.readAt > 0 && age < TOO_OLD) {
      this.#refresh();
      return current(latest, true);
    }
    try {
      return current(await this.fetch(options), false);
    } catch (error) {
      const isNeeded = latest === undefined && this.#source.onContextError !== 'skip';
      if (isNeeded || options.signal?.aborted === true) throw error;
      this.#source.onError(error);
      return current(latest, true);
    }
  }

  /** Makes the next read ask the service. */
  invalidate(): void {
    this.#generation += 1;
  }

  async fetch(options: RequestOptions): Promise<Snapshot> {
    const { client, conversationId, workspaceId } = this.#source;
    const generation = this.#generation;
    const messages = this.#source.messages();
    const [context, memory] = await Promise.all([
      client.retrieve(conversationId, options),
      client.memory.list({ workspaceId }, options),
    ]);
    const snapshot: Snapshot = {
      summary: { ...EMPTY_SUMMARY, ...context.rollingSummary },
      pins: listOf(context.pinnedMemory),
      memory: listOf(memory),
      metadata: { ...NO_METADATA, ...context.metadata },
      messages,
      readAt: systemRuntime.wallClock(),
    };
    const { version = -1 } = this.#source.latest()?.summary ?? {};
    if (generation === this.#generation && snapshot.summary.version >= version) await this.#source.store(snapshot);
    return snapshot;
  }

  #refresh(): void {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    this.#source.inBackground((signal) =>
      this.fetch({ signal }).finally(() => {
        this.#isRefreshing = false;
      }),
    );
  }
}

function current(snapshot: Snapshot | undefined, stale: boolean): CurrentContext {
  return { snapshot, parts: snapshot ?? {}, stale };
}

/** For fields that are missing: with `validation: 'report'`, the service may send anything. */
const EMPTY_SUMMARY: RollingSummary = {
  goals: [],
  decisions: [],
  requirements: [],
  currentPlan: [],
  openQuestions: [],
  definitions: {},
  importantReferences: [],
  stylePreferences: {},
  lastUpdated: '',
  version: 0,
};
const NO_METADATA: ContextMetadata = {
  totalTokens: 0,
  compressedTokens: 0,
  preservationRatio: 1,
  recentMessageCount: 0,
};
