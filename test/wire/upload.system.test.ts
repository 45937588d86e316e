import fs from 'node:fs';
import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { UploadOptions } from '../../src/gateway/files.js';
import type { APITimeoutError, FileRecord, Uploadable } from '../../src/index.js';
import { atLength, isTried } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { manualRuntime } from '../helpers/manual-runtime.js';
import { bytesOf, json, resetAtEnd, resetAtHead } from './behaviours.js';
import { atEnd, atHead, type Turn } from './fault-server.js';
import { failureOf, KEY, PROMPT, serve, until, watched } from './world.js';

const MB = 1024 * 1024;
/** Larger than the allowed memory growth. */
const SIZE = atLength(128, 256) * MB;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upload-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(engines.filter(isTried))('$engine', ({ engine, options }) => {
  const world = serve();
  const bytes = new TextEncoder().encode(PROMPT);
  const upload = (file: unknown, more: UploadOptions<FileRecord> = {}, client = world.gateway(options)) =>
    client.files.upload({ file: file as Uploadable, purpose: 'test' }, more);

  /** A new file of zeros. */
  async function zeros(name: string, size: number): Promise<string> {
    const path = join(folder, `${name}-${engine}.bin`);
    await writeFile(path, '');
    await truncate(path, size);
    return path;
  }

  /** The connection is closed, and the service received no complete form. */
  async function brokenOff(): Promise<void> {
    await until(() => world.server.open.size < world.server.connections);
    expect(world.server.turns.filter((turn) => turn.complete || isClosed(turn))).toEqual([]);
  }

  test('a large file is streamed from disk with flat memory', async () => {
    const path = await zeros('large', SIZE);
    world.server.answers(json({ id: 'f1' }));
    const start = process.memoryUsage.rss();
    let peak = start;
    const onProgress = () => {
      peak = Math.max(peak, process.memoryUsage.rss());
    };

    await upload({ path }, { onProgress });

    expect(world.server.turns[0]?.bodySize).toBeGreaterThan(SIZE);
    expect(peak - start).toBeLessThan(SIZE); // chunks wait for a collection, which Node 24 does later
  });

  test.each([resetAtHead, resetAtEnd])('an upload whose connection breaks is not sent again', async (broken) => {
    world.server.answers(broken());

    const error = await failureOf(upload(new Blob([new Uint8Array(MB)])));

    expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe' });
    expect(world.server.requests).toBe(1);
  });

  const failed = { name: 'APIConnectionError', sent: 'maybe', retryable: false };

  test('a source that throws midway fails the upload with its error as the cause, and ends the connection', async () => {
    world.server.answers(json({}));
    const other = world.gateway({ ...options, maxRetries: 0 });
    const failures: [fail: () => unknown, cause: object][] = [
      [() => Promise.reject(new Error('the disk is gone')), { message: 'the disk is gone' }],
      // An error of this package is the cause as well, and not the error of the upload itself.
      [() => upload(5, {}, other), { name: 'RequestValidationError' }],
    ];

    for (const [fail, cause] of failures) {
      async function* failing() {
        yield bytes;
        await fail();
      }
      expect(await failureOf(upload(failing()))).toMatchObject({ ...failed, cause });
    }
    await until(() => world.server.used === 0);
  });

  test.each([
    { place: 'first', parts: [], after: 0 },
    { place: 'later', parts: [new Uint8Array(200_000)], after: 200_000 },
  ])('a stream whose $place part is not bytes fails with sent: maybe', async ({ parts, after }) => {
    world.server.answers(json({ id: 'f1' }));

    const error = await failureOf(upload(oneShot([...parts, { not: 'bytes' }])));

    expect(error).toMatchObject(failed);
    expect(error.message).toContain(`after ${after} bytes of the file: the stream yielded a value that is not bytes`);
    await brokenOff();
  });

  test.each<[change: string, by: (path: string) => Promise<void>]>([
    ['shrinks', (path) => truncate(path, 100_000)],
    ['grows', (path) => appendFile(path, new Uint8Array(100_000))],
    ['is removed', (path) => rm(path)],
  ])('a file that %s after the call began fails the upload, and the form is left incomplete', async (_, by) => {
    world.server.answers(json({ id: 'f1' }));
    const said = /had 200000 when the call began, and changed|could not be read to its end|was deleted or changed/;

    for (const open of [(path: string) => ({ path }), fs.openAsBlob]) {
      const path = await zeros('changing', 200_000);
      const client = world.gateway({ ...options, apiKey: () => by(path).then(() => KEY) });

      const error = await failureOf(upload(await open(path), {}, client));

      expect(error).toMatchObject(failed);
      expect(error.message).toMatch(said);
      await brokenOff();
    }
  });

  test('a Blob that yields fewer bytes than its size fails the upload', async () => {
    class Short extends Blob {
      override readonly size = 100;
      override stream() {
        return new Blob([new Uint8Array(50)]).stream();
      }
    }
    world.server.answers(json({ id: 'f1' }));

    const error = await failureOf(upload(new Short()));

    expect(error).toMatchObject(failed);
    expect(error.message).toContain('changed size while it was being sent');
    await brokenOff();
  });

  test.each([
    { when: 'before the request', more: {} },
    { when: 'while the key is read', more: { apiKey: () => new Promise<string>((go) => setTimeout(go, 50, KEY)) } },
  ])('a Node stream that fails $when fails the call, not the process', async ({ more }) => {
    world.server.answers(json({ id: 'f1' }));
    const uncaught = vi.fn();
    process.on('uncaughtException', uncaught);
    const file = fs.createReadStream(join(folder, 'missing.bin'));

    await failureOf(upload(file, {}, world.gateway({ ...options, maxRetries: 0, ...more })));
    await until(() => file.closed);

    process.off('uncaughtException', uncaught);
    expect(uncaught).not.toHaveBeenCalled();
    expect(world.server.turns.filter(({ complete }) => complete)).toEqual([]);
  });

  test('the timeout ends a stalled upload, but not a slow one', async () => {
    world.server.answers(json({ id: 'f1' }));
    async function* slow(until: number) {
      for (let part = 0; part < until; part += 1) {
        yield bytes;
        await new Promise((go) => setTimeout(go, 60));
      }
      if (until < 15) await new Promise(() => {});
    }

    await upload(slow(15), { timeout: 500 });
    const error = await failureOf(upload(slow(2), { timeout: 500 }));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt' });
  });

  test('a Blob through fetch, whose progress cannot be seen, has its timeout per megabyte', async () => {
    // The server takes 900 ms for 8 MB: longer than the timeout of 300 ms.
    world.server.answers(
      atHead(({ socket }) => {
        socket.pause();
        setTimeout(() => socket.resume(), 900);
      }),
    );
    const client = world.gateway({ ...options, maxRetries: 0 }, watched());
    const call = upload(new Blob([new Uint8Array(8 * MB)]), { timeout: 300 }, client).then(
      () => 'done',
      (error) => (error as APITimeoutError).kind,
    );
    await until(() => world.server.requests === 1);
    const turn = world.server.turns[0];
    await Promise.race([call, until(() => turn?.complete === true)]);
    turn?.socket.write(bytesOf(200, '{"id":"f1"}'));

    // undici sees the progress: the upload stalled for 900 ms.
    expect(await call).toBe(engine === 'fetch' ? 'done' : 'attempt');
  });

  /** Uploads a file until the caller aborts, once `started`. */
  async function aborted(file: unknown, started: () => boolean, onProgress = () => {}): Promise<void> {
    world.server.answers(atEnd(() => {}));
    const controller = new AbortController();
    const call = failureOf(upload(file, { signal: controller.signal, onProgress }));
    await until(started);
    controller.abort();
    expect((await call).name).toBe('AbortError');
  }

  /** A web stream that yields some parts, and then stalls. */
  function stalling(parts: number) {
    const cancel = vi.fn();
    let pulls = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      pulls += 1;
      return pulls > parts ? new Promise<void>(() => {}) : controller.enqueue(bytes);
    };
    const isStalled = () => pulls > parts;
    return { file: new ReadableStream({ pull, cancel }, { highWaterMark: 0 }), cancel, isStalled };
  }

  test('an abort cancels a stalled web stream, and so does the timeout', async () => {
    const first = stalling(1);
    const second = stalling(1);

    await aborted(first.file, first.isStalled);
    expect((await failureOf(upload(second.file, { timeout: 300 }))).name).toBe('APITimeoutError');

    await until(() => first.cancel.mock.calls.length === 1 && second.cancel.mock.calls.length === 1);
  });

  test('an abort destroys a stalled Node stream', async () => {
    const file = new Readable({ read() {} });
    file.push(bytes);

    await aborted(file, () => world.server.requests === 1);

    await until(() => file.destroyed);
  });

  test('an abort ends a generator after its current read, and then no progress is reported', async () => {
    const source = endless(bytes);
    const onProgress = vi.fn();

    await aborted(source.file(), () => source.parts > 5, onProgress);
    const told = onProgress.mock.calls.length;
    await until(() => source.ended);

    expect(onProgress).toHaveBeenCalledTimes(told);
  });

  test('an abort stops the reading of a file', async () => {
    const path = await zeros('endless', 4_096 * MB);
    const opened = vi.spyOn(fs, 'createReadStream');

    await aborted({ path }, () => (world.server.turns[0]?.bodySize ?? 0) > MB);

    const stream = opened.mock.results[0]?.value as Readable;
    opened.mockRestore();
    await until(() => stream.destroyed);
    expect(world.server.turns[0]?.bodySize).toBeLessThan(1_000 * MB);
  });

  test('a response that comes before the end of an upload is its response, and the source is closed', async () => {
    const early = (status: number, body: string) => atHead(({ socket }) => void socket.write(bytesOf(status, body)));
    world.server.answers(early(200, '{"id":"f1"}'), early(413, '{"message":"large"}'));
    const source = endless(new Uint8Array(65_536));
    const { file, cancel } = stalling(0);

    expect(await upload(source.file())).toEqual({ id: 'f1' });
    expect(await failureOf(upload(file))).toMatchObject({ name: 'RequestTooLargeError', status: 413 });
    await until(() => source.ended && cancel.mock.calls.length === 1 && world.server.used === 0);
  });

  test('a source that yields only empty parts counts as stalled, and is closed', async () => {
    world.server.answers(atEnd(() => {}));
    const time = manualRuntime();
    const source = endless(new Uint8Array());

    const client = world.gateway({ ...options, maxRetries: 0 }, time);
    const failure = failureOf(upload({ [Symbol.asyncIterator]: source.file }, { timeout: 100 }, client));
    await until(() => source.parts > 1);
    await time.advance(60);
    const before = source.parts;
    await until(() => source.parts > before + 1);
    await time.advance(60);

    expect(await failure).toMatchObject({ name: 'APITimeoutError', kind: 'attempt' });
    await until(() => source.ended);
  });

  const fail = () => {
    throw new Error('mine');
  };
  test.each([
    ['return() returns no promise', { return: () => ({ done: true, value: undefined }) }],
    ['return() throws', { return: fail }],
    ['return() rejects', { return: () => Promise.reject(new Error('mine')) }],
    ['destroy() throws', { destroy: fail }],
  ])('a source whose %s does not fail the upload, nor does an onProgress that throws', async (_, more) => {
    world.server.answers(json({ id: 'f1' }));
    let left = 3;
    const source = {
      [Symbol.asyncIterator]: () => source,
      next: async () => (left-- > 0 ? { done: false, value: bytes } : { done: true, value: undefined }),
      ...more,
    };

    expect((await upload(source, { onProgress: fail })).id).toBe('f1');
  });

  test.each([
    { before: 'its key is read', apiKey: () => Promise.reject(new Error('no key')), signal: undefined },
    { before: 'it begins', apiKey: KEY, signal: AbortSignal.abort() },
  ])('a stream is closed if its call ends before $before', async ({ apiKey, signal }) => {
    const { file, cancel } = stalling(0);
    const node = new Readable({ read() {} });
    const client = world.gateway({ ...options, apiKey });

    await failureOf(upload(file, { signal }, client));
    await failureOf(upload(node, { signal }, client));

    await until(() => cancel.mock.calls.length === 1 && node.destroyed);
    expect(world.server.requests).toBe(0);
  });

  test('a stream that was already read or is locked is rejected', async () => {
    const node = Readable.from([bytes]);
    for await (const _ of node);
    const web = new Blob([bytes]).stream();
    web.getReader();

    for (const file of [node, web])
      expect(await failureOf(upload(file))).toMatchObject({
        name: 'RequestValidationError',
        issues: [{ path: ['file'] }],
      });
  });

  test.each([
    ['generator', oneShot([bytes])],
    ['web stream', new Blob([bytes]).stream()],
  ])('a %s that was already read fails the upload, and the form is never completed', async (_, file) => {
    world.server.answers(json({ id: 'f1' }));
    for await (const _ of file as AsyncIterable<unknown>);

    const error = await failureOf(upload(file));

    expect(error).toMatchObject({ name: 'APIConnectionError', retryable: false });
    expect(error.message).toContain(
      'after 0 bytes of the file: the stream had ended before. A stream can be read only',
    );
    await brokenOff();
  });

  test.each([
    ['Node stream', Readable.from([])],
    ['Blob', new Blob([])],
    ['generator of an empty part', oneShot([new Uint8Array()])],
  ])('an empty file can be sent as a %s', async (_, file) => {
    world.server.answers(json({ id: 'f1' }));

    await upload(file);

    expect(world.server.turns[0]?.body.toString()).toContain('filename="file"');
  });

  test('the timeout ends the wait for a response once everything is sent', async () => {
    world.server.answers(atEnd(() => {}));

    const error = await failureOf(upload(bytes, { timeout: 300 }));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt', sent: 'maybe' });
    expect(world.server.requests).toBe(1);
    expect(world.server.turns[0]?.headers.get('content-length')).toBe(String(world.server.turns[0]?.bodySize));
  });

  test('a file name is written as browsers do', async () => {
    world.server.answers(json({ id: 'f1' }));

    await world
      .gateway(options)
      .files.upload({ file: bytes, purpose: 'test', filename: 'a"\r\n\0%22%0A ü €.😀\u2028' });

    expect(world.server.turns[0]?.body.toString()).toContain('filename="a%22%0D%0A\0%22%0A ü €.😀\u2028"\r\n');
  });
});

/** A generator of this part without end, the parts it has yielded, and whether it was closed. */
function endless(part: Uint8Array) {
  const source = { parts: 0, ended: false, file };
  async function* file() {
    try {
      for (; ; source.parts += 1) {
        yield part;
        await new Promise((go) => setTimeout(go, 1));
      }
    } finally {
      source.ended = true;
    }
  }
  return source;
}

async function* oneShot(parts: unknown[]): AsyncGenerator<unknown> {
  yield* parts;
}

/** Whether a form has its closing boundary. If it has, a service may store the file. */
function isClosed({ headers, body }: Turn): boolean {
  return body.includes(`--${headers.get('content-type')?.split('boundary=')[1]}--`);
}
