import { APIConnectionError } from '../../errors/connection.js';
import type { Form, OutgoingStream, ProgressListener, Upload } from '../engine.js';
import type { FileContent } from './content.js';
import { bytesOf, escapeName, estimatedParts } from './file.js';

/** Bytes sent at a time. */
const PART = 256 * 1024;

const USED_UP =
  'the stream had ended before. A stream can be read only once: create a new one. For an empty file, pass new Blob([])';

/**
 * A form with text fields and one file, as multipart/form-data. Our own, because the platform's FormData cannot stream
 * a file it does not hold, and undici cannot send it from outside `fetch`.
 */
export function multipart({ fields }: Form, file: FileContent, listener: ProgressListener): Upload {
  const boundary = `----context-gateway-${randomHex(16)}`;
  const frame = frameOf(fields, file, boundary);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    repeatable: file.repeatable,
    cancel: () => file.cancel?.(),
    body: (onProgress) => new MultipartBody(frame, file, listener, onProgress),
  };
}

/** The bytes before and after those of the file. */
function frameOf(fields: Form['fields'], file: FileContent, boundary: string) {
  const encoder = new TextEncoder();
  const texts = Object.entries(fields).map(([name, value]) => `${partOf(boundary, name)}\r\n\r\n${value}\r\n`);
  const opening = `${partOf(boundary, 'file')}; filename="${escapeName(file.filename)}"\r\nContent-Type: ${file.type}\r\n\r\n`;
  return { head: encoder.encode(texts.join('') + opening), tail: encoder.encode(`\r\n--${boundary}--\r\n`) };
}

/** The form for one attempt. Counts what is sent of it. */
class MultipartBody implements OutgoingStream {
  readonly size: number | undefined;
  bytesSent = 0;
  #ofFile = 0;
  #isBlob = false;
  #isCancelled = false;

  constructor(
    private readonly frame: ReturnType<typeof frameOf>,
    private readonly file: FileContent,
    private readonly listener: ProgressListener,
    private readonly onProgress: (times?: number) => void,
  ) {
    this.size = file.size === undefined ? undefined : frame.head.byteLength + file.size + frame.tail.byteLength;
    listener(0, file.size);
  }

  async *open(): AsyncGenerator<Uint8Array, undefined> {
    const { head, tail } = this.frame;
    yield head;
    this.#count(head.byteLength);
    for await (const chunk of contentOf(this.file)) {
      this.#checkGoing();
      // A source may yield everything at once. Progress and timeout still count it in parts.
      for (let at = 0; at < chunk.byteLength; at += PART) {
        const piece = chunk.subarray(at, at + PART);
        yield piece;
        this.#count(piece.byteLength, piece.byteLength);
      }
    }
    this.#checkGoing(); // a cancelled source looks as if it had ended
    yield tail;
    this.#count(tail.byteLength);
  }

  asBlob(): Blob | undefined {
    const { blob } = this.file;
    if (blob === undefined) return undefined;
    const whole = new Blob([this.frame.head, blob, this.frame.tail]);
    // Bun leaves the content of a `Bun.file()` out, and takes one that does not exist for an empty one.
    if (whole.size !== this.size || 'exists' in blob) return undefined;
    this.#isBlob = true;
    this.onProgress(estimatedParts(whole.size));
    return whole;
  }

  onBlobSent(): void {
    if (this.#isBlob) this.#count(this.size ?? 0, this.file.size ?? 0);
  }

  cancel(): void {
    this.#isCancelled = true;
  }

  #checkGoing(): void {
    if (this.#isCancelled) throw new Error('the upload was cancelled');
  }

  /** Counts bytes as sent, so many of them of the file. */
  #count(bytes: number, ofFile = 0): void {
    if (!this.#isBlob) this.#checkGoing();
    this.bytesSent += bytes;
    this.#ofFile += ofFile;
    this.onProgress();
    if (ofFile > 0) this.listener(this.#ofFile, this.file.size);
  }
}

/**
 * The content as bytes, exactly as many as announced. An error here is not a connection failure, and a retry
 * does not help. The form is not completed, so that the service can see that the file is incomplete.
 */
async function* contentOf(file: FileContent): AsyncGenerator<Uint8Array, undefined> {
  const { size = Number.POSITIVE_INFINITY } = file;
  let given = 0;
  let isEmpty = true;
  const brokenOff = (why: string, cause?: unknown): APIConnectionError => {
    const message = `The upload failed after ${given} bytes of the file: ${why}.`;
    return new APIConnectionError(message, { phase: 'headers', sent: 'maybe', cause, retryable: false });
  };
  for await (const chunk of sourceOf(file, (cause) => brokenOff('the file could not be read to its end', cause))) {
    isEmpty = false;
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : bytesOf(chunk);
    if (bytes === undefined) {
      throw brokenOff(
        `the stream yielded a value that is not bytes (${typeof chunk}); it must yield Uint8Array, ArrayBuffer or strings`,
      );
    }
    if (given + bytes.byteLength > size) throw brokenOff(wrongSize(file, size));
    given += bytes.byteLength;
    yield bytes;
  }
  if (isEmpty && !file.mayBeEmpty) throw brokenOff(USED_UP);
  if (given < size && file.size !== undefined) throw brokenOff(wrongSize(file, size));
}

function wrongSize({ repeatable }: FileContent, size: number): string {
  if (!repeatable) return `the stream does not have the ${size} bytes that size says`;
  return `it had ${size} when the call began, and changed size while it was being sent. Upload it when nothing writes to it, or pass a stream`;
}

/** Even an error of this package belongs to the source here, and says nothing about this request. */
async function* sourceOf(file: FileContent, failure: (cause: unknown) => Error): AsyncGenerator<unknown, undefined> {
  try {
    for await (const chunk of file.open()) yield chunk;
  } catch (cause) {
    throw failure(cause);
  }
}

function partOf(boundary: string, name: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
}

/** Unpredictable, so that a file cannot contain it. `randomUUID` is missing in pages without TLS. */
function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
