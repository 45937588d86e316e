import * as z from 'zod/mini';
import { createForm } from '#platform';
import type { APIPromise } from '../base/api-promise.js';
import { ignoreErrors } from '../base/ignore-errors.js';
import { Resource } from '../call/resource.js';
import type { ProgressListener, Upload } from '../platform/engine.js';
import type { SchemaOptions } from '../request/request-options.js';
import { count, requiredText } from '../validation/fields.js';
import { encodeJson } from '../validation/json.js';
import { type OpenRecord, record } from './records.js';

/** An uploaded file. Its fields are not documented. */
export interface FileRecord extends OpenRecord {}

/** A file to upload. A stream can be sent only once, so an upload from a stream is not retried. */
export type Uploadable =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  /** A file on disk, streamed. Node, Bun and Deno only. */
  | { readonly path: string | URL };

/** Arguments of `files.upload`. */
export interface FileUploadParams {
  file: Uploadable;
  /** What the file is for. The service defines the allowed values. */
  purpose: string;
  /** @default the name of the `File` or path, else `'file'` */
  filename?: string | undefined;
  /**
   * The media type of the file, such as `application/pdf`.
   * @default that of the Blob, else by the extension of the name for a few common ones, else
   * `application/octet-stream`. Browsers use only that of the Blob
   */
  type?: string | undefined;
  /**
   * The number of bytes of a stream, if you know it: its request then has a `content-length`, which some services and
   * proxies want. Exactly so many bytes must follow. Not sent by `fetch`. The size of any other file is known.
   */
  size?: number | undefined;
}

/** Options of `files.upload`. */
export type UploadOptions<T = unknown> = SchemaOptions<T> & {
  /**
   * Called with the bytes of the file sent so far, and its size (`undefined` for streams). In browsers, called only at the start
   * and at the end.
   */
  onProgress?: ProgressListener | undefined;
};

const uploadParamsSchema = z.strictObject({
  file: z.optional(z.unknown()),
  purpose: requiredText,
  filename: z.optional(requiredText),
  type: z.optional(requiredText),
  size: z.optional(count),
});

/** `/v1/files` */
export class Files extends Resource {
  /**
   * Upload a file. `POST /v1/files` (multipart/form-data)
   *
   * Files on disk (`{ path }`) and streams are sent while they are read, and never held in memory. If the upload ends
   * early, its stream is cancelled (a Node stream is destroyed). `timeout` (60 s) is the longest time without progress.
   * If progress is not visible (a Blob sent through `fetch`), it is the time for each megabyte. The response is not
   * documented: pass a `schema` to validate and type it.
   *
   * @throws {RequestValidationError} when the file does not exist, or the platform cannot send a stream; nothing was
   * sent
   * @throws {APIConnectionError} when a generator or web stream yields nothing, probably because it was read before;
   * only reading it shows this, so the request has begun by then
   * @throws {RequestTooLargeError} when the file is too large for the service
   *
   * @example
   * ```ts
   * const file = new File(['port,ships\nOslo,3\n'], 'ports.csv');
   * const { filename, bytes } = await gateway.files.upload(
   *   { file, purpose: 'assistants' },
   *   { onProgress: (sent, total) => console.log(`${sent} of ${total} bytes`) },
   * );
   * console.log(filename, bytes);
   * ```
   */
  upload<T = FileRecord>(params: FileUploadParams, options?: UploadOptions<T>): APIPromise<T> {
    return this.transport.request(
      {
        method: 'POST',
        path: '/v1/files',
        body: params,
        accepts: uploadParamsSchema,
        upload: (checked: FileUploadParams) => uploadOf(checked, options?.onProgress),
      },
      record<T>(),
      options,
    );
  }
}

function uploadOf({ purpose, ...file }: FileUploadParams, onProgress: ProgressListener | undefined): Upload {
  encodeJson({ purpose, filename: file.filename }); // rejects lone surrogates, which would arrive as other characters
  const form = createForm({ fields: { purpose }, ...file }, (sent, total) =>
    ignoreErrors(() => onProgress?.(sent, total)),
  );
  return { ...form, cancel: () => ignoreErrors(form.cancel) };
}
