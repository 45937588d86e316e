import {
  APIConnectionError,
  ContextGatewayError,
  ResponseValidationError,
  StreamError,
  StreamTruncatedError,
} from 'context-gateway';
import { expect } from 'vitest';
import { changed, completion as sample } from '../../helpers/samples.js';
import { type Bench, begin, check, decoding, failureOf, PARTIAL, readAll, type StreamCase } from '../bench.js';
import { chunk, DONE, END, event, finish, IDLE, RHINE, type Script, send, stream, text, WAIT } from '../script.js';

const EVENTS = { 'content-type': 'text/event-stream' };
const JSON_BODY = { 'content-type': 'application/json' };
const PAGE = { 'content-type': 'text/html' };
const answer = (headers: Readonly<Record<string, string>>, body: string, status = 200): Script => ({
  status,
  headers,
  steps: body === '' ? [END] : [send(body), END],
});
const events = (...parts: string[]): Script => answer(EVENTS, parts.join(''));
const zipped = (...steps: Script['steps']): Script => ({ compress: 'gzip', steps });
const untilClose = (body: string): Script => ({ framing: 'close', steps: [send(body), { end: 'fin' }] });
/** An event with one choice of these fields. */
const choice = (fields: object, more?: object): string => event(chunk([{ index: 0, ...fields }], more));

/** Cases with the same outcome: what the service sends, by title. */
const all = (run: StreamCase['run'], answers: Readonly<Record<string, Script>>): StreamCase[] =>
  Object.entries(answers).map(([title, script]) => check(title, script, run));

/** The stream is read to its end, and the completion is complete. */
const completes = (expected = 'The Rhine.') => {
  return async (bench: Bench): Promise<void> => {
    const { stream, text, error } = await bench.read();

    expect([text, error]).toEqual([expected, undefined]);
    const whole = await stream.finalCompletion();
    expect(whole.choices[0]?.message.content).toBe(expected);
    expect(bench.time.pending).toBeLessThanOrEqual(1); // the only timer allowed is that of a rest still being read
  };
};

type ErrorClass = abstract new (...args: never[]) => ContextGatewayError;

/** Reading throws this error, with the partial completion. */
const throws = (Class: ErrorClass, facts: object, partial = 'The ', read = partial) => {
  return async (bench: Bench): Promise<void> => {
    const { stream, text, error } = await bench.read();

    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({ ...facts, attempts: [{ status: 200 }] });
    expect(text).toBe(read);
    expect((error as ContextGatewayError).partial?.choices[0]?.message.content ?? '').toBe(partial);
    expect(await failureOf(stream.finalCompletion())).toBe(error);
    expect(bench.time.pending).toBe(0);
  };
};

/** The call rejects without a stream. */
const rejects = (Class: ErrorClass, facts: object) => {
  return async (bench: Bench): Promise<void> => {
    const error = await failureOf(bench.open());

    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({ ...facts, attempts: { length: 1 } });
    expect((await bench.report()).requests).toBe(1);
    expect(bench.time.pending).toBe(0);
  };
};
const unreadable = (said: string) => rejects(ResponseValidationError, { message: expect.stringContaining(said) });

const overloaded = { error: { message: 'The model is overloaded.', type: 'overloaded_error', code: 'overloaded' } };
const completion = changed(sample(), ['choices', 0, 'message', 'content'], 'The Rhine.');
const WHOLE = JSON.stringify(completion);

