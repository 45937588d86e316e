import {
  APIConnectionError,
  type APIError,
  ContextGatewayError,
  ResponseValidationError,
  StreamError,
  StreamTruncatedError,
} from 'context-gateway';
import { expect } from 'vitest';
import { type Bench, decoding, failureOf, PARTIAL, readAll, type StreamCase } from '../bench.js';
import { chunk, DONE, END, event, finish, RHINE, type Script, send, stream, text, WAIT } from '../script.js';

const EVENTS = { 'content-type': 'text/event-stream' };
const JSON_BODY = { 'content-type': 'application/json' };
const answer = (headers: Readonly<Record<string, string>>, body: string, status = 200): Script => ({
  status,
  headers,
  steps: body === '' ? [END] : [send(body), END],
});
const events = (...parts: string[]): Script => answer(EVENTS, parts.join(''));
const zipped = (...steps: Script['steps']): Script => ({ compress: 'gzip', steps });
const untilClose = (body: string): Script => ({ framing: 'close', steps: [send(body), { end: 'fin' }] });

/** Cases with the same outcome: what the service sends, by title. */
const all = (run: StreamCase['run'], answers: Readonly<Record<string, Script>>): StreamCase[] =>
  Object.entries(answers).map(([title, script]) => ({ title, answers: script, run }));

/** The stream is read to its end, and the completion is complete. */
const completes = (expected = 'The Rhine.') => {
  return async (bench: Bench): Promise<void> => {
    const stream = await bench.open();

    const { text, error } = await readAll(stream);

    expect(error).toBeUndefined();
    expect(text).toBe(expected);
    const whole = await stream.finalCompletion();
    expect(whole.choices[0]?.message.content).toBe(expected);
    expect(bench.time.pending).toBeLessThanOrEqual(1); // the only timer allowed is that of a rest still being read
  };
};

/** Reading throws this error, with the partial completion. */
const throws = (
  ErrorClass: abstract new (...args: never[]) => ContextGatewayError,
  facts: object,
  partial = 'The ',
) => {
  return async (bench: Bench): Promise<void> => {
    const stream = await bench.open();

    const { text, error } = await readAll(stream);

    expect(error).toBeInstanceOf(ErrorClass);
    expect(error).toMatchObject(facts);
    expect(text).toBe(partial);
    expect((error as ContextGatewayError).partial?.choices[0]?.message.content ?? '').toBe(partial);
    expect((error as ContextGatewayError).attempts).toMatchObject([{ status: 200 }]);
    expect(await failureOf(stream.finalCompletion())).toBe(error);
    expect(bench.time.pending).toBe(0);
  };
};

/** The call rejects without a stream. */
const rejects = (ErrorClass: abstract new (...args: never[]) => ContextGatewayError, facts: object) => {
  return async (bench: Bench): Promise<void> => {
    const error = await failureOf(bench.open());

    expect(error).toBeInstanceOf(ErrorClass);
    expect(error).toMatchObject(facts);
    expect((error as ContextGatewayError).attempts).toHaveLength(1);
    expect((await bench.report()).requests).toBe(1);
    expect(bench.time.pending).toBe(0);
  };
};

const overloaded = { error: { message: 'The model is overloaded.', type: 'overloaded_error', code: 'overloaded' } };
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_767_600_000,
  model: 'atlas-small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'The Rhine.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
};

