import { APIAbortError, mapCalls, NotFoundError, RequestValidationError } from 'context-gateway';
import { expect, test } from 'vitest';
import { settled } from '../helpers/manual-runtime.js';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';
import { collectGarbage } from '../stream/measure.js';

const service = emulatedService({});
const ids = Array.from({ length: 12 }, (_, at) => `item ${at}`);

/** A call that ends when the test says so. */
function manualCalls() {
  const waiting: { end: (value: string) => void; signal: AbortSignal }[] = [];
  const call = (_: string, signal: AbortSignal) => new Promise<string>((end) => waiting.push({ end, signal }));
  return { waiting, call };
}

test('runs a batch of completions, and yields an error beside its item instead of ending', async () => {
  const { completions } = service.gateway().chat;
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const found: unknown[] = [];

  const call = (model: string, signal: AbortSignal) => completions.create({ model, messages }, { signal });
  const batch = mapCalls(['no-such-model', 'atlas-large'], call, { concurrency: 1 });
  for await (const { item, result, error } of batch) found.push([item, error ?? result?.model]);

  expect(found).toEqual([
    ['no-such-model', expect.any(NotFoundError)],
    ['atlas-large', 'atlas-large'],
  ]);
});

test('starts at most `concurrency` calls, and yields in order of completion', async () => {
  const { waiting, call } = manualCalls();
  const batch = mapCalls(ids, call, { concurrency: 3 });
  const first = batch.next();
  await expect.poll(() => waiting.length).toBe(3);
  waiting[2]?.end('third');

  expect(await first).toEqual({ done: false, value: { item: 'item 2', result: 'third' } });
  const second = batch.next();
  await expect.poll(() => waiting.length).toBe(4);
  waiting[0]?.end('first');
  expect((await second).value).toEqual({ item: 'item 0', result: 'first' });
  await batch.return();
});

test('yields what has ended while an asynchronous source has no next item, and can then be left', async () => {
  async function* source() {
    yield 'only';
    await new Promise(() => {});
  }
  const found: unknown[] = [];

  for await (const { item, result } of mapCalls(source(), async (item) => item.length))
    if (found.push([item, result]) === 1) break;

  expect(found).toEqual([['only', 4]]);
});

test('aborts the calls in flight and closes the source when the loop is left', async () => {
  const { waiting, call } = manualCalls();
  let closed = false;
  function* source() {
    try {
      for (const id of ids) yield id;
    } finally {
      closed = true;
    }
  }
  const loop = (async () => {
    for await (const { result } of mapCalls(source(), call, { concurrency: 2 })) if (result) break;
  })();
  await expect.poll(() => waiting.length).toBe(2);
  waiting[0]?.end('done');
  await loop;

  expect(waiting[1]?.signal.aborted).toBe(true);
  expect(closed).toBe(true);
});

test.each<[items: unknown, call: unknown, options: object, says: string]>([
  ...[{}, 7, null].map((no): [unknown, unknown, object, string] => [
    no,
    Array,
    {},
    'items: expected an array, a generat',
  ]),
  [ids, 'call', {}, 'call: expected a function'],
  [ids, expect.fail, { concurrency: 0 }, 'options.concurrency: expected a whole number'],
])('rejects %j, %s, %j as a mistake in the arguments', async (items, call, options, says) => {
  const error = await failureOf(mapCalls(items as never, call as never, options).next());

  expect(error).toBeInstanceOf(RequestValidationError);
  expect(String(error)).toContain(says);
});

test('an item whose call rejects with nothing has an error, and the type of a result needs no check', async () => {
  const lengths: number[] = [];
  const errors: unknown[] = [];

  const call = async (text: string) => (text === '' ? Promise.reject() : { text });
  for await (const { result, error } of mapCalls(['a', '', 'bc'], call)) {
    if (error !== undefined) errors.push(error);
    else lengths.push(result.text.length);
  }

  expect(lengths.sort()).toEqual([1, 2]);
  expect(errors).toEqual([new Error('call threw a value that is not an Error: see error.cause.')]);
});

test('keeps no outcome that the loop has got', async () => {
  const outcomes: WeakRef<object>[] = [];
  let kept = 0;
  for await (const { result } of mapCalls(Array(2_000).keys(), async (number) => ({ number }))) {
    outcomes.push(new WeakRef(result ?? {}));
    if (outcomes.length !== 1_000) continue;
    await settled();
    collectGarbage();
    kept = outcomes.filter((outcome) => outcome.deref() !== undefined).length;
  }

  expect(outcomes).toHaveLength(2_000);
  expect(kept).toBeLessThan(10);
});

test('lets timers run while calls end at once', async () => {
  let isDue = false;
  setTimeout(() => (isDue = true), 0);
  for await (const _ of mapCalls(Array(10_000_000).keys(), async () => 'done')) if (isDue) break;

  expect(isDue).toBe(true);
});

test('delivers what has ended before its signal is aborted, and then ends with an APIAbortError', async () => {
  const { waiting, call } = manualCalls();
  const controller = new AbortController();
  const batch = mapCalls(ids, call, { signal: controller.signal, concurrency: 3 });
  const first = batch.next();
  await expect.poll(() => waiting.length).toBe(3);
  waiting[0]?.end('one');
  await first;
  waiting[1]?.end('two');
  await new Promise(setImmediate);
  controller.abort();

  expect((await batch.next()).value).toEqual({ item: 'item 1', result: 'two' });
  await expect(batch.next()).rejects.toThrow(APIAbortError);
  expect(waiting[2]?.signal.aborted).toBe(true);
});
