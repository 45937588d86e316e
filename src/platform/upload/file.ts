import { badArgument, type RequestValidationError } from '../../errors/validation.js';

/** The bytes that a healthy upload sends within its timeout, for uploads without progress reports. */
const UNSEEN_PROGRESS = 1024 * 1024;

/** How often an upload of this size would have reported progress. */
export function estimatedParts(size: number): number {
  return Math.ceil(size / UNSEEN_PROGRESS);
}

/** The last part of a path, with either separator, so that the name does not reveal the folder. */
export function fileName(given: unknown): string {
  return (typeof given === 'string' && given.replace(/^.*[/\\]/s, '')) || 'file';
}

/** As in browsers (HTML standard, "multipart/form-data"): only quotes and line breaks are escaped. */
export function escapeName(name: string): string {
  return name.replace(/[\r\n"]/g, (character) => encodeURIComponent(character));
}

/** A copy of bytes, so that later changes by the caller do not affect a retry. `undefined` for other values. */
export function copyOfBytes(file: unknown): Uint8Array<ArrayBuffer> | undefined {
  return bytesOf(file)?.slice();
}

/** Bytes as a `Uint8Array` of this realm: a test runner or a frame may have its own. `undefined` for other values. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const isBuffer = Object.prototype.toString.call(value) === '[object ArrayBuffer]';
  return isBuffer ? new Uint8Array(value as ArrayBuffer) : undefined;
}

/** A Blob of the platform or of a library. */
export function isBlob(file: unknown): file is Blob {
  const { size, stream } = Object(file) as Partial<Blob>;
  return file instanceof Blob || (typeof size === 'number' && typeof stream === 'function');
}

export function isStream(file: unknown): file is ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> {
  const stream = file as Partial<ReadableStream & AsyncIterable<Uint8Array>> | null;
  return typeof stream?.getReader === 'function' || typeof stream?.[Symbol.asyncIterator] === 'function';
}

export function isPath(file: unknown): file is { path: string | URL } {
  const path = (file as { path?: unknown } | null)?.path;
  return typeof path === 'string' || path instanceof URL;
}

export function badFile(message: string): RequestValidationError {
  return badArgument(['file'], message);
}

/** Refuses a path on a platform without files. */
export function refusePath(): never {
  throw badFile('{ path } works on Node, Bun and Deno only; pass a Blob or a File');
}
