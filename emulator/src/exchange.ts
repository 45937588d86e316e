import type { Socket } from 'node:net';
import { parseJson, readBytes } from './body.js';
import type { Area } from './errors.js';
import type { RateState } from './rate-limit.js';
import type { LogEntry } from './request-log.js';
import type { ApiKeyKind } from './store/api-keys.js';

/** One request on its way through the emulator. */
export class Exchange {
  readonly method: string;
  readonly path: string;
  /** Who asks: set by the gate of the area before a route runs. */
  userId = '';
  keyKind: ApiKeyKind | undefined;
  /** The bucket this request counted in, for the headers of the Gateway. */
  rate: RateState | undefined;
  #bytes: Promise<Uint8Array> | undefined;

  constructor(
    readonly request: Request,
    readonly area: Area,
    readonly entry: LogEntry,
    /** The connection, unless the request came in process. */
    readonly socket: Socket | undefined,
    readonly limits: { maxBodySize: number; maxFileSize: number },
  ) {
    this.method = request.method;
    this.path = pathOf(request.url);
  }

  /** The whole body, read once. */
  bytes(): Promise<Uint8Array> {
    this.#bytes ??= this.#read();
    return this.#bytes;
  }

  /** The body as JSON. */
  async json(): Promise<unknown> {
    const bytes = await this.bytes();
    return parseJson(new TextDecoder().decode(bytes));
  }

  async #read(): Promise<Uint8Array> {
    const isUpload = this.area === 'gateway' && this.path === '/v1/files';
    const limit = isUpload ? this.limits.maxFileSize + MULTIPART_OVERHEAD : this.limits.maxBodySize;
    const bytes = await readBytes(this.request, limit, isUpload ? 'file' : 'body');
    if (!isUpload) this.entry.body = bytes;
    return bytes;
  }
}

/** The path of an absolute URL, without query; much quicker than parsing it. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  if (start === -1) return '/';
  const end = url.slice(start).search(/[?#]/);
  return end === -1 ? url.slice(start) : url.slice(start, start + end);
}

/** Bounds, headers and the purpose field around the file itself. */
const MULTIPART_OVERHEAD = 64 * 1024;
