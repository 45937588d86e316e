import type { ClientEvent } from 'context-gateway';
import { expect } from 'vitest';
import { type Bench, readAll, type StreamCase } from '../bench.js';
import { chunk, DONE, END, event, finish, RHINE, type Script, send, text } from '../script.js';

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

const events = (...parts: string[]): Script => ({ steps: [send(...parts), END] });
const typed = (type: string, ...steps: Script['steps']): Script => ({ headers: { 'content-type': type }, steps });
const facts = (more: object): string => event({ id: 'chatcmpl-1', ...more });

/** The whole reply is read, with this usage. */
const reads = (usage?: object) => async (bench: Bench) => {
  const opened = await bench.open();

  const { text, error } = await readAll(opened);

  expect(error).toBeUndefined();
  expect(text).toBe('The Rhine.');
  expect((await opened.finalCompletion()).usage).toEqual(usage);
};

const reports = (message: string) => async (bench: Bench) => {
  const { error } = await readAll(await bench.open());

  expect(error).toMatchObject({ name: 'StreamError', message: expect.stringContaining(message) });
};

/** Events without a chunk, which nobody documents, but services and proxies send. */
const HEARTBEATS = [
  ...['data:\n\n', 'data: null\n\n', 'data: {}\n\n', 'data: {"type": "ping"}\n\n'],
  ...['event: keepalive\ndata: keepalive\n\n', 'data: {"id":"chatcmpl-1","choices":null,"usage":null}\n\n'],
];

/** Usage that is not whole. */
const PARTIAL_USAGE = [{}, 'none', { prompt_tokens: 11, total_tokens: 11 }, { ...USAGE, prompt_tokens: 1.5 }];

export const lenientCases: readonly StreamCase[] = [
  ...HEARTBEATS.map((beat) => ({
    title: `skips ${JSON.stringify(beat)}`,
    answers: events(beat, text('The '), beat, text('Rhine.'), finish(), beat, DONE),
    run: reads(),
  })),
  {
    title: 'skips an event after the last chunk, where [DONE] is missing',
    answers: events(text('The '), text('Rhine.'), finish(), 'event: end\ndata: {}\n\n'),
    run: reads(),
  },
  {
    title: 'reports the first skipped event of a stream',
    answers: events(text('The '), 'event: ping\ndata:\n\n'.repeat(3), text('Rhine.'), finish(), DONE),
    run: async (bench) => {
      const seen: ClientEvent[] = [];
      bench.client.subscribe((one) => seen.push(one));

      await readAll(await bench.open());

      expect(seen.filter(({ type }) => type === 'skipped')).toMatchObject([{ event: 'ping' }]);
    },
  },
  ...PARTIAL_USAGE.map((usage) => ({
    title: `reads a stream whose usage is ${JSON.stringify(usage)}`,
    answers: events(
      event(chunk([{ index: 0, delta: { content: 'The ' } }], { usage })),
      event(chunk([{ index: 0, delta: { content: 'Rhine.' } }], { usage })),
      event(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], { usage })),
      DONE,
    ),
    run: reads(),
  })),
  ...[{}, { choices: null }, { choices: [] }].map((more) => ({
    title: `reads usage beside ${JSON.stringify(more)}`,
    answers: events(text('The '), text('Rhine.'), finish(), facts({ ...more, usage: USAGE }), DONE),
    run: reads(USAGE),
  })),
  ...[{ delta: null }, {}, { index: null, delta: {} }].map((choice) => ({
    title: `reads a last chunk whose choice is ${JSON.stringify(choice)}`,
    answers: events(
      ...[text('The '), text('Rhine.')],
      event(chunk([{ index: 0, ...choice, finish_reason: 'stop' }])),
      DONE,
    ),
    run: reads(),
  })),
  ...[
    ...['application/octet-stream', 'text/plain; charset=utf-8', 'application/json', 'text/html'],
    ...['text/event-stream;', 'text/event-stream, text/event-stream', 'Text/Event-Stream'],
  ].map((type) => ({ title: `reads events labelled ${type}`, answers: typed(type, send(RHINE), END), run: reads() })),
  ...[': hello\n\n', '\n\n', 'event: message\n', 'id: 1\n', 'retry: 10\n\n'].map((start) => ({
    title: `reads events labelled text/plain that begin with ${JSON.stringify(start)}`,
    answers: typed('text/plain', send(start), send(RHINE), END),
    run: reads(),
  })),
  ...[
    { error: 'The model is busy.' },
    { error: { message: 'The model is busy.' } },
    { message: 'The model is busy.', code: 503 },
  ].flatMap((error) => [
    {
      title: `throws the error that an event reports: ${JSON.stringify(error)}`,
      answers: events(text('The '), event(error), DONE),
      run: reports('The model is busy'),
    },
    {
      title: `throws the error that a line of its own reports: ${JSON.stringify(error)}`,
      answers: events(text('The '), `${JSON.stringify(error)}\n\n`),
      run: reports('The model is busy'),
    },
  ]),
];
