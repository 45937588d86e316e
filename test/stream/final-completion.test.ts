import {
  type ChatCompletionStream,
  readChatCompletionStream,
  StreamConsumedError,
  StreamTruncatedError,
} from 'context-gateway';
import { expect, test } from 'vitest';
import { failureOf, readAll } from './bench.js';
import { watchProcess } from './measure.js';
import { RHINE, text } from './script.js';

watchProcess();

const open = (events: string): Promise<ChatCompletionStream> =>
  readChatCompletionStream(new Response(events, { headers: { 'content-type': 'text/event-stream' } }));
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** The ways to read a stream. */
const readers: { name: string; read: (stream: ChatCompletionStream) => Promise<unknown> }[] = [
  {
    name: 'the chunks',
    read: async (stream) => {
      for await (const _ of stream);
    },
  },
  {
    name: 'the texts',
    read: async (stream) => {
      for await (const _ of stream.textStream);
    },
  },
  { name: 'the relay', read: (stream) => new Response(stream.toReadableStream()).text() },
];

test.each(readers)('finalCompletion() may be called right before a loop over $name', async ({ read }) => {
  const stream = await open(RHINE);

  const first = stream.finalCompletion();
  const second = stream.finalCompletion();
  await read(stream);

  expect((await first).choices[0]?.message.content).toBe('The Rhine.');
  expect(await second).toEqual(await first);
});

test('a finalCompletion() before a loop that throws causes no unhandled rejection if not awaited', async () => {
  const stream = await open(text('The '));

  const whole = stream.finalCompletion();
  const { error } = await readAll(stream);
  await turn();

  expect(error).toBeInstanceOf(StreamTruncatedError);
  expect(await failureOf(whole)).toBe(error);
});

test('a finalCompletion() before a loop that is left rejects with a StreamTruncatedError', async () => {
  const stream = await open(RHINE);

  const whole = stream.finalCompletion();
  for await (const _ of stream) break;
  await turn();

  expect(await failureOf(whole)).toBeInstanceOf(StreamTruncatedError);
});

test('a loop throws once finalCompletion() has begun to read, which still resolves', async () => {
  const stream = await open(RHINE);

  const whole = stream.finalCompletion();
  await Promise.resolve();
  const { error } = await readAll(stream);

  expect(error).toBeInstanceOf(StreamConsumedError);
  expect((await whole).choices[0]?.message.content).toBe('The Rhine.');
});

/** Events with these deltas, and the end of a stream. */
const events = (...deltas: object[]): string =>
  [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  ]
    .map(
      (fields) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields })}\n\n`,
    )
    .join('');
const call = (index: number, fields: object) => ({ tool_calls: [{ index, ...fields }] });

test('finalCompletion() joins what the API does not document, such as tool calls', async () => {
  const stream = await open(
    events(
      {
        role: 'assistant',
        content: null,
        refusal: null,
        ...call(0, { id: 'a', type: 'function', function: { name: 'tide', arguments: '' } }),
      },
      { ...call(0, { function: { arguments: '{"port":' } }), reasoning: 'The tide' },
      call(1, { id: 'b', type: 'function', function: { name: 'wind', arguments: '{}' } }),
      { ...call(0, { id: 'a', type: 'function', function: { arguments: '"Oslo"}' } }), reasoning: ' rises.' },
    ),
  );

  const whole = await stream.finalCompletion();

  expect(whole.choices).toEqual([
    {
      index: 0,
      message: {
        role: 'assistant',
        content: '',
        refusal: null,
        reasoning: 'The tide rises.',
        tool_calls: [
          { index: 0, id: 'a', type: 'function', function: { name: 'tide', arguments: '{"port":"Oslo"}' } },
          { index: 1, id: 'b', type: 'function', function: { name: 'wind', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ]);
});

test('joining changes no chunk, and a field __proto__ sets no prototype', async () => {
  const stream = await open(
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
