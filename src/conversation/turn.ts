import { ignoreErrors } from '../base/ignore-errors.js';
import { systemRuntime } from '../base/runtime.js';
import {
  APIAbortError,
  APITimeoutError,
  type RequestOptions,
  StreamConsumedError,
  StreamTruncatedError,
  toErrorResponse,
} from '../index.js';
import type { ChatTurn, PromptReport, ReplyStream } from './model.js';
import { eventResponse, type ReceiptWatch } from './respond.js';

/** The end of a turn: what was stored, if any text arrived, and why it ended early. */
export interface TurnEnd {
  turn?: ChatTurn | undefined;
  error?: unknown;
}

/** Where a turn writes its reply. */
export interface ReplyWriter {
  /** Called once, before the first piece. */
  begin(report: PromptReport): void;
  /** Resolves to `false` if no one reads the piece. */
  push(piece: string): Promise<boolean>;
}

/** Makes a turn. */
export type TurnMaker = (signal: AbortSignal, writer: ReplyWriter) => Promise<TurnEnd>;

/** A reply that can be read once, by a loop or by `final()`. */
export class Reply implements ReplyStream {
  readonly #make: TurnMaker;
  readonly #caller: AbortSignal | undefined;
  readonly #watch: () => ReceiptWatch;
  readonly #stop = new AbortController();
  #ending: Promise<TurnEnd> | undefined;
  #end: TurnEnd | undefined;
  #isRead = false;
  #hasLeft = false;
  /** Whether pieces are taken without a reader. */
  #isFlowing = false;
  #piece: { text: string; taken: (isTaken: boolean) => void } | undefined;
  #wake: () => void = () => {};
  text = '';
  report: PromptReport | undefined;

  constructor(make: TurnMaker, caller: AbortSignal | undefined, watch: () => ReceiptWatch) {
    this.#make = make;
    this.#caller = caller;
    this.#watch = watch;
  }

