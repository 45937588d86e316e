import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Uploadable } from 'context-gateway';
import * as fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { atLength } from '../helpers/endurance.js';
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
  { from: 'a File', name: 'own.bin', repeatable: true, open: () => new File([bytes], 'own.bin') },
  { from: 'a view of a larger buffer', name: 'file', repeatable: true, open: () => padded.subarray(7, -13) },
  { from: 'an ArrayBuffer', name: 'file', repeatable: true, open: () => bytes.slice().buffer },
  { from: 'a path', name: 'report.bin', repeatable: true, open: () => ({ path }) },
  { from: 'a web stream', name: 'file', repeatable: false, open: () => new Blob([bytes]).stream() },
  { from: 'a Node stream', name: 'file', repeatable: false, open: () => Readable.from(pieces()) },
];

function digest(content: Uint8Array | undefined): string {
  return createHash('sha256')
    .update(content ?? '')
    .digest('hex');
}

const padded = new Uint8Array(bytes.length + 20);
padded.set(bytes, 7);

describe.each(engines)('uploads through $engine', ({ options }) => {
  const world = emulatedService(options);
  /** Digests of the stored files, because comparing 200,000 numbers one by one is slow. */
  const stored = () => world.emulator.files.list().map(({ id }) => digest(world.emulator.files.content(id)));

  test.each(sources)('$from arrives byte for byte, after a 503 only if it can be sent again', async (source) => {
    const { name, repeatable, open } = source;
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { files } = world.gateway({ maxRetries: 2 });

    const record = await files.upload({ file: open(), purpose: 'notes' });
    world.emulator.faults.add({ respond: { status: 503 } });
    const again = files.upload({ file: open(), purpose: 'notes' });

    expect(record).toMatchObject({ bytes: bytes.length, filename: name, purpose: 'notes' });
    if (repeatable) expect(await again).toMatchObject({ bytes: bytes.length, filename: name });
    else expect(await failureOf(again)).toMatchObject({ name: 'ServiceUnavailableError', attempts: [{ status: 503 }] });
    expect(stored()).toEqual(Array(repeatable ? 2 : 1).fill(digest(bytes)));
    expect(world.emulator.requests).toHaveLength(repeatable ? 3 : 2);
  });

  test('bytes changed after the call are sent unchanged', async () => {
    const changing = bytes.slice();
    const call = world.gateway().files.upload({ file: changing, purpose: 'p' });
    changing.fill(0);
    await call;

    expect(stored()).toEqual([digest(bytes)]);
  });

  test('a stream that throws midway fails the upload, and nothing is stored', async () => {
    async function* source() {
      yield bytes.subarray(0, 1_000);
      throw new Error('the disk is gone');
    }
    const error = await failureOf(world.gateway().files.upload({ file: source(), purpose: 'p' }));

    expect(error).toMatchObject({ name: expect.stringMatching(/^(APIConnection|RequestValidation)Error$/) });
    expect(stored()).toEqual([]);
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

  test.each(['a\0b', 'a\u0001\u007fb', 'a\tb\u000bc', 'a\r\nb', 'a"b', 'ü €.😀'])(
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
      { numRuns: atLength(20, 60) },
    );
  });
});
