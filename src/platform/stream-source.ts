import type { ByteSource, Progress } from './engine.js';
import { connectionError, type FailedRequest } from './failure.js';

const READING: Progress = { phase: 'body', sent: 'yes' };

/** What reads a web stream, or stands for it. */
export type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>;

/** The bytes of a web stream. */
export class StreamSource implements ByteSource {
  readonly #reader: BodyReader | undefined;
  readonly #request: FailedRequest | undefined;
  readonly #onCancel: ((error: Error) => void) | undefined;
  #failure: Error | undefined;
  #rejectRead: ((error: Error) => void) | undefined;

  constructor(reader: BodyReader | undefined, request?: FailedRequest, onCancel?: (error: Error) => void) {
    this.#reader = reader;
    this.#request = request;
    this.#onCancel = onCancel;
  }

  read(): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#reader === undefined) return undefined;
    return this.#read(this.#reader);
  }

  /** A platform whose own read does not end with an abort does not hold the reader up. */
  #read(reader: BodyReader): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#rejectRead = reject;
      reader.read().then(
        ({ value, done }) => {
          if (done) resolve(undefined);
          else if (ArrayBuffer.isView(value)) resolve(value);
          else reject(connectionError(new TypeError('not bytes'), READING, this.#request));
        },
        (error) => reject(this.#failure ?? connectionError(error, READING, this.#request)),
      );
    });
  }

  cancel(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#rejectRead?.(error);
    // What the platform makes of it does not matter: the response is given up.
    this.#reader?.cancel(error).catch(() => {});
    this.#onCancel?.(error);
  }
}
