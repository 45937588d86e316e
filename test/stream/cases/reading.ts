import { StreamConsumedError, StreamTruncatedError, toEventStream } from 'context-gateway';
import { expect } from 'vitest';
import { type Bench, begin, check, expectNothingLeft, failureOf, PARTIAL, readAll, untilChunks } from '../bench.js';
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

const WHOLE = stream(send(RHINE), END);
const ENDLESS = stream(send(text('The '), text('Rhine.')));
const IN_PARTS = stream(send(text('The ')), WAIT, send(text('Rhine.')), WAIT, send(finish(), DONE), END);

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
export const readingCases = [
  check(
    'completes a stream sent byte by byte, as long as each event arrives within the idle time',
    {
      notIn: 'browsers',
      answers: stream(...[...RHINE].flatMap((byte): Step[] => [WAIT, send(byte)]), END),
      options: { streamIdleTimeout: 60_000 },
    },
    async (bench) => {
      const reading = bench.read();
      for (const _ of RHINE) {
        await bench.go();
        await bench.time.advance(100);
      }
      const { text, error, stream } = await reading;

      expect([text, error]).toEqual(['The Rhine.', undefined]);
      expect(stream.metrics.duration).toBeGreaterThan(30_000);
    },
  ),
  ...[': keep-alive\n\n', 'data:\n\n', 'event: ping\ndata: {"type":"ping"}\n\n'].map((beat) =>
    check(
      `throws an idle timeout if only ${JSON.stringify(beat)} arrives`,
      stream(send(text('The ')), ...Array.from({ length: 9 }, (): Step[] => [WAIT, send(beat)]).flat()),
      async (bench) => {
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
    ),
  ),
  check('throws an idle timeout, with the partial completion, once it was silent that long', SILENT, async (bench) => {
    const iterator = await begin(bench);
    await bench.time.advance(300);
    const waiting = failureOf(iterator.next());

    await bench.time.advance(IDLE - 1);
    expect(await stateOf(bench, waiting)).toBe('pending');
    await bench.time.advance(1);

    expect(await waiting).toMatchObject({
      ...{ name: 'APITimeoutError', kind: 'idle', phase: 'stream', sent: 'yes', attempts: [{ status: 200 }] },
      message: expect.stringContaining('The stream was silent'),
      ...PARTIAL,
    });
    await expectNothingLeft(bench);
  }),
  check('throws a deadline timeout if the deadline passes during the stream', SILENT, async (bench) => {
    const iterator = await begin(bench, { deadline: IDLE / 2 });
    const waiting = failureOf(iterator.next());

    await bench.time.advance(IDLE / 2);

    expect(await waiting).toMatchObject({ name: 'APITimeoutError', kind: 'deadline', retryable: false });
    await expectNothingLeft(bench);
  }),
  check(
    'does not count the time between reads as idle, whether or not events are buffered',
    stream(send(text('The '), text('river ')), WAIT, send(text('Rhine.')), WAIT, send(finish(), DONE), END),
    async (bench) => {
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
  ),
  check('closes a stream dropped after a read, five idle times later, with a clear error', ENDLESS, async (bench) => {
    const iterator = await begin(bench);

    await bench.time.advance(5 * IDLE - 1);
    expect((await bench.report()).open).toBe(1);
    await bench.time.advance(1);

    await expectNothingLeft(bench);
    expect(await failureOf(iterator.next())).toMatchObject({
      ...{ name: 'APITimeoutError', kind: 'idle', phase: 'stream', sent: 'yes' },
      message: expect.stringContaining('not read for 5000 ms, 5 times its streamIdleTimeout.'),
      ...PARTIAL,
    });
  }),
  check('resolves a finalCompletion awaited inside its own loop, which then gets the rest', IN_PARTS, async (bench) => {
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
  }),
  check(
    'rejects a finalCompletion inside a loop with the error of the stream, which the loop throws after the chunks',
    stream(send(text('The '), text('Rhine.')), END),
    async (bench) => {
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
  ),
  check('closes a stream whose loop awaits an earlier finalCompletion, and says why', ENDLESS, async (bench) => {
    const stream = await bench.open();
    const whole = stream.finalCompletion();
    const loop = async (): Promise<void> => {
      for await (const _ of stream) await whole;
    };
    const error = failureOf(loop());
    await untilChunks(stream, 1);

    await bench.time.advance(5 * IDLE);

    const message = expect.stringContaining('call finalCompletion() where you await it');
    expect(await error).toMatchObject({ name: 'APITimeoutError', kind: 'idle', message });
    await expectNothingLeft(bench);
  }),
  check('frees the connection if a loop is left while its finalCompletion reads on', SILENT, async (bench) => {
    const stream = await bench.open();
    const texts = stream.textStream[Symbol.asyncIterator]();
    expect(await texts.next()).toMatchObject({ value: 'The ' });
    const whole = failureOf(stream.finalCompletion());
    expect(await stateOf(bench, whole)).toBe('pending');

    await texts.return?.();

    expect(await whole).toBeInstanceOf(StreamTruncatedError);
    expect(await texts.next()).toEqual({ done: true, value: undefined });
    await expectNothingLeft(bench);
  }),
  check('resolves a finalCompletion requested during a slow loop, inside or outside of it', WHOLE, async (bench) => {
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
  }),
  check('throws for a second loop at any time, and says what to do instead', WHOLE, async (bench) => {
    const stream = await bench.open();
    for await (const _ of stream) expect((await readAll(stream)).error).toBeInstanceOf(StreamConsumedError);
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
  }),
  check(
    'resolves overlapping calls of next() in their order',
    stream(send(text('a'), text('b')), WAIT, send(text('c'), finish(), DONE), END),
    async (bench) => {
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
  ),
  check(
    'resolves overlapping calls of next() on textStream in their order, and pending ones when it is left',
    stream(send(text('a'), finish(), text('b'))),
    async (bench) => {
      const texts = (await bench.open()).textStream[Symbol.asyncIterator]();
      const steps = [1, 2, 3, 4].map(() => texts.next());
      expect((await Promise.all(steps.slice(0, 2))).map(({ value }) => value)).toEqual(['a', 'b']);

      expect(await texts.return?.()).toEqual({ done: true, value: undefined });

      expect(await Promise.all(steps.slice(2))).toEqual(Array(2).fill({ done: true, value: undefined }));
      await expectNothingLeft(bench);
    },
  ),
  check('throws an error for one next() only, and then ends', stream(send(text('a')), END), async (bench) => {
    const iterator = (await bench.open())[Symbol.asyncIterator]();

    const steps = await Promise.allSettled([iterator.next(), iterator.next(), iterator.next()]);

    expect(steps.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(steps[2]).toMatchObject({ value: { done: true } });
  }),
  check(
    'returns the response with its attempts through withResponse()',
    { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_7' }, steps: [send(RHINE), END] },
    async (bench) => {
      const { data, response } = await bench.open().withResponse();

      expect(response).toMatchObject({ status: 200, attempts: [{ status: 200, delay: 0 }] });
      expect(data.response.requestId).toBe(data.response.headers.get('x-request-id') ?? undefined);
      data.close();
    },
  ),
  check(
    'measures the time to the first chunk, the largest gap after it, and the duration',
    { notIn: 'firefox', answers: { steps: [WAIT, ...IN_PARTS.steps] } },
    async (bench) => {
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
  ),
  check(
    'reuses the connection if the body ends after [DONE]',
    { notIn: 'webkit', answers: stream(send(text('The Rhine.'), event(chunk([])), DONE), END) },
    async (bench) => {
      for (let count = 0; count < 3; count += 1) {
        await bench.read();
        await bench.time.advance(0);
      }

      const { requests, connections } = await bench.report();
      expect(requests).toBe(3);
      expect(connections).toBeLessThanOrEqual(2); // the platform's fetch may open a second one
    },
  ),
];
