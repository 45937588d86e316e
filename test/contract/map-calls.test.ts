import { APIAbortError, mapCalls, NotFoundError, RequestValidationError } from 'context-gateway';
import { expect, test } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';
import { megabytes, memory } from '../stream/measure.js';

const service = emulatedService({});
const ids = Array.from({ length: 12 }, (_, at) => `item ${at}`);

/** A call that ends when the test says so. */
function manualCalls() {
  const waiting: { item: string; end: (value: string) => void; fail: (error: Error) => void; signal: AbortSignal }[] =
    [];
  const call = (item: string, signal: AbortSignal) =>
    new Promise<string>((end, fail) => waiting.push({ item, end, fail, signal }));
  return { waiting, call };
}

test('runs a batch of completions, and yields an error beside its item instead of ending', async () => {
  const gateway = service.gateway();
  const models = ['atlas-small', 'no-such-model', 'atlas-large'];
  const found: Record<string, unknown> = {};

  const batch = mapCalls(models, (model, signal) =>
    gateway.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] }, { signal }),
  );
  for await (const { item, result, error } of batch) found[item] = error ?? result?.model;

  expect(found).toEqual({
    'atlas-small': 'atlas-small',
    'atlas-large': 'atlas-large',
    'no-such-model': expect.any(NotFoundError),
  });
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

test('yields every outcome of calls that end at once', async () => {
  const { waiting, call } = manualCalls();
  const batch = mapCalls(ids, call);
  const first = batch.next();
  await expect.poll(() => waiting.length).toBe(ids.length);
  for (const { item, end } of waiting) end(item);
  const found = [(await first).value?.item];
  for await (const { item } of batch) found.push(item);

  expect(found).toEqual(ids);
});

test('a loop can be left while the source has no next item', async () => {
  async function* source() {
    yield 'only';
    await new Promise(() => {});
  }
  const found: string[] = [];
  for await (const { item } of mapCalls(source(), async (item) => item)) if (found.push(item) === 1) break;

  expect(found).toEqual(['only']);
});

test('yields what has ended while an asynchronous source has no next item', async () => {
  async function* source() {
    yield 'only';
    await new Promise(() => {});
  }
  const batch = mapCalls(source(), async (item) => item.length);

  expect((await batch.next()).value).toEqual({ item: 'only', result: 4 });
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

test('ends with an APIAbortError when its signal is aborted', async () => {
  const { waiting, call } = manualCalls();
  const controller = new AbortController();
  const first = mapCalls(ids, call, { signal: controller.signal }).next();
  await expect.poll(() => waiting.length).toBe(ids.length);
  controller.abort(new Error('enough'));

  await expect(first).rejects.toThrow(APIAbortError);
  expect(waiting.every(({ signal }) => signal.aborted)).toBe(true);
});

test('rejects a call that is no function once, not for each item', async () => {
  const error = await failureOf(mapCalls(['a', 'b'], 'call' as never).next());

  expect(error).toMatchObject({
    name: 'RequestValidationError',
    message: expect.stringContaining('call: expected a function'),
  });
});

test('rejects a concurrency that is not a positive whole number, before any call', async () => {
  let calls = 0;
  const batch = mapCalls(ids, () => (calls += 1), { concurrency: 0 });

  await expect(batch.next()).rejects.toThrow(RequestValidationError);
  expect(calls).toBe(0);
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

test.each([{}, 7, null, undefined])('%j as items is a mistake in the arguments', async (items) => {
  const results = mapCalls(items as never, () => {});

  await expect(results.next()).rejects.toThrow('items: expected an array, a generator or another iterable');
});

test('keeps no outcome that the loop has got, and lets timers run while calls end at once', async () => {
  const count = atLength(60_000, 1_000_000);
  function* numbers() {
    for (let number = 0; number < count; number += 1) yield number;
  }
  let [ticks, results, before, most] = [0, 0, 0, 0];
  const timer = setInterval(() => (ticks += 1), 5);

  for await (const { result } of mapCalls(numbers(), async (number) => `${number}`.padEnd(2_000, 'text'))) {
    results += result === undefined ? 0 : 1;
    if (results === 5_000) before = memory();
    if (results % 15_000 === 0) most = Math.max(most, memory() - before);
  }
  clearInterval(timer);

  expect(results).toBe(count);
  expect(ticks).toBeGreaterThan(5);
  expect(most, megabytes(most)).toBeLessThan(10 * 1024 * 1024);
});

test('delivers what has ended before its signal is aborted', async () => {
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
});
