import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { answer, flood, headOf, json, raw, rawThenEnd } from './behaviours.js';
import { failureOf, serve, until } from './world.js';

const GET = { method: 'GET', path: '/v1/things' } as const;
const MB = 1024 * 1024;
const CALLS = atLength(300, 1_000);
const JSON_HEAD = { 'content-type': 'application/json' };
const block = new Uint8Array(64 * 1024).fill(32);

describe.each(engines)('$engine', ({ options }) => {
  const world = serve();

  /** Memory a failing call takes at its peak, in bytes. */
  async function growthOf(call: () => PromiseLike<unknown>): Promise<{ error: Error; growth: number }> {
    const start = process.memoryUsage.rss();
    let peak = start;
    const sampling = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 5);
    const error = await failureOf(call());
    clearInterval(sampling);
    return { error, growth: Math.max(peak, process.memoryUsage.rss()) - start };
  }

  test('an answer announced as too large is not read', async () => {
    world.server.answers(raw(headOf(200, { ...JSON_HEAD, 'content-length': 100 * MB }), block));

    const error = await failureOf(world.gateway(options).request(GET));

    expect(error).toMatchObject({ name: 'ResponseTooLargeError', phase: 'body', sent: 'yes', retryable: false });
    await until(() => world.server.used === 0);
    expect(world.server.requests).toBe(1);
  });

  test('an answer that turns out too large is cut at the limit, and its connection closed', async () => {
    world.server.answers(flood(headOf(200, { ...JSON_HEAD, connection: 'close' }), block, 200 * MB));

    const { error, growth } = await growthOf(() => world.gateway(options).request(GET));

    expect(error.name).toBe('ResponseTooLargeError');
    expect(world.server.turns[0]?.socket.bytesWritten).toBeLessThan(60 * MB);
    expect(growth).toBeLessThan(150 * MB); // the server of this test, in the same process, keeps some of it
    await until(() => world.server.used === 0);
  });

  test.each([
    { encoding: 'gzip', bomb: gzipSync(new Uint8Array(64 * MB)) },
    { encoding: 'br', bomb: brotliCompressSync(new Uint8Array(64 * MB)) },
    { encoding: 'gzip, gzip', bomb: gzipSync(gzipSync(new Uint8Array(64 * MB))) },
  ])('what $encoding unpacks counts: a bomb is cut at the limit', async ({ encoding, bomb }) => {
    world.server.answers(answer(200, bomb, { 'content-encoding': encoding }));

    const { error } = await growthOf(() => world.gateway(options).request(GET));

    expect(error.name).toBe('ResponseTooLargeError');
  });

  test('an answer compressed a thousand times over is refused', async () => {
    world.server.answers(answer(200, '{}', { 'content-encoding': Array(1_000).fill('gzip').join(', ') }));

    const error = await failureOf(world.gateway({ ...options, maxRetries: 0 }).request(GET));

    expect(error.name).toBe('APIConnectionError');
  });

  test('an encoding nobody knows is taken for a name without a meaning: JSON is read, anything else is an error', async () => {
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
  ])('$encoding is undone, in successes and in errors', async ({ encoding, body }) => {
    world.server.answers(
      answer(200, body, { 'content-encoding': encoding }),
      answer(400, body, { 'content-encoding': encoding }),
    );
    const client = world.gateway(options);

    expect(await client.request(GET)).toEqual({ a: 'ü' });
    expect(await failureOf(client.request(GET))).toMatchObject({ status: 400, body: { a: 'ü' } });
  });

  test.each([
    { damage: 'in its middle', body: corrupted(gzipSync(JSON.stringify({ a: 'x'.repeat(2_000) }))) },
    { damage: 'at its start', body: Buffer.from('this is no gzip') },
    {
      damage: 'by a cut',
      body: gzipSync(JSON.stringify({ a: Math.random().toString(36).repeat(500) })).subarray(0, 60),
    },
  ])('gzip damaged $damage is an error of the answer, never an answer', async ({ body }) => {
    world.server.answers(answer(200, body, { 'content-encoding': 'gzip' }));

    const error = await failureOf(world.gateway({ ...options, maxRetries: 0 }).request(GET));

    expect(['APIConnectionError', 'ResponseValidationError']).toContain(error.name);
    expect(error.retryable).toBe(true);
  });

  test('an empty answer that says it is compressed is an empty answer', async () => {
    world.server.answers(
      answer(204, '', { 'content-encoding': 'gzip' }),
      answer(200, '', { 'content-encoding': 'gzip' }),
    );
    const client = world.context(options);

    expect(await client.unpin('c', 'm')).toBeUndefined();
    expect(await client.unpin('c', 'm')).toBeUndefined();
  });

  test('of an error’s body 64 kB are read, and then it is let go', async () => {
    world.server.decides(() =>
      flood(
        headOf(400, { 'content-type': 'text/plain', connection: 'close' }),
        new Uint8Array(64 * 1024).fill(97),
        50 * MB,
      ),
    );

    const error = await failureOf(world.gateway(options).request(GET));

    expect(error).toMatchObject({ name: 'BadRequestError', body: 'a'.repeat(64 * 1024) });
    expect(error.message.length).toBeLessThan(600);
    await until(() => world.server.used === 0);
  });

  test('an error whose body never ends is reported all the same, within its second', async () => {
    world.server.answers(raw(headOf(404, { ...JSON_HEAD, 'content-length': 500 }), '{"error":{"message":"no such'));

    const error = await failureOf(world.gateway(options).request(GET));

    expect(error).toMatchObject({ name: 'NotFoundError', status: 404 });
    expect(error.message).toContain('no such');
    await until(() => world.server.used === 0);
  });

  test('refusals in a row take hardly a connection', async () => {
    world.server.answers(answer(503, JSON.stringify({ error: { message: 'x'.repeat(5_000) } })));
    const client = world.gateway({ ...options, maxRetries: 0 });

    for (let call = 0; call < CALLS; call += 1) await client.request(GET).catch(() => {});

    expect(world.server.requests).toBe(CALLS);
    expect(world.server.connections).toBeLessThanOrEqual(3);
  });

  test('a byte order mark is dropped, and bytes are UTF-8 whatever the content type says', async () => {
    world.server.answers(
      json({ a: 'ü€😀' }, { 'content-type': 'application/json; charset=windows-1252' }),
      answer(200, '\ufeff{"a":1}'),
    );
    const client = world.gateway(options);

    expect(await client.request(GET)).toEqual({ a: 'ü€😀' });
    expect(await client.request(GET)).toEqual({ a: 1 });
  });

  test('an answer is the same bytes, however the network cuts it', async () => {
    const text = JSON.stringify({ a: 'ü€😀'.repeat(20) });
    const bytes = Buffer.from(text);
    const chunks = [...bytes].map((byte) =>
      Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]),
    );
    world.server.answers(
      rawThenEnd(headOf(200, { ...JSON_HEAD, 'transfer-encoding': 'chunked' }), ...chunks, '0\r\n\r\n'),
    );

    expect(await world.gateway(options).request(GET)).toEqual(JSON.parse(text));
  });
});

function corrupted(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0xff, 12, 20);
  return copy;
}
