import { ignoreErrors } from '../base/ignore-errors.js';
import { APIAbortError } from '../errors/connection.js';
import { badArgument } from '../errors/validation.js';

const DEFAULT_CONCURRENCY = 16;

/** Options of `gateway.map`. */
export interface MapOptions {
  /**
   * The most calls in flight.
   * @default 16
   */
  concurrency?: number | undefined;
  /** Ends the loop with an `APIAbortError`, and aborts the calls in flight. */
  signal?: AbortSignal | undefined;
}

/** The outcome for one item: `result`, or `error` if its call failed. */
export type MapResult<Item, Result> =
  | { readonly item: Item; readonly result: Result; readonly error?: undefined }
  | { readonly item: Item; readonly result?: undefined; readonly error: NonNullable<unknown> };

type Items<Item> = Iterable<Item> | AsyncIterable<Item>;

/** What the loop waits for: an outcome, or the next item. */
type Step<Item, Result> =
  | { readonly outcome: MapResult<Item, Result>; readonly task: Promise<Step<Item, Result>> }
  | { readonly next: IteratorResult<Item> };

/** Calls `call` for each item, at most `concurrency` at a time, and yields the outcomes as they come. */
export async function* map<Item, Result>(
  items: Items<Item>,
  call: (item: Item, signal: AbortSignal) => PromiseLike<Result> | Result,
  { concurrency = DEFAULT_CONCURRENCY, signal }: MapOptions = {},
): AsyncGenerator<MapResult<Item, Result>, void, undefined> {
  if (!(Number.isInteger(concurrency) && concurrency > 0))
    throw badArgument(['options', 'concurrency'], 'expected a whole number of at least 1');
  const stop = new AbortController();
  const source = iteratorOf(items);
  const running = new Set<Promise<Step<Item, Result>>>();
  let asked: Promise<Step<Item, Result>> | undefined;
  let ended = false;
  const aborted = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(new APIAbortError({ cause: stop.signal.reason })));
  });
  aborted.catch(() => {}); // it may come when nothing waits
  const abort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    for (;;) {
      if (!ended && asked === undefined && running.size < concurrency) asked = nextOf(source);
      if (asked === undefined && running.size === 0) return;
      const step = await Promise.race([aborted, ...running, ...(asked === undefined ? [] : [asked])]);
      if ('outcome' in step) {
        running.delete(step.task); // not before: several may end at once
        yield step.outcome;
        continue;
      }
      asked = undefined;
      ended = step.next.done === true;
      if (step.next.done) continue;
      const outcome = outcomeOf(step.next.value, call, stop.signal);
      const task: Promise<Step<Item, Result>> = outcome.then((outcome) => ({ outcome, task }));
      running.add(task);
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    stop.abort(); // the calls in flight, after a break
    if (!ended) ignoreErrors(() => source.return?.()); // not awaited: it may wait for its next item
  }
}

function iteratorOf<Item>(items: Items<Item>): Iterator<Item> | AsyncIterator<Item> {
  const source = items as Partial<Iterable<Item> & AsyncIterable<Item>> | null | undefined; // JavaScript may pass anything
  const iterator = source?.[Symbol.asyncIterator]?.() ?? source?.[Symbol.iterator]?.();
  if (iterator === undefined) throw badArgument(['items'], 'expected an array, a generator or another iterable');
  return iterator;
}

async function nextOf<Item>(source: Iterator<Item> | AsyncIterator<Item>): Promise<{ next: IteratorResult<Item> }> {
  return { next: await source.next() };
}

async function outcomeOf<Item, Result>(
  item: Item,
  call: (item: Item, signal: AbortSignal) => PromiseLike<Result> | Result,
  signal: AbortSignal,
): Promise<MapResult<Item, Result>> {
  try {
    return { item, result: await call(item, signal) };
  } catch (error) {
    // Something may throw nothing. Then `error` would say that the call succeeded.
    return { item, error: error ?? new Error(`The call failed with ${error}.`) };
  }
}
