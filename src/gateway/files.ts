import type { Readable } from 'node:stream';
import { openFile } from '#platform';
import type { APIPromise } from '../answer.js';
import { badArgument, type RequestValidationError } from '../errors.js';
import { encodeJson } from '../transport/json.js';
import { type FileContent, multipart, type ProgressListener } from '../transport/multipart.js';
import { type RequestOptions, type SchemaOptions, uploadOptionsSchema } from '../transport/options.js';
import { ownFields, type Upload } from '../transport/request.js';
import type { Transport } from '../transport/transport.js';
import { checkArguments, fieldsOf, isObject } from '../transport/validation.js';
import { RECORD } from './records.js';
import { type FileRecord, fileUploadParamsSchema } from './schemas.js';

/** What can be uploaded. A stream is sent once: should its attempt fail, it is not tried again. */
export type Uploadable =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  /** A file on this machine, streamed from disk. On Node, Bun and Deno. */
  | { readonly path: string | URL };

/** Arguments of `files.upload`. */
export interface FileUploadParams {
  file: Uploadable;
  /** What the file is for; the allowed values are the service's. */
  purpose: string;
  /** @default the File's or the path's own name, else `'file'` */
  filename?: string | undefined;
}

/** Options of `files.upload`. */
export interface UploadOptions extends RequestOptions {
  /** Told the bytes that left, and how many there are (`undefined` for streams). In browsers, at the start and at the end only. */
  onProgress?: ProgressListener | undefined;
}

const UNKNOWN_TYPE = 'application/octet-stream';

/** `/v1/files` */
export class Files {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The same, with the raw answer checked and typed by `schema`. */
  upload<T>(params: FileUploadParams, options: UploadOptions & SchemaOptions<T>): APIPromise<T>;
  /**
   * Upload a file. `POST /v1/files` (multipart/form-data)
   *
   * Files on disk (`{ path }`) and streams are sent as they are read, never held in memory. A stream whose upload ends early is
   * cancelled (one of Node's destroyed). `timeout` (60 s) is how long the
   * upload may stand still; where nobody reports its progress (a Blob sent through `fetch`), it has that long for every
   * megabyte. The record's form is not documented (A3): pass a `schema` to have it checked and typed.
   *
   * @throws {RequestValidationError} before anything is sent: no such file, a stream where the platform can send none
   * @throws {APIError} with status 413 when the file is larger than the service takes
   */
  upload(params: FileUploadParams, options?: UploadOptions): APIPromise<FileRecord>;
  upload(params: FileUploadParams, options?: UploadOptions): APIPromise<FileRecord> {
    return this.#transport.request(
      () => ({
        method: 'POST',
        path: '/v1/files',
        upload: uploadOf(params, options?.onProgress),
        accepts: fileUploadParamsSchema,
      }),
      RECORD,
      options,
    );
  }
}

function uploadOf(given: FileUploadParams, onProgress: ProgressListener | undefined): Upload {
  const params = ownFields(given, fieldsOf(fileUploadParamsSchema)) as FileUploadParams;
  checkArguments(fileUploadParamsSchema, params, uploadOptionsSchema);
  const { file, purpose, filename } = params;
  encodeJson({ purpose, filename }); // half of a surrogate pair would arrive as something else
  return multipart({ purpose }, contentOf(file, filename), onProgress);
}

function contentOf(file: Uploadable, filename: string | undefined): FileContent {
  const name = (own?: unknown): string => baseName(filename ?? own) || 'file';
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) {
    // A copy: changing the caller's bytes later changes no retry.
    const bytes = ArrayBuffer.isView(file)
      ? new Uint8Array(file.buffer, file.byteOffset, file.byteLength).slice()
      : new Uint8Array(file.slice(0));
    return {
      filename: name(),
      type: UNKNOWN_TYPE,
      size: bytes.byteLength,
      repeatable: true,
      get blob() {
        return new Blob([bytes]);
      },
      open: () => [bytes],
    };
  }
  if (file instanceof Blob) return fromBlob(file, name((file as Partial<File>).name));
  if (isPath(file)) {
    const opened = openFile(file.path);
    return { ...opened, filename: name(opened.name), type: UNKNOWN_TYPE, repeatable: true, blob: undefined };
  }
  if (isStream(file)) {
    const { locked, readableDidRead } = file as Partial<ReadableStream & Readable>;
    if (locked || readableDidRead) throw badFile('somebody else reads this stream, or has read it');
    const filename = name((file as { path?: unknown }).path); // Node's stream of a file has one
    return { filename, type: UNKNOWN_TYPE, size: undefined, repeatable: false, blob: undefined, ...reading(file) };
  }
  const hint = typeof file === 'string' ? "; a file on disk is { path: '…' }, a text new Blob([text])" : '';
  throw badFile(`expected a File, Blob, Uint8Array, ArrayBuffer, a stream of bytes, or { path }${hint}`);
}

function fromBlob(blob: Blob, filename: string): FileContent {
  // That of jsdom has none.
  if (typeof blob.stream !== 'function') throw badFile('this Blob cannot be read as a stream; pass its bytes');
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(blob.type) ? blob.type : UNKNOWN_TYPE;
  return { filename, type, size: blob.size, repeatable: true, blob, open: () => read(blob.stream().getReader()) };
}

/** The last part of a path, in either system's writing: a name never says where it lay. */
function baseName(name: unknown): string | undefined {
  return typeof name === 'string' ? name.split(/[/\\]/).at(-1) : undefined;
}

function isPath(file: unknown): file is { path: string | URL } {
  if (!isObject(file) || isStream(file)) return false;
  const { path } = file;
  return typeof path === 'string' || path instanceof URL;
}

function isStream(file: unknown): file is ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> {
  const stream = file as Partial<ReadableStream & AsyncIterable<Uint8Array>> | null;
  return typeof stream?.getReader === 'function' || typeof stream?.[Symbol.asyncIterator] === 'function';
}

/** The bytes of a stream, and a way to let go of it while one of its reads is pending. */
function reading(stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Pick<FileContent, 'open' | 'cancel'> {
  if (!('getReader' in stream)) {
    // One of Node's ends a pending read when it is destroyed; a generator learns of it after its own.
    const source = stream as Partial<AsyncGenerator & { destroy(): void }>;
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

/** Not every browser can iterate a web stream, so its reader is used. */
async function* read(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<unknown, undefined> {
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    // Also when the upload breaks off: whoever fills the stream learns that nobody reads it.
    await reader.cancel().catch(() => {});
  }
}

function badFile(message: string): RequestValidationError {
  return badArgument(['file'], message);
}
