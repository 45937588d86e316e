import { openFile } from '#platform';
import type { APIPromise } from '../answer.js';
import { RequestValidationError } from '../errors.js';
import { type FileContent, multipart, type ProgressListener } from '../transport/multipart.js';
import { ownProperties, type RequestOptions, type SchemaOptions } from '../transport/options.js';
import type { Upload } from '../transport/request.js';
import type { Transport } from '../transport/transport.js';
import { RECORD } from './records.js';
import type { FileRecord } from './schemas.js';

/** What can be uploaded. A stream is sent once: should its attempt fail, it is not tried again. */
export type Uploadable =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  /** A file on this machine, streamed from disk. Node only. */
  | { readonly path: string };

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
   * Files on disk (`{ path }`) and streams are sent as they are read, never held in memory. `timeout` (60 s) is how long the
   * upload may stand still; where nobody reports its progress (a Blob sent through `fetch`), it has that long for every
   * megabyte. The record's form is not documented (A3): pass a `schema` to have it checked and typed.
   *
   * @throws {RequestValidationError} before anything is sent: no such file, a stream where the platform can send none
   * @throws {APIError} with status 413 when the file is larger than the service takes
   */
  upload(params: FileUploadParams, options?: UploadOptions): APIPromise<FileRecord>;
  upload(params: FileUploadParams, options?: UploadOptions): APIPromise<FileRecord> {
    return this.#transport.request(
      () => ({ method: 'POST', path: '/v1/files', upload: uploadOf(params, options?.onProgress) }),
      RECORD,
      options,
    );
  }
}

function uploadOf(params: FileUploadParams, onProgress: ProgressListener | undefined): Upload {
  const { file, purpose, filename, ...rest } = ownProperties(params);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new RequestValidationError([{ path: [unknown], message: 'unknown field' }]);
  return multipart({ purpose: checkPurpose(purpose) }, contentOf(file, filename), onProgress);
}

function checkPurpose(purpose: unknown): string {
  if (typeof purpose === 'string' && purpose !== '' && purpose.isWellFormed()) return purpose;
  throw new RequestValidationError([{ path: ['purpose'], message: 'expected a string that is not empty' }]);
}

function contentOf(file: Uploadable, filename: string | undefined): FileContent {
  if (filename !== undefined && (typeof filename !== 'string' || filename === '' || !filename.isWellFormed())) {
    throw new RequestValidationError([{ path: ['filename'], message: 'expected a string that is not empty' }]);
  }
  const name = (own?: string): string => baseName(filename ?? own) || 'file';
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) {
    // The copy is the caller's bytes as they are now: changing them later changes no retry.
    const blob = new Blob([file as Uint8Array<ArrayBuffer>]);
    return fromBlob(blob, name());
  }
  if (file instanceof Blob) return fromBlob(file, name('name' in file ? String(file.name) : undefined));
  if (isPath(file)) {
    const opened = openFile(file.path);
    return {
      ...opened,
      filename: name(opened.name),
      type: 'application/octet-stream',
      repeatable: true,
      blob: undefined,
    };
  }
  if (isStream(file)) {
    const content = {
      filename: name(),
      type: 'application/octet-stream',
      size: undefined,
      repeatable: false,
      blob: undefined,
    };
    return { ...content, open: () => iterate(file) };
  }
  const message = 'expected a File, Blob, Uint8Array, ArrayBuffer, a stream of bytes, or { path } on Node';
  throw new RequestValidationError([{ path: ['file'], message }]);
}

function fromBlob(blob: Blob, filename: string): FileContent {
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(blob.type) ? blob.type : 'application/octet-stream';
  return { filename, type, size: blob.size, repeatable: true, blob, open: () => iterate(blob.stream()) };
}

/** The last part of a path, in either system's writing: a name never says where it lay. */
function baseName(name: string | undefined): string | undefined {
  return name?.split(/[/\\]/).at(-1);
}

function isPath(file: unknown): file is { path: string } {
  return (
    typeof file === 'object' &&
    file !== null &&
    !isStream(file) &&
    typeof (file as { path?: unknown }).path === 'string'
  );
}

function isStream(file: unknown): file is ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> {
  const stream = file as Partial<ReadableStream & AsyncIterable<Uint8Array>> | null;
  return typeof stream?.getReader === 'function' || typeof stream?.[Symbol.asyncIterator] === 'function';
}

/** Not every browser can iterate a web stream, so its reader is used. */
async function* iterate(
  stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, undefined> {
  if (!('getReader' in stream)) {
    for await (const chunk of stream) yield bytesOf(chunk);
    return;
  }
  const reader = stream.getReader();
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield bytesOf(step.value);
  } finally {
    // Also when the upload breaks off: whoever fills the stream learns that nobody reads it.
    await reader.cancel().catch(() => {});
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === 'string') return new TextEncoder().encode(chunk);
  throw new RequestValidationError([{ path: ['file'], message: 'the stream must give bytes (Uint8Array)' }]);
}
