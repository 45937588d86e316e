import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { answer, json } from './behaviours.js';
import { failureOf, serve } from './world.js';

const world = serve();
const bytes = Buffer.alloc(300_000, 'a');
const upload = (size?: number, file = Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)])) =>
  world.gateway({ maxRetries: 2 }).files.upload({ file, purpose: 'p', size });

test('a stream whose size is known is sent with its length, and only once', async () => {
  world.server.answers(json({ id: 'f' }), answer(503));

  await upload(bytes.length);
  const error = await failureOf(upload(bytes.length));

  const [sent] = world.server.turns;
  expect(Number(sent?.headers.get('content-length'))).toBe(sent?.bodySize);
  expect(sent?.headers.get('transfer-encoding')).toBeUndefined();
  expect(error).toMatchObject({ attempts: [{ status: 503 }] });
});

test('a service that wants the length of a stream says to pass its size', async () => {
  world.server.answers(answer(411, '<h1>411 Length Required</h1>', { 'content-type': 'text/html' }));

  const error = await failureOf(upload());

  expect(error.message).toContain('411 Length Required. Pass the size of the stream, or a Blob');
});

test.each([bytes.length + 1, bytes.length - 1, 0])(
  'a stream that has not the size %i is not uploaded',
  async (size) => {
    world.server.answers(json({}));

    const error = await failureOf(upload(size));

    expect(error.message).toContain(`the stream does not have the ${size} bytes that size says`);
    expect(error.retryable).toBe(false);
    expect(world.server.turns.filter(({ complete }) => complete)).toEqual([]);
  },
);

test('a stream that is empty, and said to be, is uploaded', async () => {
  world.server.answers(json({ id: 'f' }));

  expect(await upload(0, Readable.from([]))).toEqual({ id: 'f' });
});
