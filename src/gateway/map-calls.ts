import { ignoreErrors } from '../base/ignore-errors.js';
import { onAbort } from '../base/on-abort.js';
import { pauses } from '../base/pauses.js';
import { APIAbortError } from '../errors/connection.js';
import { badArgument } from '../errors/validation.js';

const DEFAULT_CONCURRENCY = 16;

/** Options of `mapCalls`. */
export type MapOptions = {
  /**
   * The maximum number of calls in flight.
   * @default 16
   */
  concurrency?: number | undefined;
  /** Ends the loop with an `APIAbortError`, and aborts the calls in flight. */
  signal?: AbortSignal | undefined;
};

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
  const source = iteratorOf(items);
  const stop = new AbortController();
  const outcomes: MapResult<Item, Result>[] = [];
  let pending = 0; // calls in flight, and outcomes that the loop has not taken
  let isReading = false;
  let isRead = false;
  let failure: { readonly error: unknown } | undefined;
  // `Promise.race` would keep every outcome until the slowest call has ended.
  let wake = (): void => {};
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  const run = async (item: Item): Promise<void> => {
    pending += 1;
    let outcome: MapResult<Item, Result>;
    try {
      outcome = { item, result: await call(item, stop.signal) };
    } catch (error) {
      // Anything may be thrown, also nothing. Then `error` would say that the call succeeded.
      const message = 'call threw a value that is not an Error: see error.cause.';
      outcome = { item, error: error instanceof Error ? error : new Error(message, { cause: error }) };
    }
    if (failure === undefined) outcomes.push(outcome);
    wake();
  };
  /** Reads items, and starts their calls. */
  const read = async (): Promise<void> => {
    isReading = true;
    try {
      while (pending < concurrency && !stop.signal.aborted && !isRead) {
        const { value, done = false } = await source.next();
        isRead = done;
        if (!done && !stop.signal.aborted) void run(value);
      }
    } catch (error) {
      isRead = true;
      fail(error);
    }
    isReading = false;
    wake();
  };
  const abort = (): void => {
    fail(new APIAbortError({ cause: signal?.reason }));
    stop.abort(signal?.reason);
  };
  const unfollow = signal && onAbort(signal, abort);
  if (signal?.aborted) abort();
  const pause = pauses(); // calls that end at once would hold up timers
  try {
    for (;;) {
      await pause();
      if (!isReading && !isRead) void read();
      const outcome = outcomes.shift();
      if (outcome !== undefined) {
        pending -= 1;
        yield outcome;
        continue;
      }
      if (failure !== undefined) throw failure.error;
      if (isRead && pending === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    unfollow?.();
    stop.abort(); // the calls in flight, after a break
    if (!isRead) ignoreErrors(() => source.return?.()); // not awaited: it may wait for its next item
  }
}

function iteratorOf<Item>(items: Iterable<Item> | AsyncIterable<Item>): Iterator<Item> | AsyncIterator<Item> {
  const source = items as Partial<Iterable<Item> & AsyncIterable<Item>> | null | undefined; // JavaScript may pass anything
  const iterator = source?.[Symbol.asyncIterator]?.() ?? source?.[Symbol.iterator]?.();
  if (iterator === undefined) throw badArgument(['items'], 'expected an array, a generator or another iterable');
  return iterator;
}
