import type { HeaderSource } from '../api-promise.js';
import type { Phase, Sent } from '../errors/connection.js';

/** How bytes leave and come back. Two of them pass one shared suite: undici on Node, `fetch` everywhere else. */
export interface Engine {
  send(request: OutgoingRequest): Exchange;
  /** Gives up every connection, also those in use. */
  close(): Promise<void>;
}

/** One request, complete: nothing is added to it on the way. */
export interface OutgoingRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, encoded, beginning with `/`. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | OutgoingStream | undefined;
  /** Masks the credential in a text, in whatever spelling. */
  clean(text: string): string;
}

/** The body of an upload, for one attempt. */
export interface OutgoingStream {
  /** Bytes in all, if known. */
  readonly size: number | undefined;
  /**
   * The whole body, where that costs no memory: `fetch` is given this. It counts none of its bytes; `wholeSent` is called when
   * all have left.
   */
  takeWhole(): Blob | FormData | undefined;
  wholeSent(): void;
  /** Its bytes, read while they are sent. Browsers cannot send a body like this, and have none. */
  open?(): AsyncIterable<Uint8Array>;
  /** Bytes that have left. */
  readonly sent: number;
  /** Its attempt is over: it gives nothing more. */
  cancel(): void;
}

/** What an upload is made of. */
export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  /** As the caller gave it. */
  readonly file: unknown;
  readonly filename: string | undefined;
}

/** A form on its way: a body for each attempt. */
export interface Upload {
  /** `undefined` where the platform writes the form, and its header with it. */
  readonly contentType: string | undefined;
  /** Whether it can be sent a second time. */
  readonly repeatable: boolean;
  /** `onProgress` hears of every part that left, or how many there would be. */
  body(onProgress: (times?: number) => void): OutgoingStream;
  /** No attempt reads it any more: what fills it is told. */
  cancel(): unknown;
}

/** Called with the bytes sent so far, and the total if known. */
export type ProgressListener = (sent: number, total: number | undefined) => void;

/** How far a request has come. */
export interface Progress {
  readonly phase: Phase;
  readonly sent: Sent;
}

/** A request under way. */
export interface Exchange {
  /** Status and headers. Rejects with an `APIConnectionError`, or with what `cancel` was given. */
  readonly head: Promise<ResponseHead>;
  readonly progress: Progress;
  /** Stops it at once, wherever it is. What is waited for rejects with `error`. */
  cancel(error: Error): void;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderSource;
  readonly body: ByteSource;
}

/** The bytes of an answer, decompressed, as the reader asks for them: a reader that stops holds the sender back. */
export interface ByteSource {
  /** The next bytes, `undefined` at the end. At once where they are here already. */
  read(): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Stops the answer and frees its connection. Pending and later reads reject with `error`. */
  cancel(error: Error): void;
}

/** What an engine may be given by the user. */
export interface EngineOptions {
  /** A `fetch` to use instead of the platform's own. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Node only: an undici `Dispatcher`. */
  readonly dispatcher?: DispatcherLike | undefined;
}

/** As much of an undici `Dispatcher` as is used here, so that our types need none of undici's. */
export interface DispatcherLike {
  // A method, not a property: undici's own, narrower parameter types stay assignable.
  dispatch(options: never, handler: never): boolean;
}
