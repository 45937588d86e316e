import type { Transform } from 'node:stream';
import { APIConnectionError } from '../errors.js';
import type { ByteSource } from './engine.js';
import { connectionError } from './failure.js';

/** More layers than this is an attack, not a compression. */
const MOST_LAYERS = 3;

/** Undoes `content-encoding`. Every flush of the sender comes out at once, so that compressed events are not held back. */
export function decompress(source: ByteSource, encodings: string | undefined): ByteSource {
  if (encodings === undefined) return source;
  const layers = encodings
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim());
  if (layers.length > MOST_LAYERS) throw unreadable(`the answer is compressed ${layers.length} times over`);
  return layers.reverse().reduce((inner, layer) => {
    const transform = transformFor(layer);
    return transform === undefined ? inner : new TransformedSource(inner, transform);
  }, source);
}

function transformFor(encoding: string): Transform | undefined {
  // Fetched here and not at the top: most programs never meet a compressed answer.
  const { createBrotliDecompress, createGunzip, createInflate, constants } = process.getBuiltinModule('node:zlib');
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  const brotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip(flush);
  if (encoding === 'deflate') return createInflate(flush);
  if (encoding === 'br') return createBrotliDecompress(brotli);
  if (encoding === '' || encoding === 'identity') return undefined;
  throw unreadable('the answer is compressed in a way this client does not know (gzip, deflate and br are)');
}

function unreadable(what: string): APIConnectionError {
  return new APIConnectionError(`No usable answer: ${what}.`, { phase: 'body', sent: 'yes', retryable: false });
}

/** A source whose bytes go through a transform. It reads ahead no further than the transform's own buffer. */
class TransformedSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #transform: Transform;
  readonly #chunks: AsyncIterator<Uint8Array>;

  constructor(source: ByteSource, transform: Transform) {
    this.#source = source;
    this.#transform = transform;
    transform.on('error', () => {}); // it reaches the reader through the iterator
    this.#chunks = transform[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    void this.#pump();
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.#chunks.next();
      return done ? undefined : value;
    } catch (error) {
      this.#source.cancel(error as Error);
      throw isOurs(error) ? error : connectionError(error, { phase: 'body', sent: 'yes' });
    }
  }

  cancel(error: Error): void {
    this.#source.cancel(error);
    this.#transform.destroy(error);
  }

  async #pump(): Promise<void> {
    try {
      for (let chunk = await this.#source.read(); chunk !== undefined; chunk = await this.#source.read()) {
        if (!this.#transform.write(chunk)) await drained(this.#transform);
      }
      this.#transform.end();
    } catch (error) {
      this.#transform.destroy(error as Error);
    }
  }
}

function drained(transform: Transform): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      transform.off('drain', settle).off('close', settle).off('error', settle);
      if (error) reject(error);
      else resolve();
    };
    transform.once('drain', settle).once('close', settle).once('error', settle);
  });
}

/** Whether an error was made by this package, here or by whoever cancelled. */
function isOurs(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error;
}
