import type { HeaderSource } from '../api-promise.js';
import { ResponseTooLargeError } from '../errors/connection.js';
import { ResponseValidationError } from '../errors/validation.js';
import type { ByteSource, ResponseHead } from '../platform/engine.js';
import { checkDepth } from './json.js';
import type { Runtime } from './timeouts.js';
import { isObject, ownField } from './validation.js';

/** Decoded bytes of one JSON answer that are read at most. */
export const MAX_JSON_BYTES = 32 * 1024 * 1024;
/** Bytes of an error's body that are read at most; the rest says nothing a person would read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Milliseconds for reading it. */
const MAX_ERROR_TIME = 1_000;
/** Bytes of a body that may say when to come back. */
const MAX_HINT_BYTES = 1024 * 1024;
/** Milliseconds an unwanted rest of an answer is read on for, so that its connection can serve the next request. */
const DRAIN_TIME = 100;
const DRAIN_BYTES = 64 * 1024;
/** What a given fetch reads in the abort of such an answer. */
const UNWANTED = 'the rest of the response is not needed';

/** The whole body as text. A byte order mark is dropped; bytes that are not UTF-8 become U+FFFD. */
export async function readText({ headers, body }: ResponseHead, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  // What is announced as too large is not read at all. (A compressed length says nothing; what comes out is counted below.)
  if (Number(headers.get('content-length')) > limit) throw tooLarge(body, limit);
  let size = 0;
  for (;;) {
    const read = body.read();
    const chunk = read === undefined || ArrayBuffer.isView(read) ? read : await read; // mostly it is here already
    if (chunk === undefined) break;
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(body, limit);
    chunks.push(chunk);
  }
  // Made here, not once for all: jsdom has none, and importing this package must not fail for it.
  return new TextDecoder().decode(chunks.length === 1 ? chunks[0] : concat(chunks, size));
}

function tooLarge(body: ByteSource, limit: number): ResponseTooLargeError {
  const message = `The response exceeds the limit of ${limit} bytes.`;
  const error = new ResponseTooLargeError(message, { phase: 'body', sent: 'yes', retryable: false });
  body.cancel(error);
  return error;
}

/** As much of an error's body as its limit allows; a body that breaks off is worth what came of it. */
export async function readErrorText(body: ByteSource, runtime: Runtime): Promise<string> {
  const timer = runtime.setTimer(() => body.cancel(new Error(UNWANTED)), MAX_ERROR_TIME);
  try {
    return (await readStart(body, MAX_ERROR_BYTES)).text;
  } finally {
    runtime.clearTimer(timer);
  }
}

/** The body of a 429 or 503, which has the hint when to come back: read for as long as the attempt lasts. */
export function readHintText(body: ByteSource): Promise<{ text: string; whole: boolean }> {
  return readStart(body, MAX_HINT_BYTES);
}

async function readStart(body: ByteSource, limit: number): Promise<{ text: string; whole: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
      text += decoder.decode(chunk.subarray(0, limit - size), { stream: true });
      size += chunk.byteLength;
      if (size <= limit) continue;
      body.cancel(new Error(UNWANTED));
      return { text, whole: false };
    }
    return { text, whole: true };
  } catch {
    // The status is known and the start of the body is read: that is the error to report.
    return { text, whole: false };
  }
}

/** The type and subtype of a body, in lower case; of a length and form that people can read. */
export function mediaType(headers: HeaderSource): string | undefined {
  return /^ *([\w.+-]+\/[\w.+-]{1,40}) *(;|$)/.exec(headers.get('content-type')?.toLowerCase() ?? '')?.[1];
}

/** JSON of a successful answer. */
export function parseJson(text: string, headers: HeaderSource): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    const what = text.trim() === '' ? 'an empty body' : (mediaType(headers) ?? 'unknown type');
    throw new ResponseValidationError(`The response is not JSON (${what}). Check baseURL.`, {
      body: text,
      retryable: true,
    });
  }
  return checkDepth(body, text);
}

/** An error's body: JSON if it is JSON, whatever the content type says; else the text. */
export function parseError(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether the body of a success reports an error: `success: false` (A15), or an `error` where data should be. */
export function reportsError(body: unknown): boolean {
  if (!isObject(body)) return false;
  if (body.success === undefined && body.error === undefined) return false; // as every chunk, and the quickest to see
  const success = ownField(body, 'success');
  return success === false || (success === undefined && isObject(ownField(body, 'error')));
}

/**
 * Whether a body is an error in the form the interface documents, so that the service itself refused. What proxies answer in its
 * place has another form, and says nothing about what the service has done.
 */
export function isServiceError(body: unknown): boolean {
  if (!isObject(body)) return false;
  const error = ownField(body, 'error');
  if (ownField(body, 'success') === false) return typeof error === 'string';
  return (
    isObject(error) && typeof ownField(error, 'message') === 'string' && typeof ownField(error, 'type') === 'string'
  );
}

/** Lets go of a response that is not wanted. A short rest is read, so that the connection can be used again; a longer one is cut. */
export async function discard(body: ByteSource, runtime: Runtime): Promise<void> {
  const rest = body.read();
  if (rest === undefined) return;
  const unwanted = new Error(UNWANTED);
  const timer = runtime.setTimer(() => body.cancel(unwanted), DRAIN_TIME);
  try {
    let size = 0;
    for (let chunk = await rest; chunk !== undefined; chunk = await body.read()) {
      size += chunk.byteLength;
      if (size > DRAIN_BYTES) body.cancel(unwanted);
    }
  } catch {
    // Cut off, by us or by the other side: it is gone either way.
  } finally {
    runtime.clearTimer(timer);
  }
}

/** Pieces as one; `size` is the sum of theirs. */
function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
