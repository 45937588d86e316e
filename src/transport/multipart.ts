import type { OutgoingStream } from '../platform/engine.js';
import type { Upload } from './request.js';

/** A file on its way: its bytes as often as they are asked for, if that is possible. */
export interface FileContent {
  readonly filename: string;
  readonly type: string;
  /** Bytes, if known. */
  readonly size: number | undefined;
  readonly repeatable: boolean;
  /** The content as one Blob, where that costs no memory. */
  readonly blob: Blob | undefined;
  open(): AsyncIterable<Uint8Array>;
}

/** Hears of every part that left: bytes so far, and in all if known. */
export type ProgressListener = (sent: number, total: number | undefined) => void;

/**
 * A form with text fields and one file, as multipart/form-data. Written here, because the platform's FormData cannot stream
 * a file it does not hold, and undici cannot send it from outside `fetch`.
 */
export function multipart(
  fields: Readonly<Record<string, string>>,
  file: FileContent,
  listener: ProgressListener | undefined,
): Upload {
  const boundary = `----context-gateway-${randomHex(16)}`;
  const encoder = new TextEncoder();
  const head = encoder.encode(
    Object.entries(fields)
      .map(([name, value]) => part(boundary, `name="${escapeName(name)}"`, value))
      .join('') +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${escapeName(file.filename)}"\r\n` +
      `Content-Type: ${file.type}\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  const total = file.size === undefined ? undefined : head.byteLength + file.size + tail.byteLength;

  async function* bytes(onProgress: () => void): AsyncGenerator<Uint8Array, undefined> {
    let sent = 0;
    const left = (chunk: Uint8Array): void => {
      sent += chunk.byteLength;
      onProgress();
      listener?.(sent, total);
    };
    yield head;
    left(head);
    for await (const chunk of file.open()) {
      yield chunk;
      left(chunk);
    }
    yield tail;
    left(tail);
  }

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    repeatable: file.repeatable,
    body: (onProgress): OutgoingStream => {
      listener?.(0, total);
      return {
        size: total,
        repeatable: file.repeatable,
        blob: file.blob === undefined ? undefined : new Blob([head, file.blob, tail]),
        open: () => bytes(onProgress),
        sent: () => listener?.(total ?? 0, total),
      };
    },
  };
}

function part(boundary: string, name: string, value: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; ${name}\r\n\r\n${value}\r\n`;
}

/** As HTML forms do it: a name can neither end its quotes nor its line. */
function escapeName(name: string): string {
  return name.replace(/\r\n|\r|\n/g, '%0D%0A').replaceAll('"', '%22');
}

/** Unpredictable, so that no content can end its own part. */
function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
