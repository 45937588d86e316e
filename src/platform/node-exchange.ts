import { ownProperties } from '../base/objects.js';
import type { HeaderSource } from '../base/response-info.js';
import { ConfigurationError } from '../errors/base.js';
import { decompress } from './decompress.js';
import type { Controller, Dispatch, DispatchHandler, ResponseFields } from './dispatch.js';
import type { ByteSource, Exchange, OutgoingRequest, Progress, ResponseHead } from './engine.js';
import { connectionError, type FailedRequest } from './failure.js';
import { fetchHeaders, streamSource } from './fetch.js';
import { responseIn } from './response-in.js';

/** If more bytes than this wait for the reader, the socket is paused. */
const HIGH_WATER = 64 * 1024;

/** One request through undici's `dispatch`: handler, progress and response bytes in one object. */
export class NodeExchange implements Exchange, ByteSource, DispatchHandler {
  readonly head: Promise<ResponseHead>;
  #resolveHead!: (head: ResponseHead) => void;
  #rejectHead!: (error: Error) => void;
  #controller: Controller | undefined;
  #phase: Progress['phase'] = 'connect';
  #sent: Progress['sent'] = 'no';
  #chunks: Uint8Array[] = [];
  #waiting = 0;
  #paused = false;
  #ended = false;
  #failure: Error | undefined;
  #reader: { resolve(chunk: Uint8Array | undefined): void; reject(error: Error): void } | undefined;

  constructor(
    request: OutgoingRequest,
    agent: Dispatch,
    private readonly failed: FailedRequest,
    /** Gets the origin when a response arrives. */
    private readonly heard?: Set<string>,
  ) {
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
    this.#start(request, agent);
  }

  #start({ method, origin, target, headers, body }: OutgoingRequest, agent: Dispatch): void {
    const length = typeof body === 'object' ? body.size : undefined;
    const options = {
      origin,
      path: target,
      method,
      headers: length === undefined ? headers : { ...headers, 'content-length': String(length) },
      body: typeof body === 'object' ? body.open?.() : body,
      // The timeouts are ours: undici's default of 300 s would end a plain completion early, through a given
      // dispatcher.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    try {
      // Without a prototype: undici would read `upgrade`, `reset` and others from a polluted Object.prototype.
      agent.dispatch(ownProperties(options), this);
    } catch (error) {
      // undici 7 and 8 report an invalid request to the handler. undici 6 throws if the handler is invalid.
      const isOld = /^invalid on[A-Z]/.test(String((error as Partial<Error> | null | undefined)?.message));
      this.#fail(isOld ? oldDispatcher() : connectionError(error, this.progress, this.failed));
    }
  }

  get progress(): Progress {
    return { phase: this.#phase, sent: this.#sent };
  }

  cancel(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#chunks = []; // a truncated response is read to its end, a cancelled one is not
    this.#fail(error);
    if (!this.#ended) this.#controller?.abort(error);
  }

  read(): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#waiting -= chunk.byteLength;
      if (this.#paused && this.#chunks.length === 0) {
        this.#paused = false;
        this.#controller?.resume();
      }
      return chunk;
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#ended) return undefined;
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#failure !== undefined) {
      controller.abort(this.#failure);
      return;
    }
    if (this.#sent !== 'no') return; // a dispatcher that retries starts again
    this.#phase = 'headers';
    this.#sent = 'maybe';
  }

  onResponseStart(_controller: Controller, status: number, fields: ResponseFields): void {
    if (status < 200 || this.#failure !== undefined) return; // informational; the response follows
    this.#phase = 'body';
    this.#sent = 'yes';
    this.heard?.add(this.failed.origin);
    const headers = new NodeHeaders(fields);
    try {
      this.#resolveHead({ status, headers, body: decompress(this, headers.get('content-encoding'), this.failed) });
    } catch (error) {
      this.cancel(error as Error);
    }
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    this.#controller = controller; // a dispatcher that resumes a response passes a new one
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve(chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#waiting += chunk.byteLength;
    if (this.#waiting < HIGH_WATER) return;
    this.#paused = true;
    controller.pause();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#reader?.resolve(undefined);
    this.#reader = undefined;
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    const carried = this.#phase === 'body' ? undefined : responseIn(error, this.failed.origin);
    if (carried === undefined) {
      this.#fail(connectionError(error, this.progress, this.failed));
      return;
    }
    this.#phase = 'body';
    this.#sent = 'yes';
    this.#ended = true; // nothing more will be read of the connection
    const body = streamSource(carried.body?.getReader(), this.failed);
    this.#resolveHead({ status: carried.status, headers: fetchHeaders(carried.headers), body });
  }

  /** Called only by undici 6, whose other methods are missing here. Nothing was sent. */
  onConnect(abort: (reason: Error) => void): void {
    const error = oldDispatcher();
    this.#fail(error);
    abort(error);
  }

  /** Called only by undici 6, which rejects a handler without its other methods. */
  onError(): void {
    this.#fail(oldDispatcher());
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#rejectHead(error);
    this.#reader?.reject(error);
    this.#reader = undefined;
  }
}

function oldDispatcher(): ConfigurationError {
  return new ConfigurationError(
    'dispatcher must be from undici 7 or 8. This one is from undici 6: create it with a newer undici.',
  );
}

/** Headers as parsed by undici. They inherit from `Object.prototype`, whose fields are not headers. */
class NodeHeaders implements HeaderSource {
  constructor(private readonly fields: ResponseFields) {}

  get(name: string): string | undefined {
    if (!Object.hasOwn(this.fields, name)) return undefined;
    const value = this.fields[name];
    return typeof value === 'string' ? value : value?.join(', ');
  }

  toHeaders(): Headers {
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.fields)) {
      for (const one of [value].flat()) headers.append(name, byteText(one));
    }
    return headers;
  }
}

/** One character for each byte, as `Headers` requires. undici before 7.20 decodes UTF-8. */
function byteText(text: string): string {
  return /[^\0-\xff]/.test(text) ? Buffer.from(text).toString('latin1') : text;
}
