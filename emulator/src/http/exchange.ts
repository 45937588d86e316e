import type { Socket } from 'node:net';
import { getPath } from 'hono/utils/url';
import { parseJson } from '../base/checked.js';
import type { Area } from '../base/errors.js';
import { startOfBytes } from '../base/start-of.js';
import type { ApiKeyInfo } from '../store/api-keys.js';
import { readBytes } from './body.js';
import type { LogEntry } from './log/log-entry.js';
import { LOGGED_BYTES } from './log/request-log.js';
import type { RateState } from './rate-limit.js';

/** One request on its way through the emulator. */
export class Exchange {
  readonly method: string;
  /** Decoded like the routes do, so that all spellings of an endpoint are equal. */
  readonly path: string;
  /** Set by the authentication of the area, before a route runs. */
  userId = '';
  key: ApiKeyInfo | undefined;
  /** The state of the bucket that counted this request, for the Gateway's headers. */
  rate: RateState | undefined;
  #bytes: Promise<Uint8Array> | undefined;

  constructor(
    readonly request: Request,
    readonly area: Area,
    readonly entry: LogEntry,
    /** The connection; undefined for an in-process request. */
    readonly socket: Socket | undefined,
    readonly limits: { maxBodySize: number; maxFileSize: number },
  ) {
    this.method = request.method;
    this.path = getPath(request);
  }

  /** The whole body, read once. */
  bytes(): Promise<Uint8Array> {
    this.#bytes ??= this.#read();
    return this.#bytes;
  }

  /** The body as JSON. */
  async json(): Promise<unknown> {
    return parseJson(decoder.decode(await this.bytes()));
  }

  /** Reads the body for the log, also where nothing else needs it: a call that a fault or a refusal answers. */
  async logBody(): Promise<void> {
    if (this.#bytes !== undefined || this.method === 'GET' || this.method === 'HEAD') return;
    // What cannot be read is answered elsewhere, or the client is gone.
    await this.bytes().catch(() => {});
  }

  async #read(): Promise<Uint8Array> {
    const isUpload = this.area === 'gateway' && this.path === '/v1/files';
    const limit = isUpload ? this.limits.maxFileSize + MULTIPART_OVERHEAD : this.limits.maxBodySize;
    try {
      const bytes = await readBytes(this.request, limit, isUpload ? 'file' : 'body');
      const isCut = bytes.byteLength > LOGGED_BYTES;
      // A cut body is copied: a view would keep the whole body in memory.
      this.entry.body = isCut ? new Uint8Array(startOfBytes(bytes, LOGGED_BYTES)) : bytes;
      this.entry.isBodyCut = isCut;
      return bytes;
    } catch (error) {
      // Too large, or the client disconnected: the log has nothing of it.
      this.entry.isBodyCut = true;
      throw error;
    }
  }
}

const decoder = new TextDecoder();
/** Boundaries, headers and the purpose field around the file itself. */
const MULTIPART_OVERHEAD = 64 * 1024;
