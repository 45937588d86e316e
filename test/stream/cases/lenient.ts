import type { ClientEvent } from 'context-gateway';
import { expect } from 'vitest';
import { type Bench, check, readAll } from '../bench.js';
import { chunk, DONE, END, event, finish, PARAMS, RHINE, type Script, send, text } from '../script.js';

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

const events = (...parts: string[]): Script => ({ steps: [send(...parts), END] });
const typed = (type: string, ...parts: string[]): Script => ({
  ...events(...parts),
  headers: { 'content-type': type },
});

/** The whole reply is read, with this usage. */
const reads = (usage?: object) => async (bench: Bench) => {
  const { stream, text, error } = await bench.read();

  expect([text, error]).toEqual(['The Rhine.', undefined]);
  expect((await stream.finalCompletion()).usage).toEqual(usage);
};

const reports = (message: string) => async (bench: Bench) => {
  const { error } = await bench.read();

  expect(error).toMatchObject({ name: 'StreamError', message: expect.stringContaining(message) });
};

/** Events without a chunk, which nobody documents, but services and proxies send. */
const HEARTBEATS = [
  ...['data:\n\n', 'data: null\n\n', 'data: {}\n\n', 'data: {"type": "ping"}\n\n'],
  ...['event: keepalive\ndata: keepalive\n\n', 'data: {"id":"chatcmpl-1","choices":null,"usage":null}\n\n'],
];

/** Usage that is not whole. */
const PARTIAL_USAGE = [{}, 'none', { prompt_tokens: 11, total_tokens: 11 }, { ...USAGE, prompt_tokens: -1 }];

const SAID = text('The ') + text('Rhine.');

export const lenientCases = [
  ...HEARTBEATS.map((beat) =>
    check(`skips ${JSON.stringify(beat)}`, events(beat, SAID, beat, finish(), beat, DONE), reads()),
  ),
  check(
    'skips an event after the last chunk, where [DONE] is missing',
    events(SAID, finish(), 'event: end\ndata: {}\n\n'),
    reads(),
  ),
  check(
    'reports the first skipped event of a stream',
    events('event: ping\ndata:\n\n'.repeat(3), SAID, finish(), DONE),
    async (bench) => {
      const seen: ClientEvent[] = [];
      const client = bench.client.withOptions({ onEvent: (one) => seen.push(one) });
      await readAll(await client.chat.completions.create(PARAMS));

      expect(seen.filter(({ type }) => type === 'skipped')).toMatchObject([{ event: 'ping' }]);
    },
  ),
  ...PARTIAL_USAGE.map((usage) =>
    check(
      `reads a stream whose usage is ${JSON.stringify(usage)}`,
      events(event(chunk([{ index: 0, delta: { content: 'The Rhine.' } }], { usage })), finish(), DONE),
      reads(),
    ),
  ),
  ...[{}, { choices: null }, { choices: [] }].map((more) =>
    check(
      `reads usage beside ${JSON.stringify(more)}`,
      events(SAID, finish(), event({ id: 'chatcmpl-1', ...more, usage: USAGE }), DONE),
      reads(USAGE),
    ),
  ),
  ...[{ delta: null }, {}, { index: null, delta: {} }].map((choice) =>
    check(
      `reads a last chunk whose choice is ${JSON.stringify(choice)}`,
      events(SAID, event(chunk([{ index: 0, ...choice, finish_reason: 'stop' }])), DONE),
      reads(),
    ),
  ),
  ...[
    ...['application/octet-stream', 'text/plain; charset=utf-8', 'application/json', 'text/html'],
    ...['text/event-stream;', 'text/event-stream, text/event-stream', 'Text/Event-Stream'],
  ].map((type) => check(`reads events labelled ${type}`, typed(type, RHINE), reads())),
  ...[': hello\n\n', '\n\n', 'event: message\n', 'id: 1\n', 'retry: 10\n\n'].map((start) =>
    check(
      `reads events labelled text/plain that begin with ${JSON.stringify(start)}`,
      typed('text/plain', start, RHINE),
      reads(),
    ),
  ),
  ...[
    { error: 'The model is busy.' },
    { error: { message: 'The model is busy.' } },
    { message: 'The model is busy.', code: 503 },
  ].flatMap((error) => [
    check(
      `throws the error that an event reports: ${JSON.stringify(error)}`,
      events(text('The '), event(error), DONE),
      reports('The model is busy'),
    ),
    check(
      `throws the error that a line of its own reports: ${JSON.stringify(error)}`,
      events(text('The '), `${JSON.stringify(error)}\n\n`),
      reports('The model is busy'),
    ),
  ]),
];
