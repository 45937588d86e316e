import type { Readable } from 'node:stream';
import { badArgument } from '../../errors/validation.js';
import type { Form } from '../engine.js';
import { badFile, copyOfBytes, fileName, isBlob, isPath, isStream } from './file.js';
import { typeByName } from './media-type.js';

/** A file to upload, which can be read several times if possible. */
export interface FileContent {
  readonly filename: string;
  readonly type: string;
  /** The number of bytes, if known. Exactly this many must follow. */
  readonly size: number | undefined;
  readonly repeatable: boolean;
  /** Whether it may be empty. A stream without content that may have been read before was probably used up. */
  readonly mayBeEmpty: boolean;
  /** The content as one Blob, if that costs no memory. */
  readonly blob?: Blob;
  /** Bytes or text. A caller's stream may yield anything. */
  open(): AsyncIterable<unknown> | Iterable<unknown>;
  /** Cancels the source, even if a read is pending. */
  cancel?(): unknown;
}

/** A file on disk, which can be read several times. It is not kept in memory. */
export interface OpenedFile {
  readonly name: string;
  readonly size: number;
  open(): AsyncIterable<Uint8Array>;
}

/** A media type with its parameters. Nothing else may end the header of a part. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?: *;[ -~]*)?$/;
const PATH = ['file', 'path'];

/** Checks the caller's file before anything is sent. `openFile` opens a path, on platforms with files. */
export function contentOf(form: Form, openFile: (path: string | URL) => OpenedFile): FileContent {
  const { file, filename, type: given } = form;
  const of = (own: unknown, size: number | undefined, type = '') => {
    const name = fileName(filename ?? own);
    return { filename: name, type: given ?? (type || typeByName(name)), size, repeatable: true, mayBeEmpty: true };
  };
  if (given !== undefined && !MEDIA_TYPE.test(given))
    throw badArgument(['type'], 'expected a type such as application/pdf');
  const known = (size: number): number => {
    if ((form.size ?? size) === size) return size;
    throw badArgument(['size'], `the file has ${size} bytes; leave size out`);
  };
  const bytes = copyOfBytes(file);
  if (bytes !== undefined) {
    return {
      ...of(undefined, known(bytes.byteLength)),
      get blob() {
        return new Blob([bytes]);
      },
      open: () => [bytes],
    };
  }
  if (isBlob(file)) {
    // jsdom's Blob has none.
    if (typeof file.stream !== 'function') throw badFile('this Blob cannot be read as a stream; pass its bytes');
    const type = MEDIA_TYPE.test(file.type) ? file.type : '';
    const content = of((file as Partial<File>).name, known(file.size), type);
    const open = () => reading(file.stream()).open();
    // A stream of its own may give other bytes than those that a Blob holds.
    const isPlain = file.stream === Blob.prototype.stream;
    return { ...content, ...(isPlain && { blob: file }), open };
  }
  if (isStream(file)) {
    const { locked, readableDidRead, path } = file as Partial<ReadableStream & Readable & { path: unknown }>;
    if (locked || readableDidRead) throw badFile('this stream is locked, or was already read');
    // Node's stream of a file has a path. Only Node's streams say that they were not read.
    const read = { repeatable: false, mayBeEmpty: readableDidRead === false || form.size === 0 };
    return { ...of(path, form.size), ...read, ...reading(file) };
  }
  if (isPath(file)) {
    checkFields(file);
    const { name, size, open } = openFile(file.path);
    return { ...of(name, known(size)), open };
  }
  const hint = typeof file === 'string' ? "; for a file on disk pass { path: '…' }, for text new Blob([text])" : '';
  throw badFile(`expected a File, Blob, Uint8Array, ArrayBuffer, a stream of bytes, or { path }${hint}`);
}

/** A field beside `path` would have no effect. */
function checkFields(file: object): void {
  const other = Object.keys(file).find((key) => key !== 'path');
  if (other === undefined) return;
  const hint = ['type', 'size', 'filename'].includes(other) ? `: pass it beside file, as in { file, ${other} }` : '';
  throw badArgument(['file', other], `is unknown${hint || '; expected { path } alone'}`);
}

/** The bytes of a stream, and a way to cancel it while a read is pending. */
function reading(stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Pick<FileContent, 'open' | 'cancel'> {
  if (!('getReader' in stream)) {
    // Destroying a Node stream ends a pending read. A generator ends only after its pending read.
    const source = stream as Partial<AsyncGenerator & Pick<Readable, 'destroy' | 'on'>>;
    // The stream may fail before it is read, such as one of a missing file. Without a listener, that ends the process.
    // The read fails with the same error.
    source.on?.('error', () => {});
    return {
      open: () => stream,
      cancel: () => (source.destroy === undefined ? source.return?.(undefined) : source.destroy()),
    };
  }
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return {
    open: () => {
      reader = stream.getReader();
      return read(reader);
    },
    cancel: () => (reader ?? stream).cancel(),
  };
}

/** Not every platform can iterate a web stream, so its reader is used. */
async function* read(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<unknown, undefined> {
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    // Cancels the stream, also if the upload fails.
    await reader.cancel().catch(() => {});
  }
}

/** Checks a path before anything is sent. */
export function openFile(path: string | URL): OpenedFile {
  const fs = process.getBuiltinModule('node:fs');
  const { basename } = process.getBuiltinModule('node:path');
  if (path instanceof URL && path.protocol !== 'file:') throw badArgument(PATH, 'the URL must begin with file:');
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw badArgument(PATH, 'there is no file at this path');
  if (!stats.isFile()) throw badArgument(PATH, 'this path is not a file');
  return {
    name: basename(path instanceof URL ? process.getBuiltinModule('node:url').fileURLToPath(path) : path),
    size: stats.size,
    open: () => fs.createReadStream(path, { highWaterMark: 256 * 1024 }),
  };
}
