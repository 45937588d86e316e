import { ignoreErrors } from '../base/ignore-errors.js';
import { onAbort } from '../base/on-abort.js';
import { pauses } from '../base/pauses.js';
import { APIAbortError } from '../errors/connection.js';
import { badArgument } from '../errors/validation.js';

const DEFAULT_CONCURRENCY = 16;

/** Options of `mapCalls`. */
export interface MapOptions {
  /**
   * The maximum number of calls in flight.
   * @default 16
   */
  concurrency?: number | undefined;
  /** Ends the loop with an `APIAbortError`, and aborts the calls in flight. */
  signal?: AbortSignal | undefined;
}

/** The outcome for one item: `result`, or `error` if its call failed. A thrown value that is not an `Error` is its `cause`. */
export type MapResult<Item, Result> =
  | { readonly item: Item; readonly result: Result; readonly error?: undefined }
  | { readonly item: Item; readonly result?: undefined; readonly error: Error };

/**
 * Runs a batch: calls `call` for each item, and yields `{ item, result }` or `{ item, error }` in order of completion.
 * A failed call does not end the batch. Pass the `signal` on, so that leaving the loop aborts the calls in flight.
 * Calls wait in their client's queue while its rate limit is used up (see `pacing`). Items are read one by one as calls end,
 * so they may be a generator. Results are not kept in memory.
 *
 * @throws {RequestValidationError} when `items` is not iterable, `call` no function, or `concurrency` not a whole number of at least 1
 * @throws {APIAbortError} when `signal` is aborted
 *
 * @example
 * ```ts
 * import { mapCalls } from 'context-gateway';
 * const questions = ['Ferries leave at nine. When do ferries leave?', 'The pier opens at ten. When does the pier open?'];
 * const ask = (content: string, signal: AbortSignal) =>
 *   gateway.chat.completions.create({ model: 'atlas-small', messages: [{ role: 'user', content }] }, { signal });
 * for await (const { item, result, error } of mapCalls(questions, ask, { concurrency: 1 })) {
 *   if (error !== undefined) console.error(item, error);
 *   else console.log(result.choices[0]?.message.content);
 * }
 * ```
 */
export async function* mapCalls<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  call: (item: Item, signal: AbortSignal) => PromiseLike<Result> | Result,
  options: MapOptions = {},
): AsyncGenerator<MapResult<Item, Result>, void, undefined> {
  const { concurrency = DEFAULT_CONCURRENCY, signal } = options;
  if (!(Number.isInteger(concurrency) && concurrency > 0))
    throw badArgument(['options', 'concurrency'], 'expected a whole number of at least 1');
  if (typeof call !== 'function') throw badArgument(['call'], 'expected a function'); // not an error for each item
  const batch = new Batch(iteratorOf(items), call, concurrency);
  const abort = (): void => batch.abort(signal?.reason);
  const unfollow = signal && onAbort(signal, abort);
  if (signal?.aborted) abort();
  const pause = pauses(); // calls that end at once would hold up timers
  try {
    for (;;) {
      await pause();
      const outcome = await batch.next();
      if (outcome === undefined) return;
      yield outcome;
    }
  } finally {
    unfollow?.();
    batch.close();
  }
}

/** The calls of one loop. Ends with it. */
class Batch<Item, Result> {
  readonly #stop = new AbortController();
  #state: 'open' | 'reading' | 'read' = 'open';
  #failure: { readonly error: unknown } | undefined;
  /** Outcomes that the loop has not taken yet. */
  readonly #outcomes: MapResult<Item, Result>[] = [];
  /** The number of calls in flight, and of these outcomes. */
  #pending = 0;
  /** Ends a wait of `next`. `Promise.race` would keep every outcome until the end of the batch. */
  #wake = (): void => {};

  constructor(
    private readonly items: Iterator<Item> | AsyncIterator<Item>,
    private readonly call: (item: Item, signal: AbortSignal) => PromiseLike<Result> | Result,
    private readonly concurrency: number,
  ) {}

  /** The next outcome, or `undefined` at the end of the batch. */
  async next(): Promise<MapResult<Item, Result> | undefined> {
    for (;;) {
      if (this.#state === 'open') void this.#startCalls();
      const outcome = this.#outcomes.shift();
      if (outcome !== undefined) {
        this.#pending -= 1;
        return outcome;
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#state === 'read' && this.#pending === 0) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  abort(reason: unknown): void {
    this.#fail(new APIAbortError({ cause: reason }));
    this.#stop.abort(reason);
  }

  close(): void {
    this.#stop.abort(); // the calls in flight, after a break
    if (this.#state !== 'read') ignoreErrors(() => this.items.return?.()); // not awaited: it may wait for its next item
  }

  /** Reads items and starts their calls, as many as may be in flight. */
  async #startCalls(): Promise<void> {
    this.#state = 'reading';
    try {
      while (this.#pending < this.concurrency && !this.#stop.signal.aborted) {
        const { value, done } = await this.items.next();
        if (done) {
          this.#state = 'read';
          break;
        }
        if (!this.#stop.signal.aborted) void this.#run(value);
      }
    } catch (error) {
      this.#state = 'read';
      this.#fail(error);
    }
    if (this.#state === 'reading') this.#state = 'open';
    this.#wake();
  }

  async #run(item: Item): Promise<void> {
    this.#pending += 1;
    let outcome: MapResult<Item, Result>;
    try {
      outcome = { item, result: await this.call(item, this.#stop.signal) };
    } catch (error) {
      // Anything may be thrown, also nothing. Then `error` would say that the call succeeded.
      const message = 'call threw a value that is not an Error: see error.cause.';
      outcome = { item, error: error instanceof Error ? error : new Error(message, { cause: error }) };
    }
    if (this.#failure === undefined) this.#outcomes.push(outcome);
    this.#wake();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }
}

function iteratorOf<Item>(items: Iterable<Item> | AsyncIterable<Item>): Iterator<Item> | AsyncIterator<Item> {
  const source = items as Partial<Iterable<Item> & AsyncIterable<Item>> | null | undefined; // JavaScript may pass anything
  const iterator = source?.[Symbol.asyncIterator]?.() ?? source?.[Symbol.iterator]?.();
  if (iterator === undefined) throw badArgument(['items'], 'expected an array, a generator or another iterable');
  return iterator;
}
