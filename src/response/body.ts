import { stillEncoded } from '#platform';
import { tryJson } from '../base/json.js';
import { isObject, ownField } from '../base/objects.js';
import type { HeaderSource } from '../base/response-info.js';
import type { Runtime } from '../base/runtime.js';
import { ResponseTooLargeError } from '../errors/connection.js';
import { ResponseValidationError } from '../errors/validation.js';
import type { ByteSource, ResponseHead } from '../platform/engine.js';
import { checkDepth } from '../validation/json.js';
import { errorIn } from './error-details.js';
import type { ServiceResponse } from './service-response.js';

/** The most decoded bytes of one JSON response. */
const MAX_JSON_BYTES = 32 * 1024 * 1024;
/** Maximum bytes of an error's body to read. More would not help the reader. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Milliseconds for reading it. */
const MAX_ERROR_TIME = 1_000;
/** The most bytes of a body that may contain a wait. */
const MAX_RETRY_AFTER_BYTES = 1024 * 1024;
/** Milliseconds for reading the unwanted rest of a response, so that its connection can be reused. */
const DRAIN_TIME = 100;

/** Reads the JSON value of a success, which may report an error. `otherwise` may read a text that is not JSON. */
export async function readJson(response: ServiceResponse, otherwise?: (text: string) => unknown): Promise<unknown> {
  const { head } = response;
  const text = await readText(head, MAX_JSON_BYTES);
  const body = tryJson(text) ?? (await otherwise?.(text));
  if (body === undefined) throw notJson(text, head.headers);
  checkDepth(body, text);
  if (reportsError(body)) throw errorIn(response, body);
  response.body = { type: 'application/json', write: () => JSON.stringify(body) };
  return body;
}

/** The bytes of a JSON body as they are, but only if they are JSON. @throws {ResponseValidationError} */
export async function readJsonBytes(head: ResponseHead): Promise<Uint8Array> {
  const bytes = await readBytes(head, MAX_JSON_BYTES);
  const text = new TextDecoder().decode(bytes);
  if (text.trim() !== '' && tryJson(text) === undefined) throw notJson(text, head.headers);
  return bytes;
}

/** The whole body as text. A byte order mark is dropped; bytes that are not UTF-8 become U+FFFD. */
async function readText(head: ResponseHead, limit: number): Promise<string> {
  // Created here and not at module level, because jsdom has none and importing this package must not fail.
  return new TextDecoder().decode(await readBytes(head, limit));
}

async function readBytes({ headers, body }: ResponseHead, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  // A body announced as too large is not read. A compressed body may still decompress to more, so bytes are
  // counted below.
  if (Number(headers.get('content-length')) > limit) throw tooLarge(body, limit);
  let size = 0;
  for (;;) {
    const read = body.read();
    const chunk = read === undefined || ArrayBuffer.isView(read) ? read : await read; // usually it has already arrived
    if (chunk === undefined) break;
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(body, limit);
    chunks.push(chunk);
  }
  return chunks[0] !== undefined && chunks.length === 1 ? chunks[0] : concat(chunks, size);
}

function tooLarge(body: ByteSource, limit: number): ResponseTooLargeError {
  const error = new ResponseTooLargeError('The response', limit, 'body');
  body.cancel(error);
  return error;
}

/**
 * Reads the start of an error's body, and whether it was cut: at 64 kB or after a second. If the body may contain the
 * wait before a retry, 1 MB is read, for as long as the attempt lasts.
 */
export async function readError(
  body: ByteSource,
  runtime: Runtime,
  mayHaveWait = false,
  time = MAX_ERROR_TIME,
): Promise<{ text: string; isCut: boolean }> {
  const limit = mayHaveWait ? MAX_RETRY_AFTER_BYTES : MAX_ERROR_BYTES;
  const stop = (): void => body.cancel(new Error('the rest of the response is not needed')); // a given `fetch` sees it
  const timer = mayHaveWait ? undefined : runtime.setTimer(stop, time);
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
      text += decoder.decode(chunk.subarray(0, limit - size), { stream: true });
      size += chunk.byteLength;
      if (size <= limit) continue;
      stop();
      return { text, isCut: true };
    }
    return { text, isCut: false };
  } catch {
    return { text, isCut: true }; // the status and the start of the body are known, so this error is reported
  } finally {
    runtime.clearTimer(timer);
  }
}

/** The media type of a body, in lower case, if it is short and well-formed; the first, if a proxy has added another. */
export function mediaType(headers: HeaderSource): string | undefined {
  return /^ *([\w.+-]+\/[\w.+-]{1,40}) *(;|,|$)/.exec(headers.get('content-type')?.toLowerCase() ?? '')?.[1];
}

function notJson(text: string, headers: HeaderSource): ResponseValidationError {
  const encoded = stillEncoded(text, headers);
  if (encoded !== undefined) return new ResponseValidationError(encoded, { body: undefined });
  const type = mediaType(headers) ?? 'unknown type';
  const what = text.trim() === '' ? 'an empty body' : type;
  const isCut = what.endsWith('json') && /^\s*[{[]/.test(text);
  const message = isCut
    ? 'The JSON of the response is cut off or broken.'
    : `The response is not JSON (${what}). Check baseURL.`;
  return new ResponseValidationError(message, {
    body: text,
    retryable: true,
  });
}

/** An error's body: parsed if it is JSON, whatever the content type; else the text. */
export function parseError(text: string): unknown {
  const body = tryJson(text);
  return body === undefined ? text : body;
}

/** Whether the body of a success reports an error: `success: false`, or an `error` where data should be. */
export function reportsError(body: unknown): boolean {
  if (!isObject(body)) return false;
  if (body.success === undefined && body.error === undefined) return false; // true of every chunk, and the fastest check
  const success = ownField(body, 'success');
  if (success !== undefined) return success === false;
  const error = ownField(body, 'error');
  // Some services send an empty one with each completion.
  return isObject(error) && !(Array.isArray(ownField(body, 'choices')) && Object.keys(error).length === 0);
}

/** Discards the rest of a response. A short one is read, so that the connection can be reused; a longer one is cancelled. */
export async function discard(body: ByteSource, runtime: Runtime): Promise<void> {
  await readError(body, runtime, false, DRAIN_TIME);
}

/** Joins pieces; `size` is their total size. */
function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
