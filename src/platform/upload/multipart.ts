import { APIConnectionError } from '../../errors/connection.js';
import type { Form, OutgoingStream, ProgressListener, Upload } from '../engine.js';
import type { FileContent } from './content.js';
import { estimatedParts } from './file.js';

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
  const encoder = new TextEncoder();
  const texts = Object.entries(fields).map(([name, value]) => `${partOf(boundary, name)}\r\n\r\n${value}\r\n`);
  const opening = `${partOf(boundary, 'file')}; filename="${escapeName(file.filename)}"\r\nContent-Type: ${file.type}\r\n\r\n`;
  const head = encoder.encode(texts.join('') + opening);
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  const total = file.size === undefined ? undefined : head.byteLength + file.size + tail.byteLength;

  async function* bytes(
    onSent: (size: number, ofFile: number) => void,
    isCancelled: () => boolean,
  ): AsyncGenerator<Uint8Array, undefined> {
    const checkGoing = (): void => {
      if (isCancelled()) throw new Error('the upload was cancelled');
    };
    const reportSent = ({ byteLength }: Uint8Array, ofFile = 0): void => {
      checkGoing();
      onSent(byteLength, ofFile);
    };
    yield head;
    reportSent(head);
    for await (const chunk of contentOf(file)) {
      checkGoing();
      // A source may yield everything at once. Progress and timeout still count it in parts.
      for (let at = 0; at < chunk.byteLength; at += PART) {
        const piece = chunk.subarray(at, at + PART);
        yield piece;
        reportSent(piece, piece.byteLength);
      }
    }
    checkGoing(); // a cancelled source looks as if it had ended
    yield tail;
    reportSent(tail);
  }

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    repeatable: file.repeatable,
    cancel: () => file.cancel?.(),
    body: (onProgress): OutgoingStream => {
      listener(0, file.size);
      let sent = 0;
      let sentOfFile = 0;
      let unseen = false;
      let cancelled = false;
      const onSent = (size: number, ofFile: number): void => {
        sent += size;
        sentOfFile += ofFile;
        onProgress();
        if (ofFile > 0) listener(sentOfFile, file.size);
      };
      return {
        size: total,
        get sent() {
          return sent;
        },
        open: () => bytes(onSent, () => cancelled),
        asBlob: () => {
          const { blob } = file;
          if (blob === undefined) return undefined;
          unseen = true;
          onProgress(estimatedParts(total ?? 0));
          return new Blob([head, blob, tail]);
        },
        onBlobSent: () => {
          if (unseen) onSent(total ?? 0, file.size ?? 0);
        },
        cancel: () => {
          cancelled = true;
        },
      };
    },
  };
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
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    if (!(bytes instanceof Uint8Array)) {
      throw brokenOff(
        `the stream yielded a value that is not bytes (${typeof chunk}); it must yield Uint8Array or strings`,
      );
    }
    if (given + bytes.byteLength > size) throw brokenOff(`it ${changedFrom(size)}`);
    given += bytes.byteLength;
    yield bytes;
  }
  if (isEmpty && !file.mayBeEmpty) throw brokenOff(USED_UP);
  if (given < size && file.size !== undefined) throw brokenOff(`it ${changedFrom(size)}`);
}

function changedFrom(size: number): string {
  return `had ${size} when the call began, and changed size while it was being sent. Upload it when nothing writes to it, or pass a stream`;
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

/** As in browsers (HTML standard, "multipart/form-data"): only quotes and line breaks are escaped. */
function escapeName(name: string): string {
  return name.replace(/[\r\n"]/g, (character) => encodeURIComponent(character));
}

/** Unpredictable, so that a file cannot contain it. */
function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
