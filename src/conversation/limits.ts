import { ignoreErrors } from '../base/ignore-errors.js';
import { onAbort } from '../base/on-abort.js';
import { systemRuntime } from '../base/runtime.js';
import { APIAbortError, APITimeoutError, type RequestOptions } from '../index.js';

/** The background work of a conversation. `close` ends it, and no error is reported after that. */
export class Background {
  readonly #tasks = new Set<Promise<unknown>>();
  // Created when they are needed: in the global scope of a worker, workerd forbids it.
  #closing: AbortController | undefined;
  #ending: AbortController | undefined;

  constructor(private readonly report: (error: unknown) => void) {}

  get signal(): AbortSignal {
    this.#closing ??= new AbortController();
    return this.#closing.signal;
  }

  /** Aborted a few seconds after `close`, for a turn that is being stored. */
  get ended(): AbortSignal {
    this.#ending ??= new AbortController();
    return this.#ending.signal;
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
    this.#ending ??= new AbortController();
    this.#closing.abort();
    const timer = systemRuntime.setTimer(() => this.#ending?.abort(), STORING);
    void this.idle().finally(() => systemRuntime.clearTimer(timer));
  }
}

/** The time limits of a turn, for everything that the turn waits for. */
export class Limits {
  readonly signal: AbortSignal | undefined;
  readonly #end: number;

  constructor(private readonly options: RequestOptions) {
    this.signal = options.signal;
    this.#end = systemRuntime.now() + (options.deadline ?? Number.POSITIVE_INFINITY);
  }

  /** The limits for one more request. */
  request(): RequestOptions {
    const { signal, timeout, maxRetries } = this.options;
    return { signal, timeout, maxRetries, deadline: this.#left() };
  }

  /** Waits for other work, such as a function of the app's store. An abort or a timeout ends the wait, not the work. */
  async within<T>(what: string, work: () => T | Promise<T>, longest = this.options.timeout ?? TIMEOUT): Promise<T> {
    const most = Math.min(longest, this.#left() ?? longest);
    let timer: unknown;
    const late = new Promise<never>((_, reject) => {
      timer = systemRuntime.setTimer(() => reject(timeoutError(`${what} took longer than ${most} ms.`)), most);
    });
    const done = untilAborted(Promise.resolve().then(work), this.signal);
    return Promise.race([done, late]).finally(() => systemRuntime.clearTimer(timer));
  }

  /** Stores the turn, also one that was stopped: after an abort or the deadline, a few seconds are left for it. */
  async storing<T>(store: (limits: Limits) => Promise<T>): Promise<T> {
    const { timeout, deadline } = this.options;
    const { signal } = this;
    const end = new AbortController();
    let timer: unknown;
    const wait = (): void => {
      timer = systemRuntime.setTimer(() => end.abort(signal?.reason), STORING);
    };
    const stopWaiting = signal && onAbort(signal, wait);
    if (signal?.aborted === true) wait();
    const left = deadline && Math.max(STORING, this.#end - systemRuntime.now());
    try {
      return await store(new Limits({ signal: end.signal, timeout, deadline: left }));
    } finally {
      stopWaiting?.();
      systemRuntime.clearTimer(timer);
    }
  }

  throwIfAborted(): void {
    if (this.signal?.aborted === true) throw new APIAbortError({ cause: this.signal.reason });
  }

  #left(): number | undefined {
    if (this.options.deadline === undefined) return undefined;
    const left = Math.ceil(this.#end - systemRuntime.now());
    if (left <= 0) throw timeoutError(`The turn took longer than its deadline of ${this.options.deadline} ms.`);
    return left;
  }
}

/** Milliseconds, as for a request. */
const TIMEOUT = 60_000;
/** Milliseconds to store a turn that was stopped, or whose conversation was closed. */
const STORING = 5_000;

function timeoutError(message: string): APITimeoutError {
  return new APITimeoutError(message, { kind: 'deadline', phase: 'connect', sent: 'no' });
}

/** Waits for a task that other callers may share. An abort ends this wait only, not the task. */
export function untilAborted<T>(task: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return task;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new APIAbortError({ cause: signal.reason }));
    if (signal.aborted) abort();
    task.then(resolve, reject).finally(onAbort(signal, abort));
  });
}
