import type { Transform } from 'node:stream';
import { APIConnectionError } from '../errors/connection.js';
import type { ByteSource } from './engine.js';
import { connectionError, type FailedRequest } from './failure.js';

/** More layers than this are treated as an attack. */
const MAX_LAYERS = 3;
const CHANGES = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd']);
const KNOWN = new Set([...CHANGES, 'identity', '']);

/**
 * Decodes `content-encoding`. Passes on each flush of the sender at once, so that compressed events are not delayed.
 */
export function decompress(source: ByteSource, encodings: string | undefined, request: FailedRequest): ByteSource {
  if (encodings === undefined) return source;
  const layers = encodings
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim());
  if (layers.length > MAX_LAYERS) {
    const message = `No usable response: it is compressed ${layers.length} times, and the client supports at most ${MAX_LAYERS}.`;
    throw new APIConnectionError(message, { phase: 'body', sent: 'yes', retryable: false });
  }
  // Unknown encodings are passed through, as in `fetch`: the body may not be encoded. If it is, its reader says so.
  if (!layers.every((layer) => KNOWN.has(layer))) return source;
  if (layers.includes('zstd') && zstdIn(process.getBuiltinModule('node:zlib')) === undefined) return source;
  return layers
    .reverse()
    .reduce((inner, layer) => (CHANGES.has(layer) ? transformed(inner, layer, request) : inner), source);
}

/** Node 22.15 and later have it. */
function zstdIn(zlib: object): (() => Transform) | undefined {
  return (zlib as { createZstdDecompress?: () => Transform }).createZstdDecompress;
}

function transformFor(encoding: string, first: Uint8Array): Transform {
  // Loaded here, because most programs never receive a compressed response.
  const zlib = process.getBuiltinModule('node:zlib');
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
  const flush = { flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH };
  if (encoding === 'br')
    return zlib.createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH });
  const zstd = zstdIn(zlib);
  if (encoding === 'zstd' && zstd !== undefined) return zstd();
  if (encoding !== 'deflate') return zlib.createGunzip(flush);
  // Detected by the first byte, because some services omit the zlib header.
  return ((first[0] ?? 8) & 15) === 8 ? zlib.createInflate(flush) : zlib.createInflateRaw(flush);
}

/** A source whose bytes go through a transform. Reads ahead only as far as the transform's buffer. */
function transformed(source: ByteSource, encoding: string, request: FailedRequest): ByteSource {
  let transform: Transform | undefined;
  let sourceEnded = false;

  async function* rest(first: Uint8Array | undefined): AsyncGenerator<Uint8Array, undefined> {
    for (let chunk = first; chunk !== undefined; chunk = await source.read()) yield chunk;
    sourceEnded = true;
  }

  async function* decode(): AsyncGenerator<Uint8Array, undefined> {
    const first = await source.read();
    transform = transformFor(encoding, first ?? new Uint8Array());
    process.getBuiltinModule('node:stream').pipeline(rest(first), transform, () => {}); // the loop throws its error
    for await (const bytes of transform) yield bytes;
  }

  const decoded = decode();
  return {
    async read() {
      try {
        const { value, done } = await decoded.next();
        // Bytes after the end of the compressed data are ignored, and must not hold the connection.
        if (done && !sourceEnded) source.cancel(new Error('the compressed response is complete'));
        return value;
      } catch (error) {
        source.cancel(error as Error);
        throw connectionError(error, { phase: 'body', sent: 'yes' }, request);
      }
    },
    cancel(error) {
      source.cancel(error);
      transform?.destroy(error);
    },
  };
}
