import type { CompactionLevel, ContextMetadata, RequestOptions, RollingSummary } from '../index.js';
import { Compactor } from './compactor.js';
import type { ContextKeeper } from './keeper.js';
import type { CompactionOptions, CompactionReport } from './options.js';
import { tell } from './tell.js';
import { untilAborted } from './until-aborted.js';

/** Compacts a conversation when due or when asked to, once at a time, and knows what is under way in the background. */
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

  /** The strongest level did not make the context small enough. */
  isExhausted(metadata: ContextMetadata | undefined): boolean {
    return metadata !== undefined && this.#compactor?.isExhausted(metadata) === true;
  }

  /** Those who ask while one is under way get its outcome. It goes on when one of them leaves. */
  run(level?: CompactionLevel, { signal, ...request }: RequestOptions = {}): Promise<CompactionReport> {
    // The guard is set before anything is awaited.
    this.#running ??= this.inBackground(
      this.#keeper.compact(level, { ...request, signal: this.#closing.signal }).finally(() => {
        this.#running = undefined;
      }),
    );
    return untilAborted(this.#running, signal);
  }

  /** What is under way, or begins now because it is due: it fails no turn. */
  whenDue(metadata: ContextMetadata, summary: RollingSummary): Promise<unknown> | undefined {
    const compactor = this.#compactor;
    if (compactor === undefined || this.#closing.signal.aborted) return undefined;
    if (this.#automatic === undefined && this.#running === undefined) {
      this.#automatic = this.inBackground(
        this.#compact(compactor, metadata, summary).finally(() => {
          this.#automatic = undefined;
        }),
      );
    }
    return this.#automatic ?? this.#running;
  }

  /** `idle` waits for it. */
  inBackground<T>(task: Promise<T>): Promise<T> {
    this.#tasks.add(task);
    task.catch(() => {}).finally(() => this.#tasks.delete(task)); // its error is its caller's
    return task;
  }

  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }

  close(): void {
    this.#closing.abort();
  }

  async #compact(compactor: Compactor, metadata: ContextMetadata, summary: RollingSummary): Promise<void> {
    try {
      let level = compactor.levelNow(metadata);
      if (level === undefined || !(await compactor.isAllowed(metadata, summary))) return;
      // A level that saves nothing is followed by the next, once. A later turn tries again what fails.
      for (let attempt = 0; level !== undefined && attempt < 2; attempt += 1) {
        const report: CompactionReport = await this.run(level, { maxRetries: 0 });
        level = compactor.learn(report, metadata);
      }
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      compactor.failed(error, metadata.compressedTokens);
      tell(this.#onError, error);
    }
  }
}
