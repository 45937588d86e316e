import { onAbort } from '../base/on-abort.js';
import { MAX_TIMER, type Runtime } from '../base/runtime.js';
import { APIAbortError, APITimeoutError, type RequestOptions } from '../index.js';
import { checkCallOptions, stopSchema } from './call-options.js';

/** Milliseconds, as for a request. */
const TIMEOUT = 60_000;
/** Milliseconds that a turn waits for what it can do without. */
const OPTIONAL = 2_000;

/**
 * The time of a turn, or of another call of a conversation: its abort, its deadline, and what is left after them for storing.
 * Everything that a turn waits for gets its timeout here.
 */
export class TurnTimeouts {
  /** Ends the requests of the turn. */
  readonly signal: AbortSignal | undefined;
  readonly #stopper: AbortController | undefined;
  readonly #unfollow: (() => void) | undefined;
  /** Ends what the turn waits for: `signal`, or some time after it while a message is stored. */
  #waiting: AbortSignal | undefined;
  #end: number;

  /** With `onStop`, which `stop` and the caller's abort call, `close` must be called at the end. */
  constructor(
    private readonly runtime: Runtime,
    private readonly options: RequestOptions = {},
    private readonly onStop?: () => void,
  ) {
    checkCallOptions(options, stopSchema);
    const { signal, deadline = Number.POSITIVE_INFINITY } = options;
    this.#stopper = onStop && new AbortController();
    this.signal = this.#stopper?.signal ?? signal;
    this.#waiting = this.signal;
    this.#end = runtime.now() + deadline;
    if (onStop === undefined || signal === undefined) return;
    this.#unfollow = onAbort(signal, () => this.stop(signal.reason));
    if (signal.aborted) this.#stopper?.abort(signal.reason);
  }

  stop(reason?: unknown): void {
    this.#stopper?.abort(reason);
    this.onStop?.();
  }

  close(): void {
    this.#unfollow?.();
  }

  /** The timeouts of one more request. */
  request(): RequestOptions {
    const { timeout, maxRetries, deadline } = this.options;
    return { signal: this.signal, timeout, maxRetries, deadline: deadline === undefined ? undefined : this.#left() };
  }

  /**
   * Waits for work that is no request of a client, such as a function of the app's store. An abort or a timeout ends the wait,
   * not the work. `late` makes the error of a timeout, of its milliseconds.
   */
  async within<T>(
    work: () => T | Promise<T>,
    late: (ms: number) => Error,
    longest = this.options.timeout ?? TIMEOUT,
  ): Promise<T> {
    const most = Math.min(longest, this.#left());
    let timer: unknown;
    const timeout = new Promise<never>((_, reject) => {
      timer = this.runtime.setTimer(() => reject(late(most)), most);
    });
    const done = untilAborted(Promise.resolve().then(work), this.#waiting);
    return Promise.race([done, timeout]).finally(() => this.runtime.clearTimer(timer));
  }

  /** Waits some milliseconds. An abort or the deadline ends the wait. */
  async sleep(ms: number): Promise<void> {
    const { runtime } = this;
    let timer: unknown;
    const passed = new Promise<void>((resolve) => {
      timer = runtime.setTimer(resolve, Math.min(ms, this.#left()));
    });
    await untilAborted(passed, this.#waiting).finally(() => runtime.clearTimer(timer));
  }

  /**
   * Waits two seconds for what the turn can do without, and then ends it. `onError` gets the error, unless the turn itself has been
   * stopped, or is over its deadline.
   */
  async optional<T>(
    what: string,
    work: (signal: AbortSignal) => T | Promise<T>,
    onError: (error: unknown) => void,
  ): Promise<T | undefined> {
    const stop = new AbortController();
    const late = (ms: number): Error =>
      new APITimeoutError(`${what} took longer than ${ms} ms.`, { kind: 'deadline', phase: 'headers', sent: 'maybe' });
    try {
      return await this.within(() => work(stop.signal), late, OPTIONAL);
    } catch (error) {
      this.throwIfAborted();
      if (this.#end - this.runtime.now() < 1) throw this.#overDeadline();
      onError(error);
      return undefined;
    } finally {
      stop.abort();
    }
  }

  /** Stores messages. After an abort or the deadline, so many milliseconds are left for it. */
  async storing<T>(grace: number, store: () => Promise<T>): Promise<T> {
    const { signal, runtime } = this;
    const [waiting, end] = [this.#waiting, this.#end];
    const last = new AbortController();
    let timer: unknown;
    const wait = (): void => {
      timer = runtime.setTimer(() => last.abort(signal?.reason), grace);
    };
    const unfollow = signal && onAbort(signal, wait);
    if (signal?.aborted === true) wait();
    this.#waiting = last.signal;
    this.#end = Math.max(end, runtime.now() + grace);
    try {
      return await store();
    } finally {
      unfollow?.();
      runtime.clearTimer(timer);
      this.#waiting = waiting;
      this.#end = end;
    }
  }

  /** Waits for work until the deadline, however long that is. */
  unlessOver<T>(work: () => Promise<T>): Promise<T> {
    return this.within(work, () => this.#overDeadline(), MAX_TIMER);
  }

  throwIfAborted(): void {
    if (this.signal?.aborted === true) throw new APIAbortError({ cause: this.signal.reason });
  }

  /** Milliseconds until the deadline. */
  #left(): number {
    const left = Math.ceil(this.#end - this.runtime.now());
    if (left > 0) return left;
    throw this.#overDeadline();
  }

  #overDeadline(): Error {
    const message = `The turn took longer than its deadline of ${this.options.deadline} ms.`;
    return new APITimeoutError(message, { kind: 'deadline', phase: 'connect', sent: 'no' });
  }
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
