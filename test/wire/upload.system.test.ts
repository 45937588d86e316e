import fs from 'node:fs';
import { appendFile, mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { APITimeoutError, FileUploadParams } from '../../src/index.js';
import { atLength, isTried } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { manualRuntime } from '../helpers/manual-runtime.js';
import { answer, bytesOf, json, refused, resetAtEnd, resetAtHead } from './behaviours.js';
import { atEnd, atHead, type Turn } from './fault-server.js';
import { failureOf, KEY, PROMPT, serve, until, watched } from './world.js';

const MB = 1024 * 1024;
/** Larger than the allowed memory growth. */
const SIZE = atLength(128, 256) * MB;

type Uploadable = FileUploadParams['file'];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upload-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(engines.filter(isTried))('$engine', ({ engine, options }) => {
  const world = serve();

  test('a large file is streamed from disk with flat memory, and reports its progress', async () => {
    const path = join(folder, `large-${engine}.bin`);
    await (await open(path, 'w')).close();
    await truncate(path, SIZE);
    world.server.answers(json({ id: 'f1' }));
    const seen: number[] = [];
    const start = process.memoryUsage.rss();
    let peak = start;
    const onProgress = (sent: number) => {
      seen.push(sent);
      peak = Math.max(peak, process.memoryUsage.rss());
    };

    await world.gateway(options).files.upload({ file: { path }, purpose: 'test' }, { onProgress });

    expect(world.server.turns[0]?.bodySize).toBeGreaterThan(SIZE);
    expect(peak - start).toBeLessThan(SIZE); // chunks wait for a collection, which Node 24 does later
    expect(seen[0]).toBe(0);
    expect(seen.at(-1)).toBe(SIZE);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  const text = `${PROMPT} ü`;
  const bytes = new TextEncoder().encode(text);
  test.each([
    { kind: 'bytes', file: () => bytes },
    { kind: 'an ArrayBuffer', file: () => bytes.slice().buffer },
    { kind: 'a Blob', file: () => new Blob([text]) },
    { kind: 'a File', file: () => new File([text], 'a.txt', { type: 'text/plain' }) },
    {
      kind: 'a path',
      file: async () => {
        await writeFile(join(folder, 'a.txt'), text);
        return { path: join(folder, 'a.txt') };
      },
    },
  ])('$kind is sent again, byte for byte, after a 503 and a 429', async ({ file }) => {
    world.server.answers(refused(503), answer(429), json({ id: 'f1' }));

    await world.gateway({ ...options, pacing: false }).files.upload({ file: await file(), purpose: 'test' });

    const bodies = world.server.turns.map(({ body }) => body.toString());
    expect(bodies).toEqual(Array(3).fill(bodies[0]));
    expect(bodies[0]).toContain(`\r\n\r\n${text}\r\n--`);
  });

  test.each([
    { kind: 'an async iterable', make: () => oneShot([bytes]) },
    { kind: 'a web stream', make: () => new Blob([bytes]).stream() },
  ])('$kind is sent only once, even after a 503', async ({ make }) => {
    world.server.answers(answer(503));

    const error = await failureOf(world.gateway(options).files.upload({ file: make(), purpose: 'test' }));

    expect(error.name).toBe('ServiceUnavailableError');
    expect(world.server.requests).toBe(1);
    expect(world.server.turns[0]?.body.toString()).toContain(text);
  });

  test.each([resetAtHead, resetAtEnd])('an upload whose connection breaks is not sent again', async (broken) => {
    world.server.answers(broken());

    const error = await failureOf(
      world.gateway(options).files.upload({ file: new Blob([new Uint8Array(MB)]), purpose: 'x' }),
    );

    expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe' });
    expect(world.server.requests).toBe(1);
  });

  test('a source that throws midway fails the upload with its error as the cause and ends the connection', async () => {
    world.server.answers(json({}));
    async function* failing() {
      yield bytes;
      throw new Error('the disk is gone');
    }

    const error = await failureOf(world.gateway(options).files.upload({ file: failing(), purpose: 'test' }));

    expect(error).toMatchObject({
      name: 'APIConnectionError',
      cause: { message: 'the disk is gone' },
      retryable: false,
    });
    await until(() => world.server.used === 0);
  });

  test.each([
    { place: 'first', parts: [], after: 0 },
    { place: 'later', parts: [new Uint8Array(200_000)], after: 200_000 },
  ])('a stream whose $place part is not bytes fails with sent: maybe', async ({ parts, after }) => {
    world.server.answers(json({ id: 'f1' }));
    const file = oneShot([...parts, { not: 'bytes' } as unknown as Uint8Array]);

    const error = await failureOf(world.gateway(options).files.upload({ file, purpose: 'test' }));

    expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe', retryable: false });
    expect(error.message).toContain(`after ${after} bytes of the file: the stream yielded a value that is not bytes`);
    await brokenOff();
  });

  test('an error of this package that a source throws is the cause, not the error of the upload itself', async () => {
    world.server.answers(answer(503));
    const other = world.gateway({ ...options, maxRetries: 0 });
    const failures = [() => other.files.upload({ file: 5 as never, purpose: 'test' }), () => other.presets.list()];

    for (const fail of failures) {
      async function* failing() {
        yield bytes;
        await fail();
      }
      const error = await failureOf(world.gateway(options).files.upload({ file: failing(), purpose: 'test' }));
      const inner = await failureOf(fail());

      expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe', retryable: false });
      expect((error.cause as Error).name).toBe(inner.name);
    }
  });

  /** The connection is closed, and the service received no complete form. */
  async function brokenOff(): Promise<void> {
    await until(() => world.server.open.size < world.server.connections);
    expect(world.server.turns.filter((turn) => turn.complete || isClosed(turn))).toEqual([]);
  }

  const CHANGES: { change: string; by: (path: string) => void | Promise<void> }[] = [
    { change: 'shrinks', by: (path) => truncate(path, 100_000) },
    { change: 'grows', by: (path) => appendFile(path, new Uint8Array(100_000)) },
    { change: 'is emptied', by: (path) => truncate(path, 0) },
    { change: 'is removed', by: (path) => rm(path) },
  ];

  test.each(CHANGES)(
    'a file that $change while it is sent fails the upload, and the form is left incomplete',
    async ({ by }) => {
      world.server.answers(json({ id: 'f1' }));
      const path = join(folder, `changing-${engine}.bin`);
      await writeFile(path, new Uint8Array(200_000));
      const client = world.gateway({ ...options, apiKey: () => Promise.resolve(by(path)).then(() => KEY) });

      const error = await failureOf(client.files.upload({ file: { path }, purpose: 'test' }));

      expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe', retryable: false });
      expect(error.message).toMatch(/had 200000 when the call began, and changed size|could not be read to its end/);
      await brokenOff();
    },
  );

  test.each(CHANGES)(
    'a Blob of a file that $change before it is read fails the upload with an error that is not retryable',
    async ({ by }) => {
      world.server.answers(json({ id: 'f1' }));
      const path = join(folder, `blob-${engine}.bin`);
      await writeFile(path, new Uint8Array(200_000));
      const file = await fs.openAsBlob(path);
      await by(path);

      const error = await failureOf(world.gateway(options).files.upload({ file, purpose: 'test' }));

      expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe', retryable: false });
      expect(error.message).toMatch(/could not be read to its end|was deleted or changed/);
      await brokenOff();
    },
  );

  test('a Blob that yields fewer bytes than its size fails the upload', async () => {
    class Short extends Blob {
      override readonly size = 100;
      override stream() {
        return new Blob([new Uint8Array(50)]).stream();
      }
    }
    world.server.answers(json({ id: 'f1' }));

    const error = await failureOf(world.gateway(options).files.upload({ file: new Short(), purpose: 'test' }));

    expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe', retryable: false });
    expect(error.message).toContain('changed size while it was being sent');
    await until(() => world.server.open.size < world.server.connections);
    expect(world.server.turns.filter(({ complete }) => complete)).toEqual([]);
  });

  test.each([
    { when: 'before the request', more: {} },
    { when: 'while the key is read', more: { apiKey: () => new Promise<string>((go) => setTimeout(go, 50, KEY)) } },
    { when: 'and the service is down', more: { baseURL: 'http://127.0.0.1:9' } },
  ])('a Node stream that fails $when fails the call, not the process', async ({ more }) => {
    world.server.answers(json({ id: 'f1' }));
    const uncaught = vi.fn();
    process.on('uncaughtException', uncaught);
    const file = fs.createReadStream(join(folder, 'missing.bin'));

    await failureOf(world.gateway({ ...options, maxRetries: 0, ...more }).files.upload({ file, purpose: 'test' }));
    await until(() => file.closed);

    process.off('uncaughtException', uncaught);
    expect(uncaught).not.toHaveBeenCalled();
    expect(world.server.turns.filter(({ complete }) => complete)).toEqual([]);
  });

  test('the timeout ends a stalled upload, but not a slow one', async () => {
    world.server.answers(json({ id: 'f1' }));
    const client = world.gateway(options);
    async function* slow(until: number) {
      for (let part = 0; part < until; part += 1) {
        yield bytes;
        await new Promise((go) => setTimeout(go, 60));
      }
      if (until < 15) await new Promise(() => {});
    }

    await client.files.upload({ file: slow(15), purpose: 'test' }, { timeout: 500 });
    const error = await failureOf(client.files.upload({ file: slow(2), purpose: 'test' }, { timeout: 500 }));

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
    const file = new Blob([new Uint8Array(8 * MB)]);
    const call = client.files.upload({ file, purpose: 'test' }, { timeout: 300 }).then(
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

  describe.each([
    { end: 'the signal', options: {} },
    { end: 'the timeout', options: { timeout: 300 } },
  ])('an upload ended by $end', ({ end, options: ending }) => {
    const stopped = async (file: Uploadable, started: () => boolean) => {
      world.server.answers(atEnd(() => {}));
      const controller = new AbortController();
      const seen: number[] = [];
      const call = world
        .gateway(options)
        .files.upload(
          { file, purpose: 'test' },
          { ...ending, signal: controller.signal, onProgress: (sent) => seen.push(sent) },
        );
      if (end === 'the signal') void until(started).then(() => controller.abort());
      const error = await failureOf(call);
      return { error, seen, name: end === 'the signal' ? 'AbortError' : 'APITimeoutError' };
    };

    test('cancels a web stream, even a stalled one', async () => {
      let pulls = 0;
      const cancel = vi.fn();
      const file = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            pulls += 1;
            if (pulls > 1) return new Promise(() => {});
            return controller.enqueue(bytes);
          },
          cancel,
        },
        { highWaterMark: 0 },
      );

      const { error, name } = await stopped(file, () => pulls === 2);

      expect(error.name).toBe(name);
      await until(() => cancel.mock.calls.length === 1);
    });

    test('destroys a stalled Node stream', async () => {
      const file = new Readable({ read() {} });
      file.push(bytes);

      const { error, name } = await stopped(file, () => world.server.requests === 1);

      expect(error.name).toBe(name);
      await until(() => file.destroyed);
    });

    test('ends a generator after its current read, and reports no more progress', async () => {
      let made = 0;
      let ended = false;
      async function* endless() {
        try {
          for (; ; made += 1) {
            if (end === 'the timeout' && made === 3) await new Promise((go) => setTimeout(go, 500));
            yield bytes;
            await new Promise((go) => setTimeout(go, 1));
          }
        } finally {
          ended = true;
        }
      }

      const { error, name, seen } = await stopped(endless(), () => made > 5);
      const told = seen.length;
      await until(() => ended);

      expect(error.name).toBe(name);
      expect(seen.length).toBe(told);
    });

    test.runIf(end === 'the signal')('stops reading its file', async () => {
      const path = join(folder, `endless-${engine}.bin`);
      await (await open(path, 'w')).close();
      await truncate(path, 4_096 * MB);
      const opened = vi.spyOn(fs, 'createReadStream');

      const { error, name } = await stopped({ path }, () => (world.server.turns[0]?.bodySize ?? 0) > MB);

      expect(error.name).toBe(name);
      const stream = opened.mock.results[0]?.value as Readable;
      opened.mockRestore();
      await until(() => stream.destroyed);
      expect(world.server.turns[0]?.bodySize).toBeLessThan(1_000 * MB);
    });
  });

  test('a stream is cancelled if the response comes before its end', async () => {
    world.server.answers(atHead(({ socket }) => void socket.write(bytesOf(413, '{"error":{"message":"too large"}}'))));
    const cancel = vi.fn();
    const file = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}), cancel });

    const error = await failureOf(world.gateway(options).files.upload({ file, purpose: 'test' }));

    expect(error).toMatchObject({ status: 413 });
    await until(() => cancel.mock.calls.length === 1);
  });

  test.each([200, 413])('a %d that comes before the end of an upload is its response', async (status) => {
    world.server.answers(
      atHead(
        ({ socket }) => void socket.write(bytesOf(status, status === 200 ? '{"id":"f1"}' : '{"message":"large"}')),
      ),
    );
    let ended = false;
    async function* endless() {
      try {
        for (;;) yield new Uint8Array(65_536);
      } finally {
        ended = true;
      }
    }

    const call = world.gateway(options).files.upload({ file: endless(), purpose: 'test' });

    if (status === 200) expect(await call).toEqual({ id: 'f1' });
    else expect(await failureOf(call)).toMatchObject({ status });
    await until(() => ended && world.server.used === 0);
  });

  test('a source that yields only empty parts counts as stalled, and is closed', async () => {
    world.server.answers(atEnd(() => {}));
    const time = manualRuntime();
    let parts = 0;
    let ended = false;
    async function* empty() {
      try {
        for (;;) {
          parts += 1;
          yield new Uint8Array();
          await new Promise((go) => setTimeout(go, 1));
        }
      } finally {
        ended = true;
      }
    }
    const file = { [Symbol.asyncIterator]: empty };

    const failure = failureOf(
      world.gateway(options, time).files.upload({ file, purpose: 'test' }, { timeout: 100, maxRetries: 0 }),
    );
    await until(() => parts > 1);
    await time.advance(60);
    const before = parts;
    await until(() => parts > before + 1);
    await time.advance(60);

    const error = await failure;
    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt' });
    await until(() => ended);
  });

  test.each([
    { source: 'whose return() returns no promise', more: { return: () => ({ done: true, value: undefined }) } },
    {
      source: 'whose return() throws',
      more: {
        return: () => {
          throw new Error('mine');
        },
      },
    },
    {
      source: 'whose destroy() throws',
      more: {
        destroy: () => {
          throw new Error('mine');
        },
      },
    },
    { source: 'whose return() rejects', more: { return: () => Promise.reject(new Error('mine')) } },
  ])('a source $source does not fail the upload', async ({ more }) => {
    world.server.answers(json({ id: 'f1' }));
    let left = 3;
    const source = {
      [Symbol.asyncIterator]: () => source,
      next: async () => (left-- > 0 ? { done: false, value: bytes } : { done: true, value: undefined }),
      ...more,
    };

    const record = await world.gateway(options).files.upload({ file: source as never, purpose: 'test' });

    expect(record.id).toBe('f1');
  });

  test.each([
    { before: 'its key is read', apiKey: () => Promise.reject(new Error('no key')), signal: undefined },
    { before: 'it begins', apiKey: KEY, signal: AbortSignal.abort() },
  ])('a stream is closed if its call ends before $before', async ({ apiKey, signal }) => {
    const cancel = vi.fn();
    const web = new ReadableStream<Uint8Array>({ cancel });
    const node = new Readable({ read() {} });
    const client = world.gateway({ ...options, apiKey });

    await failureOf(client.files.upload({ file: web, purpose: 'test' }, { signal }));
    await failureOf(client.files.upload({ file: node, purpose: 'test' }, { signal }));

    await until(() => cancel.mock.calls.length === 1 && node.destroyed);
    expect(world.server.requests).toBe(0);
  });

  test('a stream that was already read or is locked is rejected', async () => {
    const node = Readable.from([bytes]);
    for await (const _ of node);
    const web = new Blob([bytes]).stream();
    web.getReader();

    for (const file of [node, web]) {
      const error = await failureOf(world.gateway(options).files.upload({ file, purpose: 'test' }));
      expect(error).toMatchObject({ name: 'RequestValidationError', issues: [{ path: ['file'] }] });
    }
  });

  test.each([
    { kind: 'generator', file: () => oneShot([bytes]) },
    { kind: 'web stream', file: () => new Blob([bytes]).stream() },
  ])('a $kind that was already read fails the upload, and the form is never completed', async ({ file: make }) => {
    world.server.answers(json({ id: 'f1' }));
    const file = make();
    for await (const _ of file as AsyncIterable<unknown>);

    const error = await failureOf(world.gateway(options).files.upload({ file, purpose: 'test' }));

    expect(error).toMatchObject({ name: 'APIConnectionError', retryable: false });
    expect(error.message).toContain(
      'after 0 bytes of the file: the stream had ended before. A stream can be read only',
    );
    await brokenOff();
  });

  test.each([
    { kind: 'Node stream', file: () => Readable.from([]) },
    { kind: 'Blob', file: () => new Blob([]) },
    { kind: 'generator of an empty part', file: () => oneShot([new Uint8Array()]) },
  ])('an empty file can be sent as a $kind', async ({ file }) => {
    world.server.answers(json({ id: 'f1' }));

    await world.gateway(options).files.upload({ file: file(), purpose: 'test' });

    expect(world.server.turns[0]?.body.toString()).toContain('filename="file"');
  });

  test('an onProgress that throws does not fail the upload', async () => {
    world.server.answers(json({ id: 'f1' }));
    const onProgress = () => {
      throw new Error('mine');
    };

    const record = await world.gateway(options).files.upload({ file: bytes, purpose: 'test' }, { onProgress });

    expect(record.id).toBe('f1');
  });

  test('an upload of known size has a content-length, and a stream is sent in chunks', async () => {
    world.server.answers(json({ id: 'f1' }));
    const client = world.gateway(options);
    await client.files.upload({ file: bytes, purpose: 'test' });
    await client.files.upload({ file: oneShot([bytes]), purpose: 'test' });

    const [known, streamed] = world.server.turns;

    expect(known?.headers.get('content-length')).toBe(String(known?.bodySize));
    expect(streamed?.headers.get('transfer-encoding')).toBe('chunked');
    expect(streamed?.body.toString()).toContain(text);
  });

  test('the timeout ends the wait for a response once everything is sent', async () => {
    world.server.answers(atEnd(() => {}));

    const error = await failureOf(
      world.gateway(options).files.upload({ file: bytes, purpose: 'test' }, { timeout: 300 }),
    );

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt', sent: 'maybe' });
    expect(world.server.requests).toBe(1);
  });

  test.each([
    'a\0b',
    'a\u0001\u001f\u007fb',
    'a\tb\u000bc\fd',
    'a\nb',
    'a\rb',
    'a\r\nb',
    'a"b',
    '%22%0A',
    'ü €.😀',
    'a\u0085b\u2028c',
  ])('the file name %j is encoded as browsers encode it', async (filename) => {
    world.server.answers(json({ id: 'f1' }));
    const form = new FormData();
    form.append('file', new File([], filename));
    const header = /filename="[\s\S]*?"\r\n/;

    await world.gateway(options).files.upload({ file: bytes, purpose: 'test', filename });

    const [written] = header.exec(await new Response(form).text()) ?? [];
    expect(written).toBeDefined();
    expect(header.exec(world.server.turns[0]?.body.toString() ?? '')?.[0]).toBe(written);
  });

  test('any names, values and bytes survive the form unchanged', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((s) => s.isWellFormed());
    const nasty = fc.constantFrom(
      'a"; filename="b',
      'a\r\nContent-Type: x',
      '--\r\n--',
      '../../etc/passwd',
      '%22',
      '\\"',
    );

    await fc.assert(
      fc.asyncProperty(
        fc.oneof(name, nasty),
        fc.oneof(name, nasty),
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }),
          fc.constantFrom('\r\n--', '------context-gateway-').map((s) => Buffer.from(s)),
        ),
        async (filename, purpose, content) => {
          const { requests } = world.server;
          world.server.answers(json({ id: 'f1' }));
          await world.gateway(options).files.upload({ file: content, purpose, filename });
          const turn = world.server.turns[requests];
          const form = await new Response(turn?.body as BodyInit, {
            headers: { 'content-type': turn?.headers.get('content-type') ?? '' },
          }).formData();
          const file = form.get('file') as File;

          expect([...form.keys()]).toEqual(['purpose', 'file']);
          expect(form.get('purpose')).toBe(purpose);
          expect(new Uint8Array(await file.arrayBuffer())).toEqual(new Uint8Array(content));
          expect(file.name).toBe(asFormsHaveIt(filename.split(/[/\\]/).at(-1) || 'file'));
        },
      ),
      { numRuns: atLength(30, 100) },
    );
  });
});

async function* oneShot(parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

/** Whether a form has its closing boundary. If it has, a service may store the file. */
function isClosed({ headers, body }: Turn): boolean {
  return body.includes(`--${headers.get('content-type')?.split('boundary=')[1]}--`);
}

/** The platform's form parser decodes `%22` to a quote, and `%0D` and `%0A` to line breaks. */
function asFormsHaveIt(name: string): string {
  return name.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%22', '"');
}