/** Cases about when a completion is complete, and what happens otherwise. */
export const endingCases = [
  ...all(completes('Größe 漢'), {
    'reads UTF-8 whatever charset the content type has': answer(
      { 'content-type': 'text/event-stream; charset=windows-1252' },
      text('Größe 漢') + DONE,
    ),
  }),
  ...all(completes(), {
    'is complete if the body is cut off after every finish_reason': events(text('The Rhine.'), finish(), 'data: [DO'),
    'ends at a [DONE] with spaces': events(text('The Rhine.'), 'data:  [DONE] \n\n'),
    'ends at a [DONE] without a blank line': events(text('The Rhine.'), 'data: [DONE]'),
    'ignores everything after [DONE]': events(RHINE, 'data: {"error":{"message":"late"}}\n\n\u0000garbage\n\n'),
    'reads a complete body delimited by its connection': untilClose(RHINE),
    'is complete if a compressed body is cut off after the completion': zipped(send(RHINE), { end: 'short' }),
    'treats error: null as no error': events(choice({ delta: { content: 'The Rhine.' } }, { error: null }), DONE),
    'reads a message instead of a delta': events(choice({ message: { content: 'The Rhine.' } }), DONE),
    'detects events by their first bytes if there is no content type': answer({}, RHINE),
    'detects JSON by its first bytes if there is no content type': answer({}, WHOLE),
    'ignores 103 responses and trailers': {
      before: 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n',
      steps: [send(RHINE), { end: 'whole', trailers: 'x-cost: 1\r\n' }],
    },
  }),
  ...all(throws(StreamTruncatedError, {}, ''), {
    'throws if no event arrives': events(),
  }),
  ...all(rejects(ResponseValidationError, { retryable: true, message: expect.stringContaining('is empty') }), {
    'rejects an empty body without a content type': answer({}, ''),
    'rejects an empty JSON body': answer(JSON_BODY, ''),
  }),
  ...all(throws(StreamTruncatedError, { retryable: true }), {
    'throws for a last event that is cut off, and drops it': events(text('The '), text('Rhine.').slice(0, -20)),
    'throws if a body delimited by its connection ends before the completion': untilClose(text('The ')),
    'throws if a compressed body is cut off before the completion ends': zipped(send(text('The ')), { end: 'short' }),
  }),
  check('ends at [DONE] although the connection stays open, and closes it', stream(send(RHINE)), async (bench) => {
    await completes()(bench);
    expect((await bench.report()).open).toBe(1);
    await bench.time.advance(100);
    await bench.connectionsGone();
  }),
  check(
    'closes a connection that keeps sending after [DONE]',
    // More than a browser holds for a page (2 MB in Chromium), or a slow page could get all of it with the first event.
    stream(send(RHINE), { send: ': more\n\n'.repeat(1_000), times: 2_000 }),
    async (bench) => {
      await completes()(bench);
      await bench.connectionsGone();
    },
  ),
  check(
    'is not complete while a choice has no finish_reason',
    events(text('The '), text('Une ', 1), finish()),
    throws(
      StreamTruncatedError,
      {
        partial: {
          ...{ id: 'chatcmpl-1', model: 'atlas-small', created: 1_767_600_000 },
          choices: [
            { index: 0, message: { role: 'assistant', content: 'The ' }, finish_reason: 'stop' },
            { index: 1, message: { role: 'assistant', content: 'Une ' }, finish_reason: null },
          ],
        },
      },
      'The ',
      'The Une ',
    ),
  ),
  ...(['reset', 'fin'] as const).map((end) =>
    check(
      `throws a connection error if a chunked body ends with a ${end}, with the partial completion`,
      { ...(end === 'fin' && { notIn: 'webkit' as const }), answers: stream(send(text('The ')), WAIT, { end }) },
      async (bench) => {
        const iterator = await begin(bench);

        await bench.go();
        const error = await failureOf(iterator.next());

        expect(error).toBeInstanceOf(APIConnectionError);
        expect(error).toMatchObject({ phase: 'body', sent: 'yes', attempts: [{ status: 200 }], ...PARTIAL });
        expect(await iterator.next()).toEqual({ done: true, value: undefined });
        expect((await bench.report()).requests).toBe(1);
      },
    ),
  ),
  ...(['gzip', 'deflate', 'br'] as const).map((compress) =>
    check(
      `delivers each event compressed with ${compress} as soon as it is sent`,
      { compress, steps: [send(text('The ')), WAIT, send(text('Rhine.')), WAIT, send(finish(), DONE), END] },
      async (bench) => {
        const iterator = (await bench.open())[Symbol.asyncIterator]();

        expect((await iterator.next()).value?.choices[0]?.delta.content).toBe('The ');
        await bench.go();
        expect((await iterator.next()).value?.choices[0]?.delta.content).toBe('Rhine.');
        await bench.go();
        expect((await iterator.next()).value?.choices[0]?.finish_reason).toBe('stop');
        expect((await iterator.next()).done).toBe(true);
      },
    ),
  ),
  ...(['undici', 'fetch'] as const).map((engine) =>
    check(
      'throws a connection error for damaged compressed bytes',
      { engine, answers: zipped(send(text('The ')), WAIT, { bytes: Array.from({ length: 64 }, () => 0xff) }, END) },
      async (bench) => {
        const iterator = await begin(bench);

        await bench.go();
        const failure = failureOf(iterator.next());
        // The fetch of some platforms never reports damaged bytes, so the stream is just silent.
        if (engine === 'fetch') await bench.time.advance(IDLE);
        const error = await failure;

        expect(error).toBeInstanceOf(APIConnectionError);
        expect(error).toMatchObject({ sent: 'yes', ...PARTIAL });
      },
    ),
  ),
  check(
    'throws a StreamError for an error event, and closes the connection',
    stream(send(text('The '), `event: error\ndata: ${JSON.stringify(overloaded)}\n\n`)),
    async (bench) => {
      await throws(StreamError, {
        ...{ status: 200, area: 'gateway', type: 'overloaded_error', code: 'overloaded', retryable: false },
        ...{ message: 'The model is overloaded (POST /v1/chat/completions).', body: overloaded },
      })(bench);
      await bench.connectionsGone();
    },
  ),
  check(
    'throws a StreamError for an error event that is not JSON, and shows only one line of it',
    events(text('The '), `event: error\ndata: upstream ${'x'.repeat(5_000)}\n\n`),
    throws(StreamError, { message: expect.stringMatching(/^upstream x{1,300}….{0,80}$/) }),
  ),
  check(
    'throws the error of a JSON body with status 200',
    answer(JSON_BODY, JSON.stringify(overloaded)),
    rejects(ContextGatewayError, { name: 'StreamError', status: 200, type: 'overloaded_error', body: overloaded }),
  ),
  check('delivers a whole completion as one chunk', answer(JSON_BODY, WHOLE), async (bench) => {
    const { stream, chunks, text } = await bench.read();

    expect(text).toBe('The Rhine.');
    expect(chunks).toMatchObject([{ choices: [{ finish_reason: 'stop' }] }]);
    expect(await stream.finalCompletion()).toEqual(completion);
  }),
  check(
    'reads a whole completion of 5 MB, and does not pass it to decodeChunk',
    {
      answers: {
        headers: JSON_BODY,
        steps: [send('{"padding":"'), { send: 'x'.repeat(1024), times: 5_120 }, send('",', WHOLE.slice(1)), END],
      },
      options: decoding(() => {
        throw new Error('a whole completion is not an event');
      }),
    },
    completes(),
  ),
  check('throws an idle timeout for a whole completion not read in time', answer(JSON_BODY, WHOLE), async (bench) => {
    const stream = await bench.open();

    await bench.time.advance(1_000);

    expect(bench.time.pending).toBe(0);
    const { error } = await readAll(stream);
    expect(error).toMatchObject({ kind: 'idle', message: expect.stringContaining('was not read within') });
  }),
  ...all(rejects(ResponseValidationError, { body: '{"hello":1}' }), {
    'rejects JSON that is neither a completion nor an error': answer(JSON_BODY, '{"hello":1}'),
  }),
  ...all(rejects(ResponseValidationError, { body: '<h1>Welcome</h1>', retryable: false }), {
    'rejects a page, with its body': answer(PAGE, '<h1>Welcome</h1>'),
    'rejects a body whose content type is empty': answer({ 'content-type': ';' }, '<h1>Welcome</h1>'),
  }),
  check('detects a page by its first bytes', answer({}, '<!doctype html><p>Hello'), unreadable('of unknown type')),
  ...[204, 205, 299].map((status) =>
    check(
      `rejects a stream with status ${status}`,
      answer(EVENTS, status === 299 ? RHINE : '', status),
      unreadable(`(status ${status})`),
    ),
  ),
  check(
    'does not wait for the end of a page sent instead of a stream',
    { headers: PAGE, steps: [send('<h1>Welcome')] },
    async (bench) => {
      const call = failureOf(bench.open());
      await bench.timerFires(1_000); // the longest that an error's body is read

      expect(await call).toBeInstanceOf(ResponseValidationError);
      await bench.connectionsGone();
    },
  ),
  check(
    'rejects with the error of a status instead of a stream',
    answer(JSON_BODY, JSON.stringify(overloaded), 401),
    rejects(ContextGatewayError, { name: 'AuthenticationError', status: 401, type: 'overloaded_error' }),
  ),
  check(
    'retries after 503, because the service did not start',
    {
      answers: [
        answer(JSON_BODY, JSON.stringify({ error: { ...overloaded.error, retry_after: 3 } }), 503),
        events(RHINE),
      ],
      options: { maxRetries: 1 },
    },
    async (bench) => {
      const reading = bench.read();
      await bench.timerFires(3_000);
      const { stream, text } = await reading;

      expect(text).toBe('The Rhine.');
      expect(stream.response.attempts).toMatchObject([{ status: 503 }, { status: 200 }]);
      expect((await bench.report()).requests).toBe(2);
    },
  ),
  ...Object.entries({
    'an error inside the stream': [send(event({ error: { type: 'rate_limit_error', code: '429' } })), END],
    'a broken stream': [send(text('The ')), { end: 'fin' } as const],
    'a truncated stream': [send(text('The ')), END],
    'a stream without an event': [END],
  }).map(([what, steps]) =>
    check(
      `does not retry after ${what}`,
      { answers: [stream(...steps), events(RHINE)], options: { maxRetries: 5 } },
      async (bench) => {
        const { error } = await bench.read();
        await bench.time.advance(60_000);

        expect(error).toBeInstanceOf(ContextGatewayError);
        expect((await bench.report()).requests).toBe(1);
      },
    ),
  ),
  check(
    'throws for an event that is not JSON, without its text in the message',
    events(text('The '), 'data: {"secret prompt\n\n', RHINE),
    async (bench) => {
      const { error } = await bench.read();

      expect(error).toBeInstanceOf(ResponseValidationError);
      expect(String((error as Error).stack)).not.toContain('secret');
      expect(error).toMatchObject({ body: '{"secret prompt', ...PARTIAL });
    },
  ),
  ...[{ choices: {} }, { choices: [{ index: 0, delta: { content: 5 } }] }, []].map((wrong) =>
    check(
      `throws for ${JSON.stringify(wrong)} instead of a chunk`,
      events(text('The '), event(wrong), DONE),
      throws(ResponseValidationError, { retryable: false }),
    ),
  ),
  check(
    "delivers invalid chunks with validation: 'report', and reads on",
    {
      answers: events(
        text('The '),
        event({ choices: {} }).repeat(20),
        event({ choices: 1 }).repeat(20),
        event({ choices: [null, { index: 0, delta: { content: 5 } }, { index: 'x', delta: {} }] }),
        choice({ delta: { content: 'Rhine.' } }, { created: 1.5 }),
        DONE,
      ),
      options: { validation: 'report' },
    },
    async (bench) => {
      const stream = await bench.open();
      const pieces = [];
      for await (const piece of stream.textStream) pieces.push(piece);

      expect(pieces.join('')).toBe('The Rhine.');
      expect((await stream.finalCompletion()).choices[0]?.message.content).toBe('The Rhine.');
      expect(stream.metrics.chunks).toBe(43);
    },
  ),
  check(
    'keeps unknown fields, finish reasons and roles, and adds no usage',
    events(
      choice(
        { delta: { role: 'narrator', content: 'Rhine', mood: 1 }, finish_reason: 'bored', at: null },
        { system_fingerprint: 'f' },
      ),
      DONE,
    ),
    async (bench) => {
      const { stream, chunks } = await bench.read();
      const whole = await stream.finalCompletion();

      expect(chunks[0]).toMatchObject({ system_fingerprint: 'f', choices: [{ delta: { mood: 1 }, at: null }] });
      expect(whole.choices[0]).toMatchObject({ finish_reason: 'bored', message: { role: 'narrator' } });
      expect('usage' in whole).toBe(false);
    },
  ),
  check(
    'delivers a chunk without choices, and keeps its usage for finalCompletion',
    events(event(chunk([])), text('The Rhine.'), finish(), event(chunk([], { usage: completion.usage })), DONE),
    async (bench) => {
      const { stream, chunks } = await bench.read();

      expect(chunks.map(({ choices }) => choices.length)).toEqual([0, 1, 1, 0]);
      expect(chunks.at(-1)?.usage).toEqual(completion.usage);
      expect(await stream.finalCompletion()).toEqual(completion);
    },
  ),
  check(
    'assembles interleaved choices by their index',
    events(
      text('c', 2) + text('a', 0),
      event(
        chunk([
          { index: 1, delta: { content: 'b' } },
          { index: 0, delta: { content: 'A' } },
        ]),
      ),
      text('B', 1) + finish('stop', 0) + finish('length', 1) + finish('stop', 2),
    ),
    async (bench) => {
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
  ),
  ...[-1, 1e9, 0.5, '__proto__'].map((index) =>
    check(
      `throws for a choice with index ${JSON.stringify(index)}`,
      events(text('The '), choice({ index, delta: { content: 'x' } })),
      throws(ResponseValidationError, {}),
    ),
  ),
  check(
    'delivers a second finish_reason, and content after the first',
    events(text('The '), finish(), text('Rhine.'), finish('length'), DONE),
    async (bench) => {
      const { stream, chunks, text } = await bench.read();

      expect(text).toBe('The Rhine.');
      expect(chunks).toHaveLength(4);
      expect((await stream.finalCompletion()).choices[0]?.finish_reason).toBe('length');
    },
  ),
];
