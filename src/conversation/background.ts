import { ignoreErrors } from '../base/ignore-errors.js';

/** The background work of a conversation. `close` ends it, and no error is reported after that. */
export class Background {
  readonly #tasks = new Set<Promise<unknown>>();
  // Created when it is needed: in the global scope of a worker, workerd forbids it.
  #closing: AbortController | undefined;

  constructor(private readonly report: (error: unknown) => void) {}

  get signal(): AbortSignal {
    this.#closing ??= new AbortController();
    return this.#closing.signal;
  }

  readonly onError = (error: unknown): void => {
    if (!this.signal.aborted) ignoreErrors(() => this.report(error));
  };

  /** Makes `idle` wait for a task, whose errors the caller handles. */
  run<T>(task: Promise<T>): Promise<T> {
    this.#tasks.add(task);
    task.catch(() => {}).finally(() => this.#tasks.delete(task));
    return task;
  }

  /** Runs a task whose errors are reported. */
  behind(task: Promise<unknown>): Promise<unknown> {
    return this.run(task.catch(this.onError));
  }

  /** Resolves when no task runs. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }

  close(): void {
    this.#closing ??= new AbortController();
    this.#closing.abort();
  }
}
