import { type ChatCompletionStream, StreamConsumedError, StreamTruncatedError, toEventStream } from 'context-gateway';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failureOf, readAll } from './bench.js';
import { streamOf, streamOfClient } from './canned.js';
import { watchProcess } from './measure.js';
import { chunk, DONE, event, finish, RHINE, text } from './script.js';

watchProcess();

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test.each<[name: string, read: (stream: ChatCompletionStream) => Promise<unknown>]>([
  ['the chunks', readAll],
  ['the texts', (stream) => collect(stream.textStream)],
  ['the relay', (stream) => new Response(toEventStream(stream)).text()],
])('finalCompletion() may be called right before a loop over %s', async (_name, read) => {
  const stream = await streamOf(RHINE);

  const first = stream.finalCompletion();
  const second = stream.finalCompletion();
  await read(stream);

  expect((await first).choices[0]?.message.content).toBe('The Rhine.');
  expect(await second).toEqual(await first);
});

test('a finalCompletion() before a loop that throws causes no unhandled rejection if not awaited', async () => {
  const stream = await streamOf(text('The '));

  const whole = stream.finalCompletion();
  const { error } = await readAll(stream);
  await turn();

  expect(error).toBeInstanceOf(StreamTruncatedError);
  expect(await failureOf(whole)).toBe(error);
});

test('a finalCompletion() before a loop that is left rejects with a StreamTruncatedError', async () => {
  const stream = await streamOf(RHINE);

  const whole = stream.finalCompletion();
  for await (const _ of stream) break;
  await turn();

  expect(await failureOf(whole)).toBeInstanceOf(StreamTruncatedError);
});

test('a loop throws once finalCompletion() has begun to read, which still resolves', async () => {
  const stream = await streamOf(RHINE);

  const whole = stream.finalCompletion();
  await Promise.resolve();
  const { error } = await readAll(stream);

  expect(error).toBeInstanceOf(StreamConsumedError);
  expect((await whole).choices[0]?.message.content).toBe('The Rhine.');
});

/** Events with these deltas, and the end of a stream. */
const events = (...deltas: object[]): string =>
  deltas.map((delta) => event(chunk([{ index: 0, delta, finish_reason: null }]))).join('') + finish('tool_calls');
const calls = (pieces: object[]) => streamOf(events(...pieces.map((piece) => ({ tool_calls: [piece] }))));

test.each([
  {
    because: 'its name and id are repeated in each piece',
    pieces: [
      { index: 0, id: 'a', type: 'function', function: { name: 'tide', arguments: '{"port":' } },
      { index: 0, id: 'a', type: 'function', function: { name: 'tide', arguments: '"Oslo"}' } },
    ],
  },
  {
    because: 'its name comes in pieces, and later ids are empty or new',
    pieces: [
      { index: 0, id: 'a', type: 'function', function: { name: 'ti', arguments: '' } },
      { index: 0, id: '', function: { name: 'de', arguments: '{"port":' } },
      { index: 0, id: 'z', function: { name: '', arguments: '"Oslo"}' } },
    ],
  },
  {
    because: 'the calls have no index',
    pieces: [
      { id: 'a', type: 'function', function: { name: 'tide', arguments: '{"port":' } },
      { function: { arguments: '"Oslo"}' } },
      { id: 'b', type: 'function', function: { name: 'tide', arguments: '{}' } },
    ],
    and: 'b',
  },
  {
    because: 'the calls have the same index, and other ids',
    pieces: [
      { index: 0, id: 'a', type: 'function', function: { name: 'tide', arguments: '{"port":"Oslo"}' } },
      { index: 0, id: 'b', type: 'function', function: { name: 'tide', arguments: '{' } },
      { index: 0, function: { arguments: '}' } },
    ],
    and: 'b',
  },
  {
    because: 'the pieces of two calls with the same index alternate',
    pieces: [
      { index: 0, id: 'a', type: 'function', function: { name: 'tide', arguments: '{"port":' } },
      { index: 0, id: 'b', type: 'function', function: { name: 'tide', arguments: '{' } },
      { index: 0, id: 'a', function: { arguments: '"Os' } },
      { index: 0, id: 'b', function: { arguments: '}' } },
      { index: 0, id: 'a', function: { arguments: 'lo"' } },
      { index: 0, function: { arguments: '}' } },
    ],
    and: 'b',
  },
  {
    because: 'one without parameters has neither type nor arguments',
    pieces: [
      { index: 0, id: 'a', type: 'function', function: { name: 'tide', arguments: '{"port":"Oslo"}' } },
      { index: 1, id: 'b', function: { name: 'tide' } },
    ],
    and: 'b',
    without: '',
  },
])('a tool call is whole although $because', async ({ pieces, and, without = '{}' }) => {
  const stream = await calls(pieces);
  const joined: { id: string; name: string; input: string }[] = [];

  for await (const { choices } of stream) {
    for (const { index = -1, id, function: part } of choices[0]?.delta.tool_calls ?? []) {
      const call = joined[index] ?? { id: '', name: '', input: '' };
      joined[index] = call;
      call.id ||= id ?? '';
      call.name += part?.name ?? '';
      call.input += part?.arguments ?? '';
    }
  }
  const whole = await stream.finalCompletion();

  const expected = [
    { id: 'a', name: 'tide', input: '{"port":"Oslo"}' },
    ...(and === undefined ? [] : [{ id: and, name: 'tide', input: '{}' }]),
  ];
  expect(joined).toEqual(expected.map((call) => (call.id === 'b' ? { ...call, input: without } : call)));
  expect(whole.choices[0]?.message.tool_calls).toEqual(
    expected.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } })),
  );
});

