import type { HeaderSource } from '../base/response-info.js';
import type { Phase, Sent } from '../errors/connection.js';

/** Sends requests. There are two implementations, which pass the same tests: undici on Node, `fetch` elsewhere. */
export interface Engine {
  /** What the next request goes through. */
  readonly kind: EngineKind;
  send(request: OutgoingRequest): Exchange;
  /** Closes every connection, including those in use. */
  close(): Promise<void>;
}

/**
 * What sends requests: our own undici pool, a dispatcher (given, or set for all requests of the app), or `fetch` (given,
 * or the platform's).
 */
export type EngineKind = 'undici' | 'dispatcher' | 'fetch';

/** One complete request. The engine adds nothing to it. */
export interface OutgoingRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, encoded, beginning with `/`. */
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: string | OutgoingStream | undefined;
}

/** The body of an upload, for one attempt. */
export interface OutgoingStream {
  /** The total number of bytes, if known. */
  readonly size: number | undefined;
  /**
   * The whole body for `fetch`, if that costs no memory. Its bytes are not counted; `onBlobSent` is called when
   * all are sent.
   */
  asBlob(): Blob | FormData | undefined;
  onBlobSent(): void;
  /** Its bytes, read while they are sent. Absent in browsers, which cannot stream a body. */
  open?(): AsyncIterable<Uint8Array>;
  /** Bytes sent so far. */
  readonly bytesSent: number;
  /** Ends the body when its attempt is over. */
  cancel(): void;
}

/** The parts of an upload. */
export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  /** The file as passed by the caller. */
  readonly file: unknown;
  readonly filename?: string | undefined;
  readonly type?: string | undefined;
  /** Bytes. */
  readonly size?: number | undefined;
}

/** A prepared form, which creates a body for each attempt. */
export interface Upload {
  /** `undefined` if the platform writes the form, including its header. */
  readonly contentType: string | undefined;
  /** Whether it can be sent again. */
  readonly repeatable: boolean;
  /** `onProgress` is called for each part sent, or with the number of parts that it stands for. */
  body(onProgress: (times?: number) => void): OutgoingStream;
  /** Cancels the source: no attempt will read it again. */
  cancel(): unknown;
}

/** Called with the bytes of the file sent so far, and its size if known. */
export type ProgressListener = (sent: number, total: number | undefined) => void;

/** How far a request has got. */
export interface Progress {
  readonly phase: Phase;
  readonly sent: Sent;
}

/** A request in flight. */
export interface Exchange {
  /** Status and headers. Rejects with an `APIConnectionError`, or with the error passed to `cancel`. */
  readonly head: Promise<ResponseHead>;
  readonly progress: Progress;
  /** Stops the request at once. Pending promises reject with `error`. */
  cancel(error: Error): void;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderSource;
  readonly body: ByteSource;
}

/** The decompressed bytes of a response, with backpressure. */
export interface ByteSource {
  /** The next bytes, or `undefined` at the end. Synchronous if they have already arrived. */
  read(): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Cancels the response and frees its connection. Pending and later reads reject with `error`. */
  cancel(error: Error): void;
}

/** A `fetch`: the platform's, undici's, a library's or your own. Called with these arguments only. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The options that a `fetch` is called with. */
export type FetchInit = {
  method: string;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: text, a Blob, a form or a stream, which each library declares in its own way
  body: any;
  signal: AbortSignal;
  redirect: 'manual' | 'error';
  cache?: 'no-store';
  /** `fetch` wants it for a streamed body. */
  duplex?: 'half';
  /** In pages. */
  mode?: 'cors';
  credentials?: 'omit';
  referrerPolicy?: 'no-referrer';
};

/** What is read of a response. */
export type FetchResponse = {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** A web stream, or nothing. Without web streams, `text()` is read. */
  readonly body: unknown;
  text(): Promise<string>;
};

/** Options of an engine. */
export interface EngineOptions {
  /** A `fetch` to use instead of the platform's own. */
  readonly fetch?: Fetch | undefined;
  /** Node only: an undici `Dispatcher`. */
  readonly dispatcher?: DispatcherLike | undefined;
}

/** The used part of an undici `Dispatcher`, so that our types do not depend on undici's. */
export type DispatcherLike = {
  // A method, not a property: undici's own, narrower parameter types stay assignable.
  dispatch(options: never, handler: never): boolean;
};
