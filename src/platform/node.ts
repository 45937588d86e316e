import type { Socket } from 'node:net';
import type { ZodMiniType } from 'zod/mini';
import * as z from 'zod/mini';
import { ownProperties } from '../base/objects.js';
import type { HeaderSource } from '../base/response-info.js';
import { ConfigurationError } from '../errors/base.js';
import {
  type Agent,
  appWideDispatcher,
  type Controller,
  createAgent,
  type Dispatch,
  type DispatchHandler,
  type ResponseFields,
  withHints,
} from './agent.js';
import { meaningOf } from './codes.js';
import { decompress } from './decompress.js';
import type {
  ByteSource,
  Engine,
  EngineKind,
  EngineOptions,
  Exchange,
  Form,
  OutgoingRequest,
  Progress,
  ProgressListener,
  ResponseHead,
  Upload,
} from './engine.js';
import { environmentLog } from './environment.js';
import { connectionError, type FailedRequest } from './failure.js';
import { fetchEngine, requestInit } from './fetch.js';
import { contentOf, openFile } from './upload/content.js';
import { multipart } from './upload/multipart.js';

export { environmentListener, isBrowser, readEnvironment, userAgent } from './environment.js';
export { repeatedChunk } from './repeated-chunk.js';

/** Files on disk and streams are sent while they are read. */
export function createForm(form: Form, listener: ProgressListener): Upload {
  return multipart(form, contentOf(form, openFile), listener);
}

/**
 * Sends through undici on Node, and through the app-wide dispatcher if there is one. Uses `fetch` if the user passed
 * one, if the global one is not Node's own (replaced, or on Bun or Deno), or if undici cannot be loaded.
 */
export function createEngine(options: EngineOptions): Engine {
  if (options.fetch !== undefined)
    return fetchEngine(options.fetch, { requestInit, meaningOf, sendsOnce: sendsOnce(options.fetch) });
  if (options.dispatcher !== undefined && typeof options.dispatcher.dispatch !== 'function') {
    throw new ConfigurationError('dispatcher must be an undici Dispatcher, such as a new ProxyAgent(url).');
  }
  return new NodeEngine(options);
}

/** Compiling a schema takes 2 to 4 ms and makes checks twenty times faster. Short programs should not pay for it. */
const USES_BEFORE_COMPILING = 30;

/** A cache for each schema. It does not affect results. */
const known = new WeakMap<ZodMiniType, { uses: number; schema: ZodMiniType }>();

/** Whether a value matches a schema. Copies nothing. */
export function matches(schema: ZodMiniType, value: unknown): boolean {
  let used = known.get(schema);
  if (used === undefined) {
    used = { uses: 0, schema };
    known.set(schema, used);
  }
  used.uses += 1;
  if (used.uses === USES_BEFORE_COMPILING) used.schema = z.compile(schema);
  return z.validate(used.schema, value);
}

/** Deno repeats a POST itself when a kept connection breaks before the response, but not one with a Blob. */
function sentOnce(request: OutgoingRequest): ReturnType<typeof requestInit> {
  const init = requestInit(request);
  const isPlain = request.method === 'POST' && typeof request.body !== 'object';
  return isPlain ? { ...init, body: new Blob([request.body ?? '']) } : init;
}

class NodeEngine implements Engine {
  readonly #given: Dispatch | undefined;
  readonly #fetchEngine = fetchEngine(undefined, {
    requestInit: 'Deno' in globalThis ? sentOnce : requestInit,
    meaningOf,
  });
  #own: Agent | 'fetch' | undefined;
  #nativeFetch: unknown;
  readonly #connecting = new Set<Socket>();

  constructor({ dispatcher }: EngineOptions) {
    // The structural type hides undici's parameter types. The arguments of `dispatch` below follow undici's
    // documentation.
    this.#given = dispatcher as Dispatch | undefined;
  }

  get kind(): EngineKind {
    const chosen = this.#given ?? this.#chosenByApp();
    if (chosen !== undefined) return chosen === 'fetch' ? 'fetch' : 'dispatcher';
    return this.#openOwn() === 'fetch' ? 'fetch' : 'undici';
  }

  send(request: OutgoingRequest): Exchange {
    const { origin } = request;
    const chosen = this.#given ?? this.#chosenByApp();
    if (chosen === 'fetch') return this.#fetchEngine.send(request);
    if (chosen !== undefined)
      return new NodeExchange(request, chosen, { origin: `${origin} through the dispatcher`, meaningOf });
    const own = this.#openOwn();
    const explain: typeof meaningOf = (code, progress) => withHints(meaningOf(code, progress), origin);
    if (own !== 'fetch') return new NodeExchange(request, own, { origin, meaningOf: explain });
    // Node's own `fetch`, directly: everything else was chosen above.
    return fetchEngine(undefined, { requestInit, meaningOf: explain, sendsOnce: true }).send(request);
  }

  async close(): Promise<void> {
    if (this.#own === 'fetch') return;
    await this.#own?.destroy();
    for (const socket of this.#connecting) socket.destroy(); // undici waits for these
  }

  /** undici is loaded at the first request, so that importing this package stays cheap. */
  #openOwn(): Agent | 'fetch' {
    if (this.#own !== undefined) return this.#own;
    try {
      this.#own = createAgent(this.#connecting);
    } catch (error) {
      this.#own = 'fetch';
      const { code, message } = error as { code?: unknown; message?: unknown };
      const reason =
        code === 'MODULE_NOT_FOUND' ? 'undici was not found' : `undici cannot be used (${code ?? message})`;
      environmentLog()?.(`context-gateway: ${reason}, so requests go through the global fetch`);
    }
    return this.#own;
  }

  /** What all requests of the app go through. A request that goes around it would miss a proxy or a mock. */
  #chosenByApp(): Dispatch | 'fetch' | undefined {
    return this.#fetchIsReplaced() ? 'fetch' : appWideDispatcher();
  }

  /** Mocks and instrumentations replace the global `fetch`. Node's own is recognised by its source text. */
  #fetchIsReplaced(): boolean {
    const { fetch } = globalThis;
    if (fetch === this.#nativeFetch || fetch === undefined) return false;
    if (!String(fetch).includes('internal/deps/undici')) return true;
    this.#nativeFetch = fetch;
    return false;
  }
}

/**
 * The platform's own `fetch` sends once. Any other, or one with a replaced dispatcher, may retry requests, so that
 * its last failure says nothing about earlier attempts.
 */
function sendsOnce(fetch: unknown): boolean {
  return (
    fetch === globalThis.fetch &&
    appWideDispatcher() === undefined &&
    /internal\/deps\/undici|^function fetch\(.*\[native code\]/s.test(String(fetch))
  );
}

/** If more bytes than this wait for the reader, the socket is paused. */
const HIGH_WATER = 64 * 1024;

/** One request through undici's `dispatch`: handler, progress and response bytes in one object. */
class NodeExchange implements Exchange, ByteSource, DispatchHandler {
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
      const isOld = (error as { code?: unknown } | null | undefined)?.code === 'UND_ERR_INVALID_ARG';
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
    this.#fail(connectionError(error, this.progress, this.failed));
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
