import type { Transform } from 'node:stream';
import { APIConnectionError } from '../errors.js';
import type { ByteSource } from './engine.js';
import { connectionError } from './failure.js';

/** More layers than this is an attack, not a compression. */
const MOST_LAYERS = 3;
const KNOWN = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'identity', '']);

/** Undoes `content-encoding`. Every flush of the sender comes out at once, so that compressed events are not held back. */
export function decompress(source: ByteSource, encodings: string | undefined): ByteSource {
  if (encodings === undefined) return source;
  const layers = encodings
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim());
  if (layers.length > MOST_LAYERS) {
    const message = `No usable answer: it is compressed ${layers.length} times over.`;
    throw new APIConnectionError(message, { phase: 'body', sent: 'yes', retryable: false });
  }
  // What is not known is handed on as it came, as `fetch` does it: it may well be a name without a meaning.
  if (!layers.every((layer) => KNOWN.has(layer))) return source;
  return layers.reverse().reduce((inner, layer) => {
    const transform = transformFor(layer);
    return transform === undefined ? inner : new TransformedSource(inner, transform);
  }, source);
}

/** `undefined` for an encoding that changes nothing. */
function transformFor(encoding: string): Transform | undefined {
  // Fetched here and not at the top: most programs never meet a compressed answer.
  const { createBrotliDecompress, createGunzip, createInflate, constants } = process.getBuiltinModule('node:zlib');
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  const brotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip(flush);
  if (encoding === 'deflate') return createInflate(flush);
  return encoding === 'br' ? createBrotliDecompress(brotli) : undefined;
}

/** A source whose bytes go through a transform. It reads ahead no further than the transform's own buffer. */
class TransformedSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #transform: Transform;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #sourceEnded = false;

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
      // What follows the end of the compressed data is nobody's, and must not keep the connection.
      if (done && !this.#sourceEnded) this.#source.cancel(new Error('the compressed answer is over'));
      return done ? undefined : value;
    } catch (error) {
      this.#source.cancel(error as Error);
      throw connectionError(error, { phase: 'body', sent: 'yes' });
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
      this.#sourceEnded = true;
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
