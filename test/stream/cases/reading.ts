import {
  APIAbortError,
  APITimeoutError,
  ClientClosedError,
  type ContextGatewayError,
  ResponseValidationError,
  StreamConsumedError,
  StreamTruncatedError,
  toEventStream,
} from 'context-gateway';
import { expect } from 'vitest';
import { type Bench, decoding, failureOf, readAll, type StreamCase } from '../bench.js';
import { chunk, DONE, END, event, finish, RHINE, type Step, send, stream, text, WAIT } from '../script.js';

/** One event, and then silence. */
const SILENT = stream(send(text('The ')));
const IDLE = 1_000;

/** The state of a promise after all ready work has run. */
async function stateOf(bench: Bench, promise: Promise<unknown>): Promise<string> {
  let state = 'pending';
  const settle = (how: string) => () => {
    state = how;
  };
  promise.then(settle('resolved'), settle('rejected'));
  await bench.time.advance(0);
  return state;
}

/** Expects that a finished stream has left no connection and no timer. */
async function expectNothingLeft(bench: Bench): Promise<void> {
  await bench.connectionsGone();
  expect(bench.time.pending).toBe(0);
}

/** Cases about reading, leaving, closing and waiting for streams. */
export const readingCases: readonly StreamCase[] = [
  {
    title: 'completes a stream sent byte by byte, as long as each event arrives within the idle time',
    notIn: 'browsers',
    answers: stream(...[...RHINE].flatMap((byte): Step[] => [WAIT, send(byte)]), END),
    options: { streamIdleTimeout: 60_000 },
    run: async (bench) => {
      const stream = await bench.open();
      const reading = readAll(stream);
      const passAll = async (): Promise<void> => {
        for (const _ of RHINE) {
          await bench.go();
          await bench.time.advance(100);
        }
      };
      const [{ text, error }] = await Promise.all([reading, passAll()]);

      expect([text, error]).toEqual(['The Rhine.', undefined]);
      expect(stream.metrics.duration).toBeGreaterThan(30_000);
    },
  },
  ...[': keep-alive\n\n', 'data:\n\n', 'event: ping\ndata: {"type":"ping"}\n\n'].map((beat) => ({
    title: `throws an idle timeout if only ${JSON.stringify(beat)} arrives`,
    answers: stream(send(text('The ')), ...Array.from({ length: 9 }, (): Step[] => [WAIT, send(beat)]).flat()),
    options: { streamIdleTimeout: IDLE },
    run: async (bench: Bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();
      await iterator.next();
      const waiting = failureOf(iterator.next());

      for (let passed = 0; passed < IDLE - 200; passed += 200) {
        await bench.go();
        await bench.time.advance(200);
        expect(await stateOf(bench, waiting)).toBe('pending');
      }
      await bench.go();
      await bench.time.advance(200);

      expect(await waiting).toMatchObject({ name: 'APITimeoutError', kind: 'idle' });
      await expectNothingLeft(bench);
    },
  })),
  {
    title: 'throws an idle timeout exactly when the stream was silent that long, with the partial completion',
    answers: SILENT,
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();
      await iterator.next();
      await bench.time.advance(300);
      const waiting = failureOf(iterator.next());

      await bench.time.advance(IDLE - 1);
      expect(await stateOf(bench, waiting)).toBe('pending');
      await bench.time.advance(1);

      const error = await waiting;
      expect(error).toBeInstanceOf(APITimeoutError);
      expect(error).toMatchObject({ kind: 'idle', phase: 'stream', sent: 'yes', attempts: [{ status: 200 }] });
      expect((error as Error).message).toContain('The stream was silent');
      expect((error as APITimeoutError).partial?.choices[0]?.message.content).toBe('The ');
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'uses the streamIdleTimeout of the call',
    notIn: 'firefox',
    answers: stream(),
    run: async (bench) => {
      const waiting = failureOf((await bench.open({ streamIdleTimeout: 10 })).finalCompletion());

      await bench.time.advance(10);

      expect(await waiting).toMatchObject({ kind: 'idle' });
    },
  },
  {
    title: 'throws a deadline timeout if the deadline passes during the stream',
    answers: SILENT,
    run: async (bench) => {
      const iterator = (await bench.open({ deadline: 5_000 }))[Symbol.asyncIterator]();
      await iterator.next();
      const waiting = failureOf(iterator.next());

      await bench.time.advance(5_000);

      expect(await waiting).toMatchObject({ name: 'APITimeoutError', kind: 'deadline', retryable: false });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'is complete at [DONE] even if the connection stays open and silent',
    answers: stream(send(RHINE)),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const stream = await bench.open();
      const { error } = await readAll(stream);

      await bench.time.advance(10 * IDLE);

      expect(error).toBeUndefined();
      await expect(stream.finalCompletion()).resolves.toMatchObject({ id: 'chatcmpl-1' });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'does not count the time between reads as idle',
    answers: stream(send(text('The ')), WAIT, send(text('Rhine.')), WAIT, send(finish(), DONE), END),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const stream = await bench.open();
      const read: string[] = [];

      for await (const { choices } of stream) {
        read.push(choices[0]?.delta.content ?? '');
        await bench.time.advance(4 * IDLE);
        if (read.length < 3) await bench.go();
      }

      expect(read).toEqual(['The ', 'Rhine.', '']);
      expect(stream.metrics).toMatchObject({ chunks: 3, duration: 12 * IDLE });
      expect(stream.metrics.largestGap).toBeLessThan(IDLE);
    },
  },
  {
    title: 'does not count the time between reads as idle while events are buffered',
    answers: stream(send(text('The '), text('river '), text('Rhine.')), WAIT, send(finish(), DONE), END),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();
      const content = async () => (await iterator.next()).value?.choices[0]?.delta.content;

      expect(await content()).toBe('The ');
      await bench.time.advance(4.9 * IDLE);
      expect(await content()).toBe('river ');
      await bench.time.advance(4.9 * IDLE);
      expect(await content()).toBe('Rhine.');
      await bench.time.advance(4.9 * IDLE);
      await bench.go();

      expect((await iterator.next()).value?.choices[0]?.finish_reason).toBe('stop');
    },
  },
  {
    title: 'closes a stream that was read in part and dropped, five idle times after the last read, with a clear error',
    answers: stream(send(text('The '), text('Rhine.'))),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();
      await iterator.next();

      await bench.time.advance(5 * IDLE - 1);
      expect((await bench.report()).open).toBe(1);
      await bench.time.advance(1);

      await expectNothingLeft(bench);
      const error = await failureOf(iterator.next());
      expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'idle', phase: 'stream', sent: 'yes' });
      expect((error as Error).message).toContain('not read for 5000 ms, 5 times its streamIdleTimeout.');
      expect((error as APITimeoutError).partial?.choices[0]?.message.content).toBe('The ');
    },
  },
  {
    title: 'closes a stream whose relay was read in part and dropped',
    answers: stream(send(text('The '), text('Rhine.'))),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const relay = toEventStream(await bench.open()).getReader();
      await relay.read();

      await bench.time.advance(5 * IDLE);

      await expectNothingLeft(bench);
      const rest = new TextDecoder().decode((await relay.read()).value);
      expect(rest).toMatch(/^event: error\n.*"The stream was interrupted."/);
    },
  },
  {
    title: 'resolves a finalCompletion awaited inside its own loop, which then gets the chunks that were read',
    answers: stream(send(text('The ')), WAIT, send(text('Rhine.')), WAIT, send(finish(), DONE), END),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const stream = await bench.open();
      const read: string[] = [];
      const wholes: unknown[] = [];
      const loop = async (): Promise<void> => {
        for await (const { choices } of stream) {
          read.push(choices[0]?.delta.content ?? '');
          wholes.push(await stream.finalCompletion());
        }
      };
      const looping = loop();
      await untilChunks(stream, 1);
      await bench.go();
      await untilChunks(stream, 2);
      expect(read).toEqual(['The ']);
      await bench.go();
      await looping;

      expect(read).toEqual(['The ', 'Rhine.', '']);
      expect(wholes).toHaveLength(3);
      expect(wholes[0]).toMatchObject({ choices: [{ message: { content: 'The Rhine.' } }] });
      expect(stream.metrics.chunks).toBe(3);
    },
  },
  {
    title:
      'rejects a finalCompletion inside a loop with the error of the stream, which the loop throws after the chunks',
    answers: stream(send(text('The '), text('Rhine.')), END),
    run: async (bench) => {
      const stream = await bench.open();
      const errors: unknown[] = [];
      const read: string[] = [];
      const loop = async (): Promise<void> => {
        for await (const { choices } of stream) {
          read.push(choices[0]?.delta.content ?? '');
          errors.push(await failureOf(stream.finalCompletion()));
        }
      };

      const error = await failureOf(loop());

      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect(errors).toEqual([error, error]);
      expect(read).toEqual(['The ', 'Rhine.']);
    },
  },
  {
    title: 'closes a stream whose loop awaits a finalCompletion requested before, and says where to call it',
    answers: stream(send(text('The '), text('Rhine.'))),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const stream = await bench.open();
      const whole = stream.finalCompletion();
      const loop = async (): Promise<void> => {
        for await (const _ of stream) await whole;
      };
      const error = failureOf(loop());
      await untilChunks(stream, 1);

      await bench.time.advance(5 * IDLE);

      expect(await error).toMatchObject({
        name: 'APITimeoutError',
        kind: 'idle',
        message: expect.stringContaining('call finalCompletion() where you await it'),
      });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'frees the connection if a loop is left while its finalCompletion reads on',
    answers: SILENT,
    run: async (bench) => {
      const stream = await bench.open();
      const texts = stream.textStream[Symbol.asyncIterator]();
      expect(await texts.next()).toMatchObject({ value: 'The ' });
      const whole = failureOf(stream.finalCompletion());
      expect(await stateOf(bench, whole)).toBe('pending');

      await texts.return?.();

      expect(await whole).toBeInstanceOf(StreamTruncatedError);
      expect(await texts.next()).toEqual({ done: true, value: undefined });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'resolves a finalCompletion requested during a slow loop, inside or outside of it',
    answers: stream(send(RHINE), END),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const stream = await bench.open();
      const wholes: Promise<unknown>[] = [];

      for await (const _ of stream) {
        wholes.push(stream.finalCompletion());
        await bench.time.advance(2 * IDLE);
        await Promise.resolve().then(() => wholes.push(stream.finalCompletion()));
        await bench.time.advance(2.9 * IDLE);
      }

      expect(wholes).toHaveLength(6);
      for (const whole of wholes) expect(await whole).toMatchObject({ id: 'chatcmpl-1' });
    },
  },
  {
    title: 'frees the connection if a reader leaves 100,000 buffered events',
    answers: stream({ send: text('x'), times: 100_000 }),
    run: async (bench) => {
      const stream = await bench.open();

      for await (const _ of stream) break;

      expect(stream.metrics.chunks).toBe(1);
      await expectNothingLeft(bench);
    },
  },
  ...[1, 2].map((count) => ({
    title: `frees the connection if the loop is left after ${count === 1 ? 'the first event' : 'some events'}`,
    answers: stream(send(text('The '), text('Rhine.'))),
    run: async (bench: Bench) => {
      const stream = await bench.open();
      let read = 0;
      for await (const _ of stream) {
        read += 1;
        if (read === count) break;
      }

      await expectNothingLeft(bench);
      const error = await failureOf(stream.finalCompletion());
      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect((error as StreamTruncatedError).partial?.choices[0]?.message.content).toBe(
        ['', 'The ', 'The Rhine.'][count],
      );
      expect((error as StreamTruncatedError).attempts).toMatchObject([{ status: 200 }]);
    },
  })),
  {
    title: 'frees the connection if a loop over textStream is left',
    answers: SILENT,
    run: async (bench) => {
      const stream = await bench.open();

      for await (const piece of stream.textStream) {
        expect(piece).toBe('The ');
        break;
      }

      await expectNothingLeft(bench);
      expect(await failureOf(stream.finalCompletion())).toBeInstanceOf(StreamTruncatedError);
    },
  },
  {
    title: 'rethrows an error of the loop body, and frees the connection',
    answers: SILENT,
    run: async (bench) => {
      const mine = new Error('mine');
      const stream = await bench.open();
      const read = async (): Promise<void> => {
        for await (const _ of stream) throw mine;
      };

      expect(await failureOf(read())).toBe(mine);
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'resolves a pending next() when the loop is left, and every later one',
    answers: SILENT,
    run: async (bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();
      await iterator.next();
      const pending = iterator.next();

      const left = await iterator.return?.();

      expect(left).toEqual({ done: true, value: undefined });
      expect(await pending).toEqual({ done: true, value: undefined });
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'throws for a second loop at any time, and says what to do instead',
    answers: stream(send(RHINE), END),
    run: async (bench) => {
      const stream = await bench.open();
      for await (const _ of stream) {
        const second = await failureOf(readAgain(stream));
        expect(second).toBeInstanceOf(StreamConsumedError);
      }
      const after = await failureOf(readAgain(stream));

      expect(after).toBeInstanceOf(StreamConsumedError);
      expect(after).toMatchObject({
        message: expect.stringContaining('finalCompletion()'),
        attempts: [{ status: 200 }],
      });
      expect((after as StreamConsumedError).partial?.choices[0]?.message.content).toBe('The Rhine.');
      expect(await failureOf(collect(stream.textStream))).toBeInstanceOf(StreamConsumedError);
      expect(() => toEventStream(stream)).toThrow(StreamConsumedError);
      await expect(stream.finalCompletion()).resolves.toMatchObject({ id: 'chatcmpl-1' });
    },
  },
  {
    title: 'throws for a second loop after a break',
    answers: stream(send(RHINE), END),
    run: async (bench) => {
      const stream = await bench.open();
      for await (const _ of stream) break;

      expect(await failureOf(readAgain(stream))).toBeInstanceOf(StreamConsumedError);
    },
  },
  {
    title: 'resolves overlapping calls of next() in their order',
    answers: stream(send(text('a'), text('b')), WAIT, send(text('c'), finish(), DONE), END),
    run: async (bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();
      const order: number[] = [];
      const steps = [0, 1, 2, 3, 4, 5].map(async (number) => {
        const step = await iterator.next();
        order.push(number);
        return step.done ? 'end' : (step.value.choices[0]?.delta.content ?? 'finish');
      });
      await bench.go();

      expect(await Promise.all(steps)).toEqual(['a', 'b', 'c', 'finish', 'end', 'end']);
      expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    },
  },
  {
    title: 'resolves overlapping calls of next() on textStream in their order, and pending ones when it is left',
    answers: stream(send(text('a'), finish(), text('b'))),
    run: async (bench) => {
      const texts = (await bench.open()).textStream[Symbol.asyncIterator]();
      const steps = [1, 2, 3, 4].map(() => texts.next());
      expect((await Promise.all(steps.slice(0, 2))).map(({ value }) => value)).toEqual(['a', 'b']);

      expect(await texts.return?.()).toEqual({ done: true, value: undefined });

      expect(await Promise.all(steps.slice(2))).toEqual(Array(2).fill({ done: true, value: undefined }));
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'throws an error for one call of next(), and ends for the calls after it',
    answers: stream(send(text('a')), END),
    run: async (bench) => {
      const iterator = (await bench.open())[Symbol.asyncIterator]();

      const steps = await Promise.allSettled([iterator.next(), iterator.next(), iterator.next()]);

      expect(steps.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(steps[2]).toMatchObject({ value: { done: true } });
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
    title: 'closes a stream whose relay is not read',
    answers: stream(send(RHINE)),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const relay = toEventStream(await bench.open());

      await bench.time.advance(IDLE);

      await expectNothingLeft(bench);
      expect(await new Response(relay).text()).toMatch(/^event: error\n/);
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
      const iterator = (await bench.open({ signal: abort.signal }))[Symbol.asyncIterator]();
      await iterator.next();
      const waiting = failureOf(iterator.next());
      await bench.time.advance(0);

      abort.abort();

      expect(await waiting).toMatchObject({
        name: 'AbortError',
        partial: { choices: [{ message: { content: 'The ' } }] },
      });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'throws an AbortError if the caller aborts between the last finish_reason and [DONE]',
    answers: stream(send(text('The Rhine.'), finish())),
    run: async (bench) => {
      const abort = new AbortController();
      const stream = await bench.open({ signal: abort.signal });
      const iterator = stream[Symbol.asyncIterator]();
      await iterator.next();
      await iterator.next();

      abort.abort();

      expect(await failureOf(iterator.next())).toBeInstanceOf(APIAbortError);
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
  {
    title: 'frees the connection of a stream that is closed unread',
    answers: SILENT,
    run: async (bench) => {
      const stream = await bench.open();

      stream.close();

      await expectNothingLeft(bench);
      expect((await readAll(stream)).error).toBeInstanceOf(StreamTruncatedError);
    },
  },
  {
    title: 'throws in the loop if the stream is closed from outside, with the partial completion',
    answers: SILENT,
    run: async (bench) => {
      const stream = await bench.open();
      const reading = readAll(stream);
      const whole = failureOf(stream.finalCompletion());
      await untilChunks(stream, 1);

      stream.close();
      stream.close();

      const { error } = await reading;
      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect(error).toMatchObject({ message: expect.stringContaining('closed'), attempts: [{ status: 200 }] });
      expect((error as StreamTruncatedError).partial?.choices[0]?.message.content).toBe('The ');
      expect(await whole).toBe(error);
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'stays complete if it is closed afterwards',
    answers: stream(send(RHINE), END),
    run: async (bench) => {
      const stream = await bench.open();
      await readAll(stream);

      stream.close();

      await expect(stream.finalCompletion()).resolves.toMatchObject({ id: 'chatcmpl-1' });
    },
  },
  {
    title: 'closes a stream at the end of an await using block',
    answers: SILENT,
    run: async (bench) => {
      const disposable = await bench.open();

      await disposable[Symbol.asyncDispose]();

      await expectNothingLeft(bench);
    },
  },
  {
    title: 'ends with a ClientClosedError if the client is closed',
    answers: SILENT,
    run: async (bench) => {
      const stream = await bench.open();
      const reading = readAll(stream);
      await untilChunks(stream, 1);

      await bench.client.close();

      const { error } = await reading;
      expect(error).toBeInstanceOf(ClientClosedError);
      expect((error as ClientClosedError).partial?.choices[0]?.message.content).toBe('The ');
      await expectNothingLeft(bench);
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
    title: 'causes no unhandled rejection if a finalCompletion is not awaited after its loop has thrown',
    answers: stream(send(text('The ')), END),
    run: async (bench) => {
      const stream = await bench.open();
      const iterator = stream[Symbol.asyncIterator]();
      const whole = stream.finalCompletion();
      await iterator.next();

      const error = await failureOf(iterator.next());
      await new Promise((resolve) => setTimeout(resolve, 0));

      expect(await failureOf(whole)).toBe(error);
    },
  },
  {
    title: 'resolves finalCompletion without a loop, any number of times',
    answers: stream(send(RHINE), END),
    run: async (bench) => {
      const stream = await bench.open();

      const [first, second] = await Promise.all([stream.finalCompletion(), stream.finalCompletion()]);

      expect(first).toEqual(second);
      expect(first).toMatchObject({
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'The Rhine.' }, finish_reason: 'stop' }],
      });
    },
  },
  {
    title: 'resolves a finalCompletion requested while a loop reads',
    answers: stream(send(text('The ')), WAIT, send(text('Rhine.'), finish(), DONE), END),
    run: async (bench) => {
      const stream = await bench.open();
      const reading = readAll(stream);
      const whole = stream.finalCompletion();
      expect(await stateOf(bench, whole)).toBe('pending');

      await bench.go();

      expect((await whole).choices[0]?.message.content).toBe('The Rhine.');
      expect((await reading).chunks).toHaveLength(3);
    },
  },
  {
    title: 'returns the response with its attempts through withResponse()',
    answers: { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_7' }, steps: [send(RHINE), END] },
    run: async (bench) => {
      const { data, response } = await bench.open().withResponse();

      expect(response).toMatchObject({ status: 200, attempts: [{ status: 200, delay: 0 }] });
      expect(data.response.requestId).toBe(data.response.headers.get('x-request-id') ?? undefined);
      data.close();
    },
  },
  {
    title: 'measures the time to the first chunk, the largest gap after it, and the duration',
    notIn: 'firefox',
    answers: stream(WAIT, send(text('The ')), WAIT, send(text('Rhine.')), WAIT, send(finish(), DONE), END),
    run: async (bench) => {
      const stream = await bench.open();
      expect(stream.metrics).toMatchObject({ timeToFirstChunk: undefined, largestGap: undefined, chunks: 0 });
      const reading = readAll(stream);

      for (const pause of [700, 300, 200]) {
        const chunks = stream.metrics.chunks;
        await bench.time.advance(pause);
        await bench.go();
        await untilChunks(stream, chunks + 1);
      }
      await reading;
      await bench.time.advance(5_000);

      expect(stream.metrics).toEqual({ timeToFirstChunk: 700, largestGap: 300, chunks: 3, duration: 1_200 });
    },
  },
  {
    title: 'passes every event to decodeChunk except [DONE] and event: error, and uses its result',
    answers: stream(
      send('event: start\ndata: {}\n\n', 'event: token\ndata: The \n\ndata: Rhine.\n\ndata: END\n\n', text('late')),
    ),
    options: decoding(({ event, data }) => {
      if (data === 'END') return 'done';
      if (event === 'start') return undefined;
      return { choices: [{ index: 0, delta: { content: data } }] };
    }),
    run: async (bench) => {
      const stream = await bench.open();

      const { text, error } = await readAll(stream);

      expect([text, error]).toEqual(['The Rhine.', undefined]);
      expect((await stream.finalCompletion()).choices[0]).toMatchObject({ finish_reason: 'stop' });
    },
  },
  {
    title: 'throws a ResponseValidationError with the first event if no event of a complete stream is a chunk',
    answers: stream(send('data: {"text":"The "}\n\n', 'data: {"text":"Rhine."}\n\n', DONE)),
    run: async (bench) => {
      const { error } = await readAll(await bench.open());

      expect(error).toMatchObject({ name: 'ResponseValidationError', body: '{"text":"The "}' });
      expect((error as Error).message).toMatch(/pass completions: \{ \.\.\.documented, decodeChunk \}/);
    },
  },
  {
    title: 'says how to decode a stream of another form if it ends without [DONE]',
    answers: stream(send('{"message":{"content":"The "},"done":false}\n', '{"done":true}\n'), END),
    run: async (bench) => {
      const { error } = await readAll(await bench.open());

      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect((error as Error).message).toMatch(/None of the events is a chat\.completion\.chunk/);
    },
  },
  {
    title: 'says nothing of decoding if a chunk arrived before the end',
    answers: stream(send('data: {"type":"ping"}\n\n', text('The ')), END),
    run: async (bench) => {
      expect(String((await readAll(await bench.open())).error)).toMatch(/: The stream ended before the completion/);
    },
  },
  {
    title: 'validates the result of decodeChunk',
    answers: stream(send(text('The '))),
    options: decoding(() => ({ choices: [{ index: -1, delta: {} }] })),
    run: async (bench) => {
      expect((await readAll(await bench.open())).error).toBeInstanceOf(ResponseValidationError);
    },
  },
  {
    title: 'throws a ResponseValidationError with the error of decodeChunk as its cause, and the partial completion',
    answers: stream(send(text('The '), 'data: odd\n\n')),
    options: decoding(({ data }) => JSON.parse(data)),
    run: async (bench) => {
      const { error } = await readAll(await bench.open());

      expect(error).toBeInstanceOf(ResponseValidationError);
      expect((error as Error).cause).toBeInstanceOf(SyntaxError);
      expect(error).toMatchObject({ body: 'odd', partial: { choices: [{ message: { content: 'The ' } }] } });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'rethrows an error of this package that decodeChunk throws',
    answers: stream(send(text('The '))),
    options: decoding(() => {
      throw new StreamTruncatedError('the service gave up');
    }),
    run: async (bench) => {
      const { error } = await readAll(await bench.open());

      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect((error as ContextGatewayError).attempts).toHaveLength(1);
    },
  },
  {
    title: 'throws a StreamTruncatedError for an event that is cut off, even if decodeChunk throws',
    answers: stream(send('data: {"choices":[{"index":0,"delta":{"content":"The '), END),
    options: decoding(({ data }) => JSON.parse(data)),
    run: async (bench) => {
      expect((await readAll(await bench.open())).error).toBeInstanceOf(StreamTruncatedError);
    },
  },
  {
    title: 'throws error events without calling decodeChunk',
    answers: stream(send(`event: error\ndata: ${JSON.stringify({ error: { message: 'Overloaded.' } })}\n\n`)),
    options: decoding(() => undefined),
    run: async (bench) => {
      expect((await readAll(await bench.open())).error).toMatchObject({ name: 'StreamError' });
    },
  },
  {
    title: 'reuses the connection if the body ends after [DONE]',
    notIn: 'webkit',
    answers: stream(send(text('The Rhine.'), event(chunk([])), DONE), END),
    run: async (bench) => {
      for (let count = 0; count < 3; count += 1) {
        await readAll(await bench.open());
        await bench.time.advance(0);
      }

      const { requests, connections } = await bench.report();
      expect(requests).toBe(3);
      expect(connections).toBeLessThanOrEqual(2); // the platform's fetch may open a second one
    },
  },
];

async function readAgain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function untilChunks(stream: { readonly metrics: { readonly chunks: number } }, count: number): Promise<void> {
  while (stream.metrics.chunks < count) await new Promise((resolve) => setTimeout(resolve, 0));
}