  /** @throws {StreamConsumedError} on a second loop */
  [Symbol.asyncIterator](): AsyncIterator<string> {
    if (this.#isRead) throw new StreamConsumedError();
    this.#isRead = true;
    let seen = 0;
    return {
      next: async () => {
        this.#begin();
        while (this.#piece === undefined && seen === this.text.length && this.#end === undefined && !this.#hasLeft) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        this.#take();
        const value = this.text.slice(seen);
        seen = this.text.length;
        if (value !== '') return { done: false, value };
        if (this.#end?.error !== undefined && !this.#hasLeft) throw this.#end.error;
        return { done: true, value: undefined };
      },
      return: async () => {
        this.#hasLeft = true;
        this.#abort();
        await this.#ending;
        return { done: true, value: undefined };
      },
    };
  }

  async final(): Promise<ChatTurn> {
    if (!this.#isRead) {
      this.#isRead = true;
      this.readOn();
      this.#begin();
    }
    if (this.#ending === undefined && !this.#hasLeft) await new Promise<void>((resolve) => this.#begun.push(resolve));
    const { turn, error } = (await this.#ending) ?? {};
    if (turn !== undefined) return turn;
    throw this.#hasLeft || error === undefined
      ? new StreamTruncatedError('The stream was closed before any text arrived.')
      : error;
  }

  async toResponse(): Promise<Response> {
    const texts = this[Symbol.asyncIterator]();
    const watch = this.#watch();
    try {
      const first = await texts.next();
      const recalled = () => this.report?.recalled ?? [];
      return eventResponse({ texts, recalled, final: () => this.final(), watch }, first);
    } catch (error) {
      watch.end();
      return toErrorResponse(error);
    }
  }

  readonly #begun: (() => void)[] = [];

  /** Takes all pieces, so that the turn ends even if its reader is slow or gone. */
  readOn(): void {
    this.#isFlowing = true;
    this.#take();
  }

  #begin(): void {
    this.#ending ??= this.#run();
    for (const resolve of this.#begun.splice(0)) resolve();
  }

  async #run(): Promise<TurnEnd> {
    const abort = (): void => this.#abort();
    this.#caller?.addEventListener('abort', abort);
    if (this.#caller?.aborted === true) abort();
    const push = (text: string): Promise<boolean> =>
      new Promise((taken) => {
        if (this.#stop.signal.aborted) return taken(false);
        this.#piece = { text, taken };
        if (this.#isFlowing) this.#take();
        this.#wake();
      });
    const begin = (report: PromptReport): void => {
      this.report = report;
    };
    this.#end = await this.#make(this.#stop.signal, { begin, push }).catch((error: unknown) => ({ error }));
    this.#caller?.removeEventListener('abort', abort);
    this.#wake();
    return this.#end;
  }

  #take(): void {
    const piece = this.#piece;
    this.#piece = undefined;
    this.text += piece?.text ?? '';
    piece?.taken(true);
  }

  #abort(): void {
    this.#stop.abort(this.#caller?.reason);
    this.#piece?.taken(false);
    this.#piece = undefined;
    this.#wake();
    for (const resolve of this.#begun.splice(0)) resolve();
  }
}

/** Work behind the turns. `close` ends it, and no error is reported after that. */
export class Background {
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  readonly onError = (error: unknown): void => {
    if (!this.signal.aborted) ignoreErrors(() => this.#report(error));
  };

  /** Makes `idle` wait for a task, whose errors the caller handles. */
  run<T>(task: Promise<T>): Promise<T> {
    this.#tasks.add(task);
    task.catch(() => {}).finally(() => this.#tasks.delete(task));
    return task;
  }

  /** Runs a task whose errors are reported. */
  behind(task: Promise<unknown>): void {
    this.run(task.catch(this.onError));
  }

  /** Resolves when the tasks that run now have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#tasks]);
  }

  /** Resolves when no task runs. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await this.settled();
  }

  close(): void {
    this.#closing.abort();
  }
}

/** The time limits of a turn, for everything that the turn waits for. */
export class Limits {
  readonly #options: RequestOptions;
  readonly #end: number;

  constructor(options: RequestOptions) {
    this.#options = options;
    this.#end = systemRuntime.now() + (options.deadline ?? Number.POSITIVE_INFINITY);
  }

  get signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  /** The limits for one more request. */
  request(): RequestOptions {
    const { signal, timeout, maxRetries } = this.#options;
    return { signal, timeout, maxRetries, deadline: this.#left() };
  }

  /** Waits for other work. An abort or the end of its time ends the wait, not the work. */
  within<T>(
    what: string,
    work: () => T | Promise<T>,
    longest: number = this.#options.timeout ?? STORE_TIMEOUT,
  ): Promise<T> {
    const time = Math.min(longest, this.#left() ?? Number.POSITIVE_INFINITY);
    const done = Promise.resolve().then(work);
    if (time === Number.POSITIVE_INFINITY) return untilAborted(done, this.signal);
    let timer: unknown;
    const late = new Promise<never>((_, reject) => {
      timer = systemRuntime.setTimer(() => reject(timeoutError(`${what} took longer than ${time} ms.`)), time);
    });
    return untilAborted(Promise.race([done, late]), this.signal).finally(() => systemRuntime.clearTimer(timer));
  }

  #left(): number | undefined {
    if (this.#options.deadline === undefined) return undefined;
    const left = Math.ceil(this.#end - systemRuntime.now());
    if (left <= 0) throw timeoutError(`The turn took longer than its deadline of ${this.#options.deadline} ms.`);
    return left;
  }
}

/** Milliseconds, as for a request. */
const STORE_TIMEOUT = 60_000;

function timeoutError(message: string): APITimeoutError {
  return new APITimeoutError(message, { kind: 'deadline', phase: 'connect', sent: 'no' });
}

/** Waits for a task that other callers may share. An abort ends this wait only, not the task. */
export function untilAborted<T>(task: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return task;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new APIAbortError({ cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