test.each([
  [
    { index: 0, function: { name: 'tide', arguments: '{"port":' } },
    { index: 0, function: { arguments: '"Oslo"}' } },
    { index: 1, id: '', function: { name: 'wind', arguments: '{}' } },
  ],
  [{ function: { name: 'tide', arguments: '{"port":"Oslo"}' } }, { function: { name: 'wind', arguments: '{}' } }],
])('tool calls without ids get some, each its own: %j', async (...pieces) => {
  const whole = await (await calls(pieces)).finalCompletion();

  const all = whole.choices[0]?.message.tool_calls ?? [];
  expect(all.map(({ function: { name, arguments: input } }) => [name, input])).toEqual([
    ['tide', '{"port":"Oslo"}'],
    ['wind', '{}'],
  ]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(2);
  expect(all.every(({ id }) => /^call_\w{4,}$/.test(id))).toBe(true);
});

test.each([
  { chunks: 2, size: 5_000 },
  { chunks: 10_000, size: 1 },
])('takes linear time for a list of 10,000 entries in $chunks chunks', async ({ chunks, size }) => {
  let reads = 0;
  const entries = Array.from({ length: chunks * size }, (_, at) => ({
    get index() {
      reads += 1;
      return at;
    },
  }));
  const stream = await streamOfClient('data: {}\n\n'.repeat(chunks) + DONE, () => ({
    choices: [{ index: 0, delta: { list: entries.splice(0, size) } }],
  }));

  await readAll(stream);
  const whole = await stream.finalCompletion();

  expect(whole.choices[0]?.message).toHaveProperty('list.length', 10_000);
  expect(reads).toBeLessThanOrEqual(2 * 10_000);
});

test('finalCompletion() joins undocumented fields: null changes none, and another kind of value replaces one', async () => {
  const call = (fields: object) => ({ tool_calls: [{ index: 0, ...fields }] });
  const empty = { content: null, refusal: null, note: 'x', score: 1, list: [1] };
  const stream = await streamOf(
    events(
      { ...empty, ...call({ id: 'a', function: { name: 'tide' } }) },
      { ...call({ id: null, function: { name: null, arguments: '{' } }), note: { y: 1 }, score: 2, list: null },
      { ...call({ function: { arguments: '}' } }), note: 'z', list: [2, { index: 0, text: 'a' }, { text: 'b' }] },
      { note: ' rises', list: [{ index: 0, text: 'c' }, 3] },
    ),
  );

  const message = (await stream.finalCompletion()).choices[0]?.message;

  expect(message).toEqual({
    ...{ role: 'assistant', content: '', refusal: null, note: 'z rises', score: 2 },
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'tide', arguments: '{}' } }],
    list: [1, 2, { index: 0, text: 'ac' }, { text: 'b' }, 3],
  });
});

/** An event per text, which writes each half of a character as an escape. */
const halves = (...texts: string[]): string => texts.map((content) => text(content)).join('');

test('half a character that stays alone is U+FFFD in partial as well', async () => {
  const { error } = await readAll(await streamOf(halves('\ude00a\ud83d', 'b', '\ud83d')));

  expect((error as StreamTruncatedError).partial?.choices[0]?.message.content).toBe('\ufffda\ufffdb\ufffd');
});

test('the texts of textStream are the text of finalCompletion(), wherever the service splits it', async () => {
  const unit = fc.constantFrom('a', 'é', '\ud83d', '\ude00', '😀', '\ufffd');
  const pieces = fc.array(fc.string({ unit, maxLength: 4 }), { maxLength: 8 });

  await fc.assert(
    fc.asyncProperty(pieces, async (texts) => {
      const stream = await streamOf(halves(...texts) + finish() + DONE);
      let read = '';
      for await (const piece of stream.textStream) {
        expect(piece.isWellFormed()).toBe(true);
        read += piece;
      }

      expect(read).toBe(texts.join('').toWellFormed());
      expect((await stream.finalCompletion()).choices[0]?.message.content).toBe(read);
    }),
    { numRuns: 200 },
  );
});

test('joining changes no chunk, and a field __proto__ sets no prototype', async () => {
  const stream = await streamOf(
    events(
      { list: [{ index: 0, text: 'a' }] },
      JSON.parse('{"list":[{"index":0,"text":"b"}],"__proto__":{"polluted":true}}'),
    ),
  );

  const { chunks } = await readAll(stream);
  const message = (await stream.finalCompletion()).choices[0]?.message;

  expect(chunks.slice(0, 2).map(({ choices }) => choices[0]?.delta)).toMatchObject([
    { list: [{ text: 'a' }] },
    { list: [{ text: 'b' }] },
  ]);
  expect(message).toMatchObject({ list: [{ index: 0, text: 'ab' }] });
  expect(Object.getPrototypeOf(message)).toBe(Object.prototype);
  expect(message).not.toHaveProperty('polluted');
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
