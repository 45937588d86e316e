import type { CompactionLevel, ContextMetadata, RequestOptions } from '../index.js';
import { Compactor } from './compactor.js';
import type { ContextKeeper } from './keeper.js';
import type { CompactionOptions, CompactionReport } from './options.js';
import type { Snapshot } from './snapshot.js';
import { untilAborted } from './until-aborted.js';

/** Runs the compactions of a conversation, automatic and requested, one at a time. Tracks all background work. */
export class Compactions {
  readonly #keeper: ContextKeeper;
  readonly #compactor: Compactor | undefined;
  readonly #onError: (error: unknown) => void;
  readonly #closing = new AbortController();
  readonly #tasks = new Set<Promise<unknown>>();
  #running: Promise<CompactionReport> | undefined;
  #automatic: Promise<void> | undefined;

  constructor(
    keeper: ContextKeeper,
    options: CompactionOptions | false,
    { budget, onError }: { budget: number; onError: (error: unknown) => void },
  ) {
    this.#keeper = keeper;
    this.#compactor = options === false ? undefined : new Compactor(options, budget);
    this.#onError = onError;
  }

  /** Whether even the strongest level did not make the context small enough. */
  isExhausted(metadata: ContextMetadata | undefined): boolean {
    return metadata !== undefined && this.#compactor?.isExhausted(metadata) === true;
  }

  /**
   * Callers during a compaction share its result. A caller's abort ends only that caller's wait, not the compaction.
   */
  run(level?: CompactionLevel, { signal, ...request }: RequestOptions = {}): Promise<CompactionReport> {
    // Set before any `await`: a second call in the same tick must see it.
    this.#running ??= this.inBackground(
      this.#keeper.compact(level, { ...request, signal: this.#closing.signal }).finally(() => {
        this.#running = undefined;
      }),
    );
    return untilAborted(this.#running, signal);
  }

  /** Starts a compaction if one is due. Returns the running one, if any. Errors of automatic ones go to `onError`. */
  whenDue(metadata: ContextMetadata, snapshot: Snapshot): Promise<unknown> | undefined {
    const compactor = this.#compactor;
    if (compactor === undefined || this.#closing.signal.aborted) return undefined;
    if (this.#automatic === undefined && this.#running === undefined) {
      this.#automatic = this.inBackground(
        this.#compact(compactor, metadata, snapshot).finally(() => {
          this.#automatic = undefined;
        }),
      );
    }
    return this.#automatic ?? this.#running;
  }

  /** Makes `idle` wait for the task. */
  inBackground<T>(task: Promise<T>): Promise<T> {
    this.#tasks.add(task);
    task.catch(() => {}).finally(() => this.#tasks.delete(task)); // the caller handles the error
    return task;
  }

  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }

  close(): void {
    this.#closing.abort();
  }

  async #compact(
    compactor: Compactor,
    metadata: ContextMetadata,
    { summary, metadata: stored }: Snapshot,
  ): Promise<void> {
    try {
      let level = compactor.levelNow(metadata, stored);
      if (level === undefined || !(await compactor.isAllowed(metadata, summary))) return;
      // If a level saves nothing, try the next one, once. No retries here: after a failure, a later turn tries again.
      for (let attempt = 0; level !== undefined && attempt < 2; attempt += 1) {
        const report: CompactionReport = await this.run(level, { maxRetries: 0 });
        level = compactor.learn(report, metadata, stored);
      }
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      compactor.failed(error, metadata, stored);
      this.#onError(error);
    }
  }
}
