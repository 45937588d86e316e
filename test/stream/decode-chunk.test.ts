import { type ServerSentEvent, StreamTruncatedError } from 'context-gateway';
import { expect, test } from 'vitest';
import { readAll } from './bench.js';
import { streamOfClient } from './canned.js';
import { watchProcess } from './measure.js';
import { DONE, text } from './script.js';

watchProcess();

const CHUNK = { choices: [{ index: 0, delta: { content: 'a' } }] };
const mine = new Error('mine');

test('decodeChunk gets every event except [DONE], and its result is the chunk', async () => {
  const body = `event: start\ndata: {}\n\nevent: token\ndata: The \n\ndata: Rhine.\n\ndata: END\n\n${text('late')}`;

  const stream = await streamOfClient(body, ({ event, data }) => {
    if (data === 'END') return 'done';
    if (event === 'start') return undefined;
    return { choices: [{ index: 0, delta: { content: data } }] };
  });

  const { text: said, error } = await readAll(stream);
  expect([said, error]).toEqual(['The Rhine.', undefined]);
  expect((await stream.finalCompletion()).choices[0]).toMatchObject({ finish_reason: 'stop' });
});

const throwing = (thrown: unknown) => () => {
  throw thrown;
};
const error = (name: string, message: RegExp, more = {}) => ({
  name,
  message: expect.stringMatching(message),
  ...more,
});
const isAsync = error('ResponseValidationError', /decodeChunk must not be async/);

test.each<{
  what: string;
  body: string;
  decodeChunk?: (event: ServerSentEvent) => unknown;
  error: object;
  chunks?: number;
}>([
  {
    what: 'a complete stream without a chunk',
    body: `data: {"text":"The "}\n\ndata: {"text":"Rhine."}\n\n${DONE}`,
    error: error('ResponseValidationError', /pass the option decodeChunk/, {
      body: '{"text":"The "}',
    }),
  },
  {
    what: 'a stream of another form without [DONE]',
    body: '{"message":{"content":"The "},"done":false}\n{"done":true}\n',
    error: error('ResponseValidationError', /None of the events is a chat.completion.chunk/),
  },
  {
    what: 'a stream that ends after a heartbeat and a chunk',
    body: `data: {"type":"ping"}\n\n${text('The ')}`,
    error: error('StreamTruncatedError', /^The stream ended before the completion/),
    chunks: 1,
  },
  {
    what: 'an invalid result of decodeChunk',
    body: text('The '),
    decodeChunk: () => ({ choices: [{ index: -1, delta: {} }] }),
    error: { name: 'ResponseValidationError' },
  },
  {
    what: 'a decodeChunk that throws',
    body: `${text('The ')}data: odd\n\n`,
    decodeChunk: ({ data }) => JSON.parse(data),
    error: {
      name: 'ResponseValidationError',
      body: 'odd',
      cause: expect.any(SyntaxError),
      partial: { choices: [{ message: { content: 'The ' } }] },
    },
    chunks: 1,
  },
  {
    what: 'a decodeChunk that throws an error of this package',
    body: text('The '),
    decodeChunk: throwing(new StreamTruncatedError('the service gave up')),
    error: error('StreamTruncatedError', /the service gave up/, { attempts: { length: 1 } }),
  },
  {
    what: 'an event that is cut off, on which decodeChunk throws',
    body: 'data: {"choices":[{"index":0,"delta":{"content":"The ',
    decodeChunk: ({ data }) => JSON.parse(data),
    error: { name: 'StreamTruncatedError' },
  },
  {
    what: 'an error event, which decodeChunk does not get',
    body: 'event: error\ndata: {"error":{"message":"Overloaded."}}\n\n',
    decodeChunk: () => undefined,
    error: { name: 'StreamError' },
  },
  { what: 'an async decodeChunk', body: text('a'), decodeChunk: async () => CHUNK, error: isAsync },
  {
    what: 'an async decodeChunk that throws',
    body: text('a'),
    decodeChunk: () => Promise.reject(mine),
    error: isAsync,
  },
  {
    what: 'a decodeChunk that returns a thenable',
    body: text('a'),
    // biome-ignore lint/suspicious/noThenProperty: that is the case
    decodeChunk: () => ({ ...CHUNK, then: () => {} }),
    error: isAsync,
  },
  ...[mine, null].map((thrown) => ({
    what: `a chunk whose field throws ${thrown}`,
    body: text('a'),
    decodeChunk: () => Object.defineProperty({}, 'choices', { enumerable: true, get: throwing(thrown) }),
    error: { name: 'ResponseValidationError', cause: thrown },
  })),
])('$what fails the stream, and not the process', async ({ body, decodeChunk, error: expected, chunks: count = 0 }) => {
  const { error, chunks } = await readAll(await streamOfClient(body, decodeChunk));
  await new Promise((resolve) => setTimeout(resolve, 0));

  expect(error).toMatchObject(expected);
  expect(chunks).toHaveLength(count);
});
