import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Uploadable } from 'context-gateway';
import * as fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { engines } from '../helpers/engines.js';
import { failureOf } from '../helpers/service.js';
import { unicodeString } from '../helpers/strings.js';
import { emulatedService } from '../helpers/world.js';

const bytes = new Uint8Array(200_000).map((_, at) => (at * 31) % 251);
const folder = mkdtempSync(join(tmpdir(), 'upload-'));
const path = join(folder, 'report.bin');
writeFileSync(path, bytes);
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

function* pieces(): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 30_000) yield bytes.subarray(at, at + 30_000);
}

const sources: { from: string; name: string; repeatable: boolean; open: () => Uploadable }[] = [
  { from: 'a Blob', name: 'file', repeatable: true, open: () => new Blob([bytes]) },
  { from: 'a File', name: 'own.bin', repeatable: true, open: () => new File([bytes], 'own.bin') },
  { from: 'bytes', name: 'file', repeatable: true, open: () => bytes },
  {
    from: 'a view of a larger buffer',
    name: 'file',
    repeatable: true,
    open: () => padded().subarray(7, 7 + bytes.length),
  },
  { from: 'an ArrayBuffer', name: 'file', repeatable: true, open: () => bytes.slice().buffer },
  { from: 'a path', name: 'report.bin', repeatable: true, open: () => ({ path }) },
  { from: 'a web stream', name: 'file', repeatable: false, open: () => new Blob([bytes]).stream() },
  { from: 'a Node stream', name: 'file', repeatable: false, open: () => Readable.from(pieces()) },
  {
    from: 'an async generator',
    name: 'file',
    repeatable: false,
    open: async function* () {
      yield* pieces();
    },
  },
];

function digest(content: Uint8Array | undefined): string {
  return createHash('sha256')
    .update(content ?? '')
    .digest('hex');
}

function padded(): Uint8Array {
  const larger = new Uint8Array(bytes.length + 20);
  larger.set(bytes, 7);
  return larger;
}

describe.each(engines)('uploads through $engine', ({ options }) => {
  const world = emulatedService(options);
  /** Digests of the stored files, because comparing 200,000 numbers one by one is slow. */
  const stored = () => world.emulator.files.list().map(({ id }) => digest(world.emulator.files.content(id)));

  test.each(sources)('$from arrives byte for byte', async ({ open, name }) => {
    const record = await world.gateway().files.upload({ file: open(), purpose: 'notes' });

    expect(record).toMatchObject({ bytes: bytes.length, filename: name, purpose: 'notes' });
    expect(stored()).toEqual([digest(bytes)]);
  });

  test.each(sources)('after a 503, $from is sent again only if it can be (repeatable: $repeatable)', async (source) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    world.emulator.faults.add({ respond: { status: 503 } });

    const call = world.gateway({ maxRetries: 2 }).files.upload({ file: source.open(), purpose: 'p' });
    await call.catch(() => {});

    if (source.repeatable) expect(stored()).toEqual([digest(bytes)]);
    else await expect(call).rejects.toMatchObject({ name: 'ServiceUnavailableError', attempts: [{ status: 503 }] });
    expect(world.emulator.requests).toHaveLength(source.repeatable ? 2 : 1);
  });

  test('bytes changed after the call are sent unchanged', async () => {
    const changing = bytes.slice();
    const call = world.gateway().files.upload({ file: changing, purpose: 'p' });
    changing.fill(0);
    await call;

    expect(stored()).toEqual([digest(bytes)]);
  });

  test('a stream that throws midway fails the upload, and nothing is stored', async () => {
    async function* failing() {
      yield bytes.subarray(0, 1_000);
      throw new Error('the disk is gone');
    }

    const error = await failureOf(world.gateway().files.upload({ file: failing(), purpose: 'p' }));

    expect(error).toMatchObject({ name: expect.stringMatching(/^(APIConnection|RequestValidation)Error$/) });
    expect(stored()).toEqual([]);
  });

  test('a stalled stream ends with a timeout, and nothing is stored', async () => {
    async function* endless() {
      yield bytes.subarray(0, 1_000);
      await new Promise(() => {});
    }

    const error = await failureOf(world.gateway().files.upload({ file: endless(), purpose: 'p' }, { timeout: 50 }));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt' });
    expect(stored()).toEqual([]);
  });

  test('a stream of objects fails the upload', async () => {
    async function* objects() {
      yield { not: 'bytes' } as never;
    }

    await expect(world.gateway().files.upload({ file: objects(), purpose: 'p' })).rejects.toMatchObject({
      name: expect.stringMatching(/^(APIConnection|RequestValidation)Error$/),
    });
  });

  test('onProgress rises from 0 to the size of the file', async () => {
    const seen: [number, number | undefined][] = [];
    await world
      .gateway()
      .files.upload({ file: { path }, purpose: 'p' }, { onProgress: (sent, total) => seen.push([sent, total]) });

    expect(seen[0]).toEqual([0, bytes.length]);
    expect(seen.at(-1)).toEqual([bytes.length, bytes.length]);
    expect(seen.map(([sent]) => sent)).toEqual(seen.map(([sent]) => sent).sort((a, b) => a - b));
  });

  test.each(['a\0b', 'a\u0001\u001f\u007fb', 'a\tb\u000bc', 'a\nb', 'a\rb', 'a\r\nb', 'a"b', 'ü €.😀'])(
    'the file name %j arrives unchanged',
    async (filename) => {
      const record = await world.gateway().files.upload({ file: bytes, purpose: 'p', filename });

      expect(record).toMatchObject({ filename, bytes: bytes.length });
    },
  );

  test('a file that shrinks during the upload is not stored', async () => {
    const shrinking = join(folder, 'shrinking.bin');
    writeFileSync(shrinking, bytes);
    const apiKey = async () => {
      writeFileSync(shrinking, bytes.subarray(0, 1_000));
      return world.emulator.apiKeys.secret;
    };

    const error = await failureOf(world.gateway({ apiKey }).files.upload({ file: { path: shrinking }, purpose: 'p' }));

    expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe', retryable: false });
    expect(stored()).toEqual([]);
  });

  test('any purpose and content arrive unchanged', async () => {
    const gateway = world.gateway({ pacing: false });
    const text = fc.oneof(
      unicodeString().filter((given) => given !== ''),
      fc.constantFrom('--', '\r\n--x--', 'a"b', '%22', '€'),
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), text, async (content, purpose) => {
        const record = await gateway.files.upload({ file: content, purpose, filename: 'any.bin' });

        expect(record.purpose).toBe(purpose);
        expect(world.emulator.files.content(String(record.id))).toEqual(content);
      }),
      { numRuns: 60 },
    );
  });
});
