import { createForm } from '#platform';
import type { APIPromise } from '../api-promise.js';
import type { ProgressListener, Upload } from '../platform/engine.js';
import { encodeJson } from '../transport/json.js';
import { type RequestOptions, type SchemaOptions, uploadOptionsSchema } from '../transport/options.js';
import { quietly } from '../transport/quietly.js';
import { ownFields } from '../transport/request.js';
import type { Transport } from '../transport/transport.js';
import { checkArguments, fieldsOf } from '../transport/validation.js';
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

/** `/v1/files` */
export class Files {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The same, with the raw response checked and typed by `schema`. */
  upload<T>(params: FileUploadParams, options: UploadOptions & SchemaOptions<T>): APIPromise<T>;
  /**
   * Upload a file. `POST /v1/files` (multipart/form-data)
   *
   * Files on disk (`{ path }`) and streams are sent as they are read, never held in memory. A stream whose upload ends early is
   * cancelled (one of Node's destroyed). `timeout` (60 s) is how long the
   * upload may stand still; where its progress is not visible (a Blob sent through `fetch`), it has that long for every
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
  const form = createForm({ fields: { purpose }, file, filename }, (sent, total) =>
    quietly(() => onProgress?.(sent, total)),
  );
  return { ...form, cancel: () => quietly(form.cancel) };
}
