import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { failureOf, gatewayAt, rejectedBefore } from '../helpers/service.js';

const fetch = vi.fn(async () => Response.json({}));
const gateway = gatewayAt({ fetch });
afterEach(() => fetch.mockClear());
const expectRejected = rejectedBefore(fetch);

const upload = (params: object) => () => gateway.files.upload({ file: new Blob(['a']), purpose: 'p', ...params });
/** The body of an upload, which a service reads before it responds. */
async function received(file: unknown, filename?: string, more: object = {}): Promise<string> {
  let body = '';
  const { files } = gatewayAt({
    fetch: async (_url, init) => {
      body = await new Response(init.body).text();
      return Response.json({});
    },
  });
  await files.upload({ file, purpose: 'p', filename, ...more } as never);
  return body;
}

describe('validation of an upload', () => {
  test.each(['', 5, null, 'a\ud800'])('rejects the purpose and the file name %j', async (text) => {
    await expectRejected(upload({ purpose: text }), ['purpose'], /not be empty|expected string|Unicode/);
    await expectRejected(upload({ filename: text }), ['filename'], /not be empty|expected string|Unicode/);
  });

  test.each([
    { given: 'a"b.txt', sent: 'a%22b.txt', because: 'a quote would end the name' },
    { given: 'a\r\nb.txt', sent: 'a%0D%0Ab.txt', because: 'a line break would end the header' },
    { given: '/etc/passwd', sent: 'passwd', because: 'a folder must not leak' },
    { given: 'C:\\Users\\kim\\notes.txt', sent: 'notes.txt', because: 'nor may a Windows folder' },
    { given: 'größe 漢.txt', sent: 'größe 漢.txt', because: 'Unicode is fine' },
    { given: 'folder/', sent: 'file', because: 'no name is left' },
  ])('sends the file name $given as $sent: $because', async ({ given, sent }) => {
    const body = await received(new Blob(['a']), given);

    expect(body.match(/ name=.*/g)).toEqual([' name="purpose"', ` name="file"; filename="${sent}"`]);
  });

  test('sends a File under its own name, and its type with its parameters', async () => {
    const body = await received(new File(['a'], 'own.txt', { type: 'audio/webm;codecs=opus' }));

    expect(body).toContain('filename="own.txt"\r\nContent-Type: audio/webm;codecs=opus\r\n');
  });

  test('sends a Blob whose type would end the header as bytes of an unknown type', async () => {
    const file = { size: 1, type: 'text/plain;a\r\nx: y', stream: () => new Blob(['a']).stream() };

    expect(await received(file)).toContain('Content-Type: application/octet-stream\r\n');
  });

  const bytes = new TextEncoder().encode('abc');
  const realm = runInNewContext('({ Uint8Array, ArrayBuffer })');
  const foreign = new realm.Uint8Array([...bytes]);
  async function* yielding(chunk: unknown) {
    yield chunk;
  }
  /** As `Bun.file()`, which Bun leaves out of other Blobs. */
  class LeftOut extends Blob {
    exists = async () => true;
  }
  test.each([
    { of: 'the bytes of another realm', file: foreign },
    { of: 'the ArrayBuffer of another realm', file: foreign.buffer },
    { of: 'a stream of ArrayBuffers', file: yielding(bytes.buffer) },
    { of: 'a stream of bytes of another realm', file: yielding(foreign) },
    { of: 'a stream of views', file: yielding(new DataView(bytes.buffer)) },
    { of: "a library's Blob", file: { size: 3, type: '', stream: () => new Blob(['abc']).stream() } },
    { of: "a library's Blob with an iterable", file: { size: 3, type: '', stream: () => yielding(bytes) } },
    { of: 'a Blob that the platform leaves out', file: new LeftOut(['abc']) },
  ])('sends $of', async ({ file }) => {
    expect(await received(file)).toContain('\r\n\r\nabc\r\n--');
  });

  test.each([undefined, null, 'text', 5, {}, { path: 5 }, [1]])('rejects the file %j', async (file) => {
    await expectRejected(upload({ file }), ['file'], /expected a File, Blob, .* or \{ path \}/);
  });

  test('rejects a string as the file, and says how to pass a path or text without showing the string', async () => {
    const hint = /for a file on disk pass \{ path: '…' \}, for text new Blob\(\[text\]\)/;
    await expectRejected(upload({ file: '/tmp/canary.txt' }), ['file'], hint);
    expect(String(await failureOf(upload({ file: '/tmp/canary.txt' })()))).not.toContain('canary');
  });

  test('rejects a path that does not exist, is a folder or has a NUL character', async () => {
    await expectRejected(upload({ file: { path: '/no/such/file' } }), ['file', 'path'], /no file at this path/);
    await expectRejected(upload({ file: { path: import.meta.dirname } }), ['file', 'path'], /not a file/);
    await expectRejected(upload({ file: { path: 'a\0b' } }), [], /^The request was not sent/);
  });

  const path = import.meta.filename;
  const typed = new Blob(['abc'], { type: 'a/b' });
  test.each([
    { of: 'a path', file: { path }, filename: undefined, sent: 'application/octet-stream' },
    { of: 'a path', file: { path }, filename: 'a.PDF', sent: 'application/pdf' },
    { of: 'a web stream', file: new Blob(['abc']).stream(), filename: 'a.jsonl', sent: 'application/jsonl' },
    { of: 'bytes', file: bytes, filename: 'a.png', sent: 'image/png' },
    { of: 'a File without a type', file: new File(['abc'], 'a.csv'), filename: undefined, sent: 'text/csv' },
    { of: 'a Blob with a type', file: typed, filename: 'a.pdf', sent: 'a/b' },
    { of: 'a name without an extension', file: bytes, filename: 'constructor', sent: 'application/octet-stream' },
  ])('sends $of under the name $filename as $sent, or as what type says', async ({ file, filename, sent }) => {
    expect(await received(file instanceof ReadableStream ? bytes : file, filename)).toContain(
      `Content-Type: ${sent}\r\n`,
    );
    expect(await received(file, filename, { type: 'x/y;z=1' })).toContain('Content-Type: x/y;z=1\r\n');
  });

  test.each(['', 'pdf', 'a/b\r\nx: y', 5])('rejects the type %j', async (type) => {
    await expectRejected(
      upload({ type }),
      ['type'],
      /expected a type such as application\/pdf|expected string|must not be empty/,
    );
  });

  test('rejects a size that the file does not have, and one that is no count', async () => {
    await expectRejected(upload({ size: 5 }), ['size'], /the file has 1 bytes; leave size out/);
    await expectRejected(upload({ size: -1 }), ['size'], /at least 0/);
    await expectRejected(upload({ file: { path }, size: 5 }), ['size'], /the file has \d+ bytes/);
  });

  test('rejects a field beside path, and says where it belongs', async () => {
    for (const name of ['type', 'size', 'filename']) {
      const hint = new RegExp(`is unknown: pass it beside file, as in { file, ${name} }`);
      await expectRejected(upload({ file: { path, [name]: 'x' } }), ['file', name], hint);
    }
    await expectRejected(upload({ file: { path, mimetype: 'a/b' } }), ['file', 'mimetype'], /expected { path } alone/);
  });
});
