import { APIAbortError, type ChatCompletionStream, StreamTruncatedError, toEventStream } from 'context-gateway';
import { expect } from 'vitest';
import {
  type Bench,
  begin,
  expectNothingLeft,
  failureOf,
  PARTIAL,
  readAll,
  type StreamCase,
  untilChunks,
} from '../bench.js';
import { IDLE, RHINE, SILENT, send, stream, text } from '../script.js';

/** Cases about leaving, closing and aborting streams. */
export const leavingCases: readonly StreamCase[] = [
  ...[undefined, new Error('mine')].map((mine) => ({
    title: `frees the connection if ${mine === undefined ? 'a loop is left' : 'the body of a loop throws'}`,
    answers: stream(send(text('The '), text('Rhine.'))),
    run: async (bench: Bench) => {
      const stream = await bench.open();
      const read = async (): Promise<void> => {
        for await (const _ of stream) {
          if (mine === undefined) break;
          throw mine;
        }
      };

      if (mine === undefined) await read();
      else expect(await failureOf(read())).toBe(mine);
      await expectNothingLeft(bench);
      const error = await failureOf(stream.finalCompletion());
      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect(error).toMatchObject({ ...PARTIAL, attempts: [{ status: 200 }] });
    },
  })),
  {
    title: 'resolves a pending next() when the loop is left, and every later one',
    answers: SILENT,
    run: async (bench) => {
      const iterator = await begin(bench);
      const pending = iterator.next();

      const left = await iterator.return?.();

      expect(left).toEqual({ done: true, value: undefined });
      expect(await pending).toEqual({ done: true, value: undefined });
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'closes an unread stream streamIdleTimeout after its headers',
    answers: stream(send(RHINE)),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const stream = await bench.open();

      await bench.time.advance(IDLE - 1);
      expect((await bench.report()).open).toBe(1);
      await bench.time.advance(1);

      await expectNothingLeft(bench);
      const { error, chunks } = await readAll(stream);
      expect(error).toMatchObject({ kind: 'idle', message: expect.stringContaining('was not read within') });
      expect(chunks).toEqual([]);
    },
  },
  {
    title: 'throws an AbortError if the caller aborts before the first event',
    notIn: 'firefox',
    answers: stream(),
    run: async (bench) => {
      const abort = new AbortController();
      const waiting = failureOf((await bench.open({ signal: abort.signal })).finalCompletion());

      abort.abort('stop');

      const error = await waiting;
      expect(error).toBeInstanceOf(APIAbortError);
      expect(error).toMatchObject({ cause: 'stop', partial: { choices: [] } });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'throws an AbortError if the caller aborts in the middle of an event',
    answers: stream(send(text('The '), text('Rhine.').slice(0, 40))),
    run: async (bench) => {
      const abort = new AbortController();
      const iterator = await begin(bench, { signal: abort.signal });
      const waiting = failureOf(iterator.next());
      await bench.time.advance(0);

      abort.abort();

      expect(await waiting).toMatchObject({ name: 'AbortError', ...PARTIAL });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'throws an AbortError in a loop that starts after the abort',
    answers: stream(send(RHINE)),
    run: async (bench) => {
      const abort = new AbortController();
      const stream = await bench.open({ signal: abort.signal });
      abort.abort();
      await expectNothingLeft(bench);

      const { error, chunks } = await readAll(stream);

      expect(error).toBeInstanceOf(APIAbortError);
      expect(chunks).toEqual([]);
    },
  },
  ...[
    {
      title: 'throws in the loop if the stream is closed from outside',
      close: (stream: ChatCompletionStream) => {
        stream.close();
        stream.close();
      },
      error: { name: 'StreamTruncatedError', message: expect.stringContaining('closed') },
    },
    {
      title: 'throws a ClientClosedError in the loop if the client is closed',
      close: (_: unknown, bench: Bench) => bench.client.close(),
      error: { name: 'ClientClosedError' },
    },
  ].map(({ title, close, error: expected }) => ({
    title,
    answers: SILENT,
    run: async (bench: Bench) => {
      const stream = await bench.open();
      const reading = readAll(stream);
      const whole = failureOf(stream.finalCompletion());
      await untilChunks(stream, 1);

      await close(stream, bench);

      const { error } = await reading;
      expect(error).toMatchObject({ ...expected, attempts: [{ status: 200 }], ...PARTIAL });
      expect(await whole).toBe(error);
      await expectNothingLeft(bench);
    },
  })),
  {
    title: 'closes an unread stream at the end of an await using block',
    answers: SILENT,
    run: async (bench) => {
      const stream = await bench.open();

      await stream[Symbol.asyncDispose]();

      await expectNothingLeft(bench);
      expect((await readAll(stream)).error).toBeInstanceOf(StreamTruncatedError);
    },
  },
  {
    title: 'causes no unhandled rejection if streams are aborted and nothing is awaited',
    answers: SILENT,
    run: async (bench) => {
      const abort = new AbortController();
      const unread = await bench.open({ signal: abort.signal });
      const left = await bench.open({ signal: abort.signal });
      const read = await bench.open({ signal: abort.signal });
      const relayed = await bench.open({ signal: abort.signal });
      for await (const _ of left) break;
      const iterator = read[Symbol.asyncIterator]();
      await iterator.next();
      void read.finalCompletion();
      void left.finalCompletion();
      const relay = toEventStream(relayed).getReader();
      await relay.read();

      abort.abort();
      await bench.time.advance(0);
      await new Promise((resolve) => setTimeout(resolve, 0));

      expect(unread.metrics.chunks).toBe(0);
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'stays complete if the caller aborts or closes it after [DONE]',
    answers: stream(send(RHINE)),
    run: async (bench) => {
      const abort = new AbortController();
      const stream = await bench.open({ signal: abort.signal });

      const { error, text } = await readAll(stream);
      abort.abort();
      stream.close();

      expect([error, text]).toEqual([undefined, 'The Rhine.']);
      await expect(stream.finalCompletion()).resolves.toMatchObject({ id: 'chatcmpl-1' });
    },
  },
  {
    title: 'throws an AbortError with the reason as its cause, and the partial completion, if the caller aborts',
    answers: stream(send(text('The '), text('Rhine.'))),
    run: async (bench) => {
      const abort = new AbortController();
      const stream = await bench.open({ signal: abort.signal });
      const reason = new Error('the user pressed stop');
      const read = async (): Promise<void> => {
        for await (const _ of stream) abort.abort(reason);
      };

      const error = await failureOf(read());

      expect(error).toBeInstanceOf(APIAbortError);
      // The second event had arrived, and was not delivered.
      expect(error).toMatchObject({ name: 'AbortError', cause: reason, attempts: [{ status: 200 }], ...PARTIAL });
      await expectNothingLeft(bench);
    },
  },
];
