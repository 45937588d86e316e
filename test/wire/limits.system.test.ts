import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { atLength, isTried } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { answer, flood, headOf, raw, rawThenEnd } from './behaviours.js';
import { failureOf, GET, serve, until } from './world.js';

const MB = 1024 * 1024;
const CALLS = atLength(300, 1_000);
const JSON_HEAD = { 'content-type': 'application/json' };
const block = new Uint8Array(64 * 1024).fill(32);

/** Small bodies that are 64 MB once decoded. */
const zeros = new Uint8Array(64 * MB);
const gzipped = gzipSync(zeros);
const bombs = [
  { encoding: 'gzip', bomb: gzipped },
  { encoding: 'br', bomb: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }) },
  { encoding: 'gzip, gzip', bomb: gzipSync(gzipped) },
];

describe.each(engines.filter(isTried))('$engine', ({ options }) => {
  const world = serve();

  test('arguments with 200,000 mistakes are rejected with one issue', async () => {
    const messages = Array(200_000).fill({ role: 1, content: 2 });

    const error = await failureOf(world.gateway(options).chat.completions.create({ model: 'm', messages }));

    expect(error).toMatchObject({ name: 'RequestValidationError', issues: { length: 1 } });
    expect(world.server.requests).toBe(0);
  });

  test('a response whose content-length is too large is not read', async () => {
    world.server.answers(raw(headOf(200, { ...JSON_HEAD, 'content-length': 100 * MB }), block));

    const error = await failureOf(world.gateway(options).request(GET));

    expect(error).toMatchObject({ name: 'ResponseTooLargeError', phase: 'body', sent: 'yes', retryable: false });
    await until(() => world.server.used === 0);
    expect(world.server.requests).toBe(1);
  });

  test('a response that grows too large is cut off at the limit, and its connection is closed', async () => {
    world.server.answers(flood(headOf(200, { ...JSON_HEAD, connection: 'close' }), block, 200 * MB));

    const start = process.memoryUsage.rss();
    let peak = start;
    const sampling = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 5);
    const error = await failureOf(world.gateway(options).request(GET));
    clearInterval(sampling);

    expect(error.name).toBe('ResponseTooLargeError');
    expect(world.server.turns[0]?.socket.bytesWritten).toBeLessThan(60 * MB);
    expect(Math.max(peak, process.memoryUsage.rss()) - start).toBeLessThan(150 * MB); // includes buffers of the test server, which runs in the same process
    await until(() => world.server.used === 0);
  });

  test.each(bombs)(
    'the limit counts decompressed bytes: a bomb in $encoding is cut off',
    async ({ encoding, bomb }) => {
      world.server.answers(answer(200, bomb, { 'content-encoding': encoding }));

      expect((await failureOf(world.gateway(options).request(GET))).name).toBe('ResponseTooLargeError');
    },
  );

  test('a response with a thousand content encodings is rejected', async () => {
    world.server.answers(answer(200, '{}', { 'content-encoding': Array(1_000).fill('gzip').join(', ') }));

    const error = await failureOf(world.gateway({ ...options, maxRetries: 0 }).request(GET));

    expect(error.name).toBe('APIConnectionError');
  });

  test('an unknown content encoding is ignored: JSON is read, and anything else is an error', async () => {
    world.server.answers(
      answer(200, '{"a":1}', { 'content-encoding': 'utf-8' }),
      answer(200, 'zzz', { 'content-encoding': 'zz' }),
    );
    const client = world.gateway({ ...options, maxRetries: 0 });

    expect(await client.request(GET)).toEqual({ a: 1 });
    expect((await failureOf(client.request(GET))).name).toBe('ResponseValidationError');
  });

  test.each([
    { encoding: 'gzip', body: gzipSync('{"a":"ü"}') },
    { encoding: 'GZIP', body: gzipSync('{"a":"ü"}') },
    { encoding: 'x-gzip', body: gzipSync('{"a":"ü"}') },
    { encoding: 'deflate', body: deflateSync('{"a":"ü"}') },
    { encoding: 'deflate', body: deflateRawSync('{"a":"ü"}') },
    { encoding: 'br', body: brotliCompressSync('{"a":"ü"}') },
    { encoding: 'deflate, gzip', body: gzipSync(deflateSync('{"a":"ü"}')) },
  ])('$encoding is decoded in successes and in errors', async ({ encoding, body }) => {
    world.server.answers(...[200, 400].map((status) => answer(status, body, { 'content-encoding': encoding })));
    const client = world.gateway(options);

    expect(await client.request(GET)).toEqual({ a: 'ü' });
    expect(await failureOf(client.request(GET))).toMatchObject({ status: 400, body: { a: 'ü' } });
  });

  test.each([
    {
      what: 'damaged in its middle',
      body: corrupted(gzipSync(JSON.stringify({ a: 'x'.repeat(2_000) }))),
      retryable: true,
    },
    { what: 'cut off', body: gzipSync(JSON.stringify({ a: 'long'.repeat(500) })).subarray(0, 30), retryable: true },
    { what: 'no gzip at all', body: Buffer.from('this is not gzip'), retryable: false },
  ])('gzip that is $what is never returned as a response (retryable: $retryable)', async ({ body, retryable }) => {
    world.server.answers(answer(200, body, { 'content-encoding': 'gzip' }));

    const error = await failureOf(world.gateway({ ...options, maxRetries: 0 }).request(GET));

    expect(['APIConnectionError', 'ResponseValidationError']).toContain(error.name);
    expect(error.retryable).toBe(retryable);
  });

  test('an empty response with a content encoding is an empty response', async () => {
    world.server.answers(...[204, 200].map((status) => answer(status, '', { 'content-encoding': 'gzip' })));
    const client = world.context(options);

    expect(await client.unpin('c', 'm')).toBeUndefined();
    expect(await client.unpin('c', 'm')).toBeUndefined();
  });

  test('64 kB of an error body are read, and then its connection is closed', async () => {
    const head = headOf(400, { 'content-type': 'text/plain', connection: 'close' });
    world.server.answers(flood(head, Buffer.alloc(64 * 1024, 'a'), 50 * MB));

    const error = await failureOf(world.gateway(options).request(GET));

    expect(error).toMatchObject({ name: 'BadRequestError', body: 'a'.repeat(64 * 1024) });
    expect(error.message.length).toBeLessThan(600);
    await until(() => world.server.used === 0);
  });

  test('an error whose body never ends is still reported', async () => {
    world.server.answers(raw(headOf(404, { ...JSON_HEAD, 'content-length': 500 }), '{"error":{"message":"no such'));

    const error = await failureOf(world.gateway(options).request(GET));

    expect(error).toMatchObject({ name: 'NotFoundError', status: 404 });
    expect(error.message).toContain('no such');
    await until(() => world.server.used === 0);
  });

  test('errors in a row reuse their connections', async () => {
    world.server.answers(answer(503, JSON.stringify({ error: { message: 'x'.repeat(5_000) } })));
    const client = world.gateway({ ...options, maxRetries: 0 });

    for (let call = 0; call < CALLS; call += 1) await client.request(GET).catch(() => {});

    expect(world.server.requests).toBe(CALLS);
    expect(world.server.connections).toBeLessThanOrEqual(3);
  });

  test('a body is read as UTF-8, whatever its content type says and however the network splits it', async () => {
    const text = JSON.stringify({ a: 'ü€😀'.repeat(20) });
    const chunks = [...Buffer.from(text)].flatMap((byte) => ['1\r\n', Buffer.of(byte), '\r\n']);
    const head = { 'content-type': 'application/json; charset=windows-1252', 'transfer-encoding': 'chunked' };
    world.server.answers(rawThenEnd(headOf(200, head), ...chunks, '0\r\n\r\n'));

    expect(await world.gateway(options).request(GET)).toEqual(JSON.parse(text));
  });
});

function corrupted(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0xff, 12, 20);
  return copy;
}
