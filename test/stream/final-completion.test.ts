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
