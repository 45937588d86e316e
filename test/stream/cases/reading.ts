import { APITimeoutError, StreamConsumedError, StreamTruncatedError, toEventStream } from 'context-gateway';
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
import {
  chunk,
  DONE,
  END,
  event,
  finish,
  IDLE,
  RHINE,
  SILENT,
  type Step,
  send,
  stream,
  text,
  WAIT,
} from '../script.js';

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
      const iterator = await begin(bench);
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
      const iterator = await begin(bench);
      await bench.time.advance(300);
      const waiting = failureOf(iterator.next());

      await bench.time.advance(IDLE - 1);
      expect(await stateOf(bench, waiting)).toBe('pending');
      await bench.time.advance(1);

      const error = await waiting;
      expect(error).toBeInstanceOf(APITimeoutError);
      expect(error).toMatchObject({
        kind: 'idle',
        phase: 'stream',
        sent: 'yes',
        attempts: [{ status: 200 }],
        ...PARTIAL,
      });
      expect((error as Error).message).toContain('The stream was silent');
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'throws a deadline timeout if the deadline passes during the stream',
    answers: SILENT,
    run: async (bench) => {
      const iterator = await begin(bench, { deadline: 5_000 });
      const waiting = failureOf(iterator.next());

      await bench.time.advance(5_000);

      expect(await waiting).toMatchObject({ name: 'APITimeoutError', kind: 'deadline', retryable: false });
      await expectNothingLeft(bench);
    },
  },
  {
    title: 'does not count the time between reads as idle, whether or not events are buffered',
    answers: stream(send(text('The '), text('river ')), WAIT, send(text('Rhine.')), WAIT, send(finish(), DONE), END),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const stream = await bench.open();
      const read: string[] = [];

      for await (const { choices } of stream) {
        read.push(choices[0]?.delta.content ?? '');
        await bench.time.advance(4.9 * IDLE);
        if (read.length === 2 || read.length === 3) await bench.go();
      }

      expect(read).toEqual(['The ', 'river ', 'Rhine.', '']);
      expect(stream.metrics).toMatchObject({ chunks: 4, duration: 4 * 4.9 * IDLE });
      expect(stream.metrics.largestGap).toBeLessThan(IDLE);
    },
  },
  {
    title: 'closes a stream that was read in part and dropped, five idle times after the last read, with a clear error',
    answers: stream(send(text('The '), text('Rhine.'))),
    options: { streamIdleTimeout: IDLE },
    run: async (bench) => {
      const iterator = await begin(bench);

      await bench.time.advance(5 * IDLE - 1);
      expect((await bench.report()).open).toBe(1);
      await bench.time.advance(1);

      await expectNothingLeft(bench);
      const error = await failureOf(iterator.next());
      expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'idle', phase: 'stream', sent: 'yes', ...PARTIAL });
      expect((error as Error).message).toContain('not read for 5000 ms, 5 times its streamIdleTimeout.');
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
    title: 'throws for a second loop at any time, and says what to do instead',
    answers: stream(send(RHINE), END),
    run: async (bench) => {
      const stream = await bench.open();
      for await (const _ of stream) {
        const second = (await readAll(stream)).error;
        expect(second).toBeInstanceOf(StreamConsumedError);
      }
      const after = (await readAll(stream)).error;

      expect(after).toBeInstanceOf(StreamConsumedError);
      expect(after).toMatchObject({
        message: expect.stringContaining('finalCompletion()'),
        attempts: [{ status: 200 }],
        partial: { choices: [{ message: { content: 'The Rhine.' } }] },
      });
      expect(() => stream.textStream[Symbol.asyncIterator]()).toThrow(StreamConsumedError);
      expect(() => toEventStream(stream)).toThrow(StreamConsumedError);
      await expect(stream.finalCompletion()).resolves.toMatchObject({ id: 'chatcmpl-1' });
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
