import { APIAbortError, type ChatCompletionStream, StreamTruncatedError, toEventStream } from 'context-gateway';
import { expect } from 'vitest';
import { type Bench, begin, check, expectNothingLeft, failureOf, PARTIAL, readAll, untilChunks } from '../bench.js';
import { IDLE, RHINE, SILENT, send, stream, text } from '../script.js';

const OPEN = stream(send(RHINE));

/** Cases about leaving, closing and aborting streams. */
export const leavingCases = [
  ...[undefined, new Error('mine')].map((mine) =>
    check(`frees the connection if ${mine ? 'the body of a loop throws' : 'a loop is left'}`, OPEN, async (bench) => {
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
    }),
  ),
  check('resolves a pending next() when the loop is left, and every later one', SILENT, async (bench) => {
    const iterator = await begin(bench);
    const pending = iterator.next();

    const left = await iterator.return?.();

    expect(left).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    await expectNothingLeft(bench);
  }),
  check('closes an unread stream streamIdleTimeout after its headers', OPEN, async (bench) => {
    const stream = await bench.open();

    await bench.time.advance(IDLE - 1);
    expect((await bench.report()).open).toBe(1);
    await bench.time.advance(1);

    await expectNothingLeft(bench);
    const { error, chunks } = await readAll(stream);
    expect(error).toMatchObject({ kind: 'idle', message: expect.stringContaining('was not read within') });
    expect(chunks).toEqual([]);
  }),
  check(
    'throws an AbortError if the caller aborts before the first event',
    { notIn: 'firefox', answers: stream() },
    async (bench) => {
      const abort = new AbortController();
      const waiting = failureOf((await bench.open({ signal: abort.signal })).finalCompletion());

      abort.abort('stop');

      const error = await waiting;
      expect(error).toBeInstanceOf(APIAbortError);
      expect(error).toMatchObject({ cause: 'stop', partial: { choices: [] } });
      await expectNothingLeft(bench);
    },
  ),
  check('throws an AbortError in a loop that starts after the abort', OPEN, async (bench) => {
    const abort = new AbortController();
    const stream = await bench.open({ signal: abort.signal });
    abort.abort();
    await expectNothingLeft(bench);

    const { error, chunks } = await readAll(stream);

    expect(error).toBeInstanceOf(APIAbortError);
    expect(chunks).toEqual([]);
  }),
  ...[
    {
      title: 'throws in the loop if the stream is closed from outside, even twice',
      close: (stream: ChatCompletionStream) => [1, 2].map(() => stream.close()),
      error: { name: 'StreamTruncatedError', message: expect.stringContaining('closed') },
    },
    {
      title: 'throws a ClientClosedError in the loop if the client is closed',
      close: (_: unknown, bench: Bench) => bench.client.close(),
      error: { name: 'ClientClosedError' },
    },
  ].map(({ title, close, error: expected }) =>
    check(title, SILENT, async (bench) => {
      const stream = await bench.open();
      const reading = readAll(stream);
      const whole = failureOf(stream.finalCompletion());
      await untilChunks(stream, 1);

      await close(stream, bench);

      const { error } = await reading;
      expect(error).toMatchObject({ ...expected, attempts: [{ status: 200 }], ...PARTIAL });
      expect(await whole).toBe(error);
      await expectNothingLeft(bench);
    }),
  ),
  check('closes an unread stream at the end of an await using block', SILENT, async (bench) => {
    const stream = await bench.open();

    await stream[Symbol.asyncDispose]();

    await expectNothingLeft(bench);
    expect((await readAll(stream)).error).toBeInstanceOf(StreamTruncatedError);
  }),
  check('causes no unhandled rejection if streams are aborted and nothing is awaited', SILENT, async (bench) => {
    const abort = new AbortController();
    const open = () => bench.open({ signal: abort.signal });
    const [unread, left, read, relayed] = [await open(), await open(), await open(), await open()];
    for await (const _ of left) break;
    await read[Symbol.asyncIterator]().next();
    void read.finalCompletion();
    void left.finalCompletion();
    await toEventStream(relayed).getReader().read();

    abort.abort();
    await bench.time.advance(0);
    await new Promise((resolve) => setTimeout(resolve, 0));

    expect(unread.metrics.chunks).toBe(0);
    await expectNothingLeft(bench);
  }),
  check('stays complete if the caller aborts or closes it after [DONE]', OPEN, async (bench) => {
    const abort = new AbortController();
    const { stream, error, text } = await bench.read({ signal: abort.signal });

    abort.abort();
    stream.close();

    expect([error, text]).toEqual([undefined, 'The Rhine.']);
    await expect(stream.finalCompletion()).resolves.toMatchObject({ id: 'chatcmpl-1' });
  }),
  check(
    'throws an AbortError with the reason as its cause, and the partial completion, if the caller aborts',
    stream(send(text('The '), text('Rhine.'))),
    async (bench) => {
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
  ),
];
