import type { ByteSource, Progress } from './engine.js';
import { connectionError, type FailedRequest } from './failure.js';

const READING: Progress = { phase: 'body', sent: 'yes' };

/** The reader of a web stream, or a substitute. */
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

  /** Does not wait for a platform whose read does not end on abort. */
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
    // Errors here do not matter, because the response is discarded.
    this.#reader?.cancel(error).catch(() => {});
    this.#onCancel?.(error);
  }
}