/** Cases about when a completion is complete, and what happens otherwise. */
export const endingCases: readonly StreamCase[] = [
  ...all(completes('Größe 漢'), {
    'reads UTF-8 whatever charset the content type has': answer(
      { 'content-type': 'text/event-stream; charset=windows-1252' },
      text('Größe 漢') + DONE,
    ),
  }),
  ...all(completes(), {
    'delivers a last event without a blank line, and is complete by its finish_reason': events(
      text('The Rhine.') + finish().trimEnd(),
    ),
    'is complete if the body is cut off after every finish_reason': events(text('The Rhine.'), finish(), 'data: [DO'),
    'ends at a [DONE] with spaces': events(text('The Rhine.'), 'data:  [DONE] \n\n'),
    'ends at a [DONE] without a blank line': events(text('The Rhine.'), 'data: [DONE]'),
    'ignores everything after [DONE]': events(RHINE, 'data: {"error":{"message":"late"}}\n\n\u0000garbage\n\n'),
    'reads a complete body delimited by its connection': untilClose(RHINE),
    'is complete if a compressed body is cut off after the completion': zipped(send(RHINE), { end: 'short' }),
    'treats error: null as no error': events(
      event(chunk([{ index: 0, delta: { content: 'The Rhine.' } }], { error: null })),
      DONE,
    ),
    'reads a choice that has message instead of delta': events(
      event(chunk([{ index: 0, message: { role: 'assistant', content: 'The Rhine.' } }])),
      DONE,
    ),
    'detects events by their first bytes if there is no content type': answer({}, RHINE),
    'detects JSON by its first bytes if there is no content type': answer({}, JSON.stringify(completion)),
    'ignores 103 responses and trailers': {
      before: 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n',
      steps: [send(RHINE), { end: 'whole', trailers: 'x-cost: 1\r\n' }],
    },
  }),
  ...all(throws(StreamTruncatedError, {}, ''), {
    'throws if no event arrives': events(),
    'throws for an empty body without a content type': answer({}, ''),
  }),
  ...all(throws(StreamTruncatedError, { retryable: true }), {
    'throws for a last event that is cut off, and does not deliver it': events(
      text('The '),
      text('Rhine.').slice(0, -20),
    ),
    'throws if a body delimited by its connection ends before the completion': untilClose(text('The ')),
    'throws if a compressed body is cut off before the completion ends': zipped(send(text('The ')), { end: 'short' }),
  }),
  {
    title: 'ends the loop at [DONE] although the connection stays open, and closes it',
    answers: stream(send(RHINE)),
    run: async (bench) => {
      await completes()(bench);
      expect((await bench.report()).open).toBe(1);
      await bench.time.advance(100);
      await bench.connectionsGone();
    },
  },
  {
    title: 'closes a connection that keeps sending after [DONE]',
    // More than a browser holds for a page (2 MB in Chromium), or a slow page could get all of it with the first event.
    answers: stream(send(RHINE), { send: ': more\n\n'.repeat(1_000), times: 2_000 }),
    run: async (bench) => {
      await completes()(bench);
      await bench.connectionsGone();
    },
  },
  {
    title: 'is not complete while a choice has no finish_reason',
    answers: events(text('The '), text('Une ', 1), finish()),
    run: async (bench) => {
      const { error } = await readAll(await bench.open());

      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect((error as StreamTruncatedError).partial?.choices).toEqual([
        { index: 0, message: { role: 'assistant', content: 'The ' }, finish_reason: 'stop' },
        { index: 1, message: { role: 'assistant', content: 'Une ' }, finish_reason: null },
      ]);
    },
  },
  {
    title: 'throws if the body ends before the completion, with the partial completion',
    answers: events(text('The ')),
    run: throws(StreamTruncatedError, {
      retryable: true,
      partial: {
        id: 'chatcmpl-1',
        model: 'atlas-small',
        created: 1_767_600_000,
        choices: [{ index: 0, message: { role: 'assistant', content: 'The ' }, finish_reason: null }],
      },
    }),
  },
  ...(['reset', 'fin'] as const).map((end) => ({
    title: `throws a connection error if a chunked body ends with a ${end}, with the partial completion`,
    ...(end === 'fin' && { notIn: 'webkit' as const }),
    answers: stream(send(text('The ')), WAIT, { end }),
    run: async (bench: Bench) => {
      const stream = await bench.open();
      const iterator = stream[Symbol.asyncIterator]();
      expect((await iterator.next()).value?.choices[0]?.delta.content).toBe('The ');

      await bench.go();
      const error = await failureOf(iterator.next());

      expect(error).toBeInstanceOf(APIConnectionError);
      expect(error).toMatchObject({ phase: 'body', sent: 'yes', attempts: [{ status: 200 }], ...PARTIAL });
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
      expect((await bench.report()).requests).toBe(1);
    },
  })),
  ...(['gzip', 'deflate', 'br'] as const).map((compress) => ({
    title: `delivers each event compressed with ${compress} as soon as it is sent`,
    answers: { compress, steps: [send(text('The ')), WAIT, send(text('Rhine.')), WAIT, send(finish(), DONE), END] },
    run: async (bench: Bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();

      expect((await iterator.next()).value?.choices[0]?.delta.content).toBe('The ');
      await bench.go();
      expect((await iterator.next()).value?.choices[0]?.delta.content).toBe('Rhine.');
      await bench.go();
      expect((await iterator.next()).value?.choices[0]?.finish_reason).toBe('stop');
      expect((await iterator.next()).done).toBe(true);
    },
  })),
  ...(['undici', 'fetch'] as const).map((engine) => ({
    title: 'throws a connection error for damaged compressed bytes',
    answers: {
      compress: 'gzip' as const,
      steps: [send(text('The ')), WAIT, { bytes: Array.from({ length: 64 }, () => 0xff) }, END],
    },
    options: { streamIdleTimeout: 1_000 },
    engine,
    run: async (bench: Bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();
      await iterator.next();

      await bench.go();
      const failure = failureOf(iterator.next());
      // The fetch of some platforms never reports damaged bytes, so the stream is just silent.
      if (engine === 'fetch') await later(bench, 1_000);
      const error = await failure;

      expect(error).toBeInstanceOf(APIConnectionError);
      expect(error).toMatchObject({ sent: 'yes', ...PARTIAL });
    },
  })),
  {
    title: 'throws a StreamError for an error event, and closes the connection',
    answers: stream(send(text('The '), `event: error\ndata: ${JSON.stringify(overloaded)}\n\n`)),
    run: async (bench) => {
      await throws(StreamError, {
        status: 200,
        area: 'gateway',
        type: 'overloaded_error',
        code: 'overloaded',
        retryable: false,
        message: 'The model is overloaded (POST /v1/chat/completions).',
      })(bench);
      await bench.connectionsGone();
    },
  },
  ...all(throws(StreamError, { type: 'overloaded_error', body: overloaded }), {
    'throws a StreamError for an event with an error object': events(text('The '), event(overloaded)),
  }),
  {
    title: 'throws a StreamError for an error event that is not JSON, and shows only one line of it',
    answers: events(text('The '), `event: error\ndata: upstream ${'x'.repeat(5_000)}\n\n`),
    run: async (bench) => {
      const { error } = await readAll(await bench.open());

      expect(error).toBeInstanceOf(StreamError);
      expect((error as APIError).message.length).toBeLessThan(400);
      expect((error as APIError).message).toMatch(/^upstream x+…/);
    },
  },
  ...all(rejects(ContextGatewayError, { name: 'APIError', status: 200, type: 'overloaded_error', body: overloaded }), {
    'throws the error of a JSON body with status 200': answer(JSON_BODY, JSON.stringify(overloaded)),
  }),
  {
    title: 'delivers a whole completion as one chunk',
    answers: answer(JSON_BODY, JSON.stringify(completion)),
    run: async (bench) => {
      const stream = await bench.open();

      const { chunks, text } = await readAll(stream);

      expect(text).toBe('The Rhine.');
      expect(chunks).toMatchObject([{ object: 'chat.completion.chunk', choices: [{ finish_reason: 'stop' }] }]);
      expect(await stream.finalCompletion()).toEqual(completion);
    },
  },
  {
    title: 'reads a whole completion of 5 MB, and does not pass it to decodeChunk',
    answers: {
      headers: JSON_BODY,
      steps: [
        send('{"padding":"'),
        { send: 'x'.repeat(1024), times: 5_120 },
        send('",', JSON.stringify(completion).slice(1)),
        END,
      ],
    },
    options: decoding(() => {
      throw new Error('a whole completion is not an event');
    }),
    run: completes(),
  },
  {
    title: 'throws an idle timeout for a whole completion that was not read in time',
    answers: answer(JSON_BODY, JSON.stringify(completion)),
    options: { streamIdleTimeout: 1_000 },
    run: async (bench) => {
      const stream = await bench.open();

      await bench.time.advance(1_000);

      expect(bench.time.pending).toBe(0);
      const { error } = await readAll(stream);
      expect(error).toMatchObject({ kind: 'idle', message: expect.stringContaining('was not read within') });
    },
  },
  ...all(rejects(ResponseValidationError, { body: { hello: 1 } }), {
    'rejects JSON that is neither a completion nor an error': answer(JSON_BODY, '{"hello":1}'),
  }),
  ...all(rejects(ResponseValidationError, { message: expect.stringContaining('an empty body') }), {
    'rejects an empty JSON body': answer(JSON_BODY, ''),
  }),
  ...all(rejects(ResponseValidationError, { body: '<h1>Welcome</h1>', retryable: false }), {
    'rejects a page, with its body': answer({ 'content-type': 'text/html' }, '<h1>Welcome</h1>'),
    'rejects a body whose content type is empty': answer({ 'content-type': ';' }, '<h1>Welcome</h1>'),
  }),
  ...all(rejects(ResponseValidationError, { message: expect.stringContaining('text/html') }), {
    'detects a page by its first bytes if there is no content type': answer({}, '<!doctype html><p>Hello'),
  }),
  {
    title: 'does not wait for the end of a page sent instead of a stream',
    answers: { headers: { 'content-type': 'text/html' }, steps: [send('<h1>Welcome')] },
    run: async (bench) => {
      const call = failureOf(bench.open());
      const error = await Promise.race([call, later(bench, 1_000).then(() => call)]);

      expect(error).toBeInstanceOf(ResponseValidationError);
      await bench.connectionsGone();
    },
  },
  ...[204, 205, 299].map((status) => ({
    title: `rejects a stream with status ${status}`,
    answers: answer(EVENTS, status === 299 ? RHINE : '', status),
    run: rejects(ResponseValidationError, { message: expect.stringContaining(`(status ${status})`) }),
  })),
  ...all(rejects(ContextGatewayError, { name: 'AuthenticationError', status: 401, type: 'overloaded_error' }), {
    'rejects with the error of a status instead of a stream': answer(JSON_BODY, JSON.stringify(overloaded), 401),
  }),
  ...[429, 503].map((status) => ({
    title: `retries after ${status}, because the service did not start`,
    answers: [answer(JSON_BODY, JSON.stringify(overloaded), status), events(RHINE)],
    options: { maxRetries: 1 },
    run: async (bench: Bench) => {
      const opened = bench.open();
      const stream = await Promise.race([opened, later(bench, 10_000).then(() => opened)]);

      expect((await readAll(stream)).text).toBe('The Rhine.');
      expect(stream.response.attempts).toMatchObject([{ status }, { status: 200 }]);
      expect((await bench.report()).requests).toBe(2);
    },
  })),
  ...[
    {
      what: 'an error inside the stream',
      steps: [send(event({ error: { type: 'rate_limit_error', code: '429' } })), END],
    },
    { what: 'a broken stream', steps: [send(text('The ')), { end: 'fin' } as const] },
    { what: 'a truncated stream', steps: [send(text('The ')), END] },
    { what: 'a stream without an event', steps: [END] },
  ].map(({ what, steps }) => ({
    title: `does not retry after ${what}`,
    answers: [stream(...steps), events(RHINE)],
    options: { maxRetries: 5 },
    run: async (bench: Bench) => {
      const { error } = await readAll(await bench.open());
      await bench.time.advance(60_000);

      expect(error).toBeInstanceOf(ContextGatewayError);
      expect((await bench.report()).requests).toBe(1);
    },
  })),
  {
    title: 'throws for an event that is not JSON, without its text in the message',
    answers: events(text('The '), 'data: {"secret prompt\n\n', RHINE),
    run: async (bench) => {
      const { error } = await readAll(await bench.open());

      expect(error).toBeInstanceOf(ResponseValidationError);
      expect(String((error as Error).stack)).not.toContain('secret');
      expect(error).toMatchObject({ body: '{"secret prompt', ...PARTIAL });
    },
  },
  ...[{ choices: {} }, { choices: [{ index: 0, delta: { content: 5 } }] }, []].map((wrong) => ({
    title: `throws for ${JSON.stringify(wrong)} instead of a chunk`,
    answers: events(text('The '), event(wrong), DONE),
    run: throws(ResponseValidationError, { retryable: false }),
  })),
  {
    title: "delivers invalid chunks with validation: 'report', and reads on",
    answers: events(
      text('The '),
      event({ choices: {} }).repeat(20),
      event({ choices: 1 }).repeat(20),
      event({ choices: [null, { index: 0, delta: { content: 5 } }, { index: 'x', delta: {} }] }),
      event(chunk([{ index: 0, delta: { content: 'Rhine.' } }], { created: 1.5 })),
      DONE,
    ),
    options: { validation: 'report' },
    run: async (bench) => {
      const stream = await bench.open();
      const pieces = [];
      for await (const piece of stream.textStream) pieces.push(piece);

      expect(pieces.join('')).toBe('The Rhine.');
      expect((await stream.finalCompletion()).choices[0]?.message.content).toBe('The Rhine.');
      expect(stream.metrics.chunks).toBe(43);
    },
  },
  {
    title: 'keeps unknown fields, finish reasons and roles, and adds no usage',
    answers: events(
      event(
        chunk(
          [{ index: 0, delta: { role: 'narrator', content: 'Rhine', mood: 1 }, finish_reason: 'bored', at: null }],
          {
            system_fingerprint: 'f',
          },
        ),
      ),
      DONE,
    ),
    run: async (bench) => {
      const stream = await bench.open();

      const { chunks } = await readAll(stream);
      const whole = await stream.finalCompletion();

      expect(chunks[0]).toMatchObject({ system_fingerprint: 'f', choices: [{ delta: { mood: 1 }, at: null }] });
      expect(whole.choices[0]).toMatchObject({ finish_reason: 'bored', message: { role: 'narrator' } });
      expect('usage' in whole).toBe(false);
    },
  },
  {
    title: 'delivers a chunk without choices, and keeps its usage for finalCompletion',
    answers: events(
      event(chunk([])),
      text('The Rhine.'),
      finish(),
      event(chunk([], { usage: completion.usage })),
      DONE,
    ),
    run: async (bench) => {
      const stream = await bench.open();

      const { chunks } = await readAll(stream);

      expect(chunks.map(({ choices }) => choices.length)).toEqual([0, 1, 1, 0]);
      expect(chunks.at(-1)?.usage).toEqual(completion.usage);
      expect(await stream.finalCompletion()).toEqual(completion);
    },
  },
  {
    title: 'assembles interleaved choices by their index',
    answers: events(
      text('c', 2),
      text('a', 0),
      event(
        chunk([
          { index: 1, delta: { content: 'b' } },
          { index: 0, delta: { content: 'A' } },
        ]),
      ),
      text('B', 1),
      finish('stop', 0),
      finish('length', 1),
      finish('stop', 2),
    ),
    run: async (bench) => {
      const stream = await bench.open();
      const pieces = [];
      for await (const piece of stream.textStream) pieces.push(piece);

      expect(pieces).toEqual(['a', 'A']);
      expect((await stream.finalCompletion()).choices).toEqual([
        { index: 0, message: { role: 'assistant', content: 'aA' }, finish_reason: 'stop' },
        { index: 1, message: { role: 'assistant', content: 'bB' }, finish_reason: 'length' },
        { index: 2, message: { role: 'assistant', content: 'c' }, finish_reason: 'stop' },
      ]);
    },
  },
  ...[-1, 1e9, 0.5, '__proto__'].map((index) => ({
    title: `throws for a choice with index ${JSON.stringify(index)}`,
    answers: events(text('The '), event(chunk([{ index, delta: { content: 'x' } }]))),
    run: throws(ResponseValidationError, {}),
  })),
  {
    title: 'delivers a second finish_reason, and content after the first',
    answers: events(text('The '), finish(), text('Rhine.'), finish('length'), DONE),
    run: async (bench) => {
      const stream = await bench.open();

      const { chunks, text } = await readAll(stream);

      expect(text).toBe('The Rhine.');
      expect(chunks).toHaveLength(4);
      expect((await stream.finalCompletion()).choices[0]?.finish_reason).toBe('length');
    },
  },
];

/** Advances time in small steps, so that a timer that starts on the way fires as well. */
async function later(bench: Bench, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) await bench.time.advance(100);
}
