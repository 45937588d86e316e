import { ownProperties } from '../base/objects.js';
import type { HeaderSource } from '../base/response-info.js';
import { APIConnectionError } from '../errors/connection.js';
import type { ByteSource, Engine, Exchange, OutgoingRequest, Progress, ResponseHead } from './engine.js';
import { connectionError, type FailedRequest } from './failure.js';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The differences between platforms that send through `fetch`. */
export interface FetchRules extends Pick<FailedRequest, 'meaningOf' | 'sendsOnce'> {
  /** The options of `fetch` besides the signal. */
  requestInit(request: OutgoingRequest): RequestInit;
  /** Explains a failure without a code. */
  explain?(error: unknown, request: OutgoingRequest): string | undefined;
}

/** Sends through `fetch`: the user's, or the global one at the time of each call. */
export class FetchEngine implements Engine {
  readonly #fetch: Fetch;
  readonly #rules: FetchRules;

  constructor(fetch: Fetch | undefined, rules: FetchRules) {
    // Called as a plain function, because browsers reject a `fetch` that is called as a method.
    this.#fetch = fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.#rules = rules;
  }

  send(request: OutgoingRequest): Exchange {
    return new FetchExchange(request, this.#fetch, this.#rules);
  }

  async close(): Promise<void> {}
}

class FetchExchange implements Exchange {
  readonly head: Promise<ResponseHead>;
  readonly #controller = new AbortController();
  readonly #rules: FetchRules;
  readonly #failed: FailedRequest;
  #rejectHead!: (error: Error) => void;
  #progress: Progress = { phase: 'headers', sent: 'maybe' };
  #body: StreamSource | undefined;
  #failure: Error | undefined;

  constructor(request: OutgoingRequest, fetch: Fetch, rules: FetchRules) {
    this.#rules = rules;
    this.#failed = { ...rules, origin: request.origin };
    this.head = new Promise((resolve, reject) => {
      this.#rejectHead = reject;
      this.#send(request, fetch).then(resolve, reject);
    });
  }

  get progress(): Progress {
    return this.#progress;
  }

  cancel(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#rejectHead(error);
    // Rejects first, so that the error is this one, whatever the platform throws on abort.
    this.#body?.cancel(error);
    this.#controller.abort(error);
  }

  async #send(request: OutgoingRequest, fetch: Fetch): Promise<ResponseHead> {
    const response = await this.#fetchWith(request, fetch);
    this.#progress = { phase: 'body', sent: 'yes' };
    if (typeof request.body === 'object') request.body.onBlobSent();
    this.#body = new StreamSource(readerOf(response, this.#failed), this.#failed, (error) =>
      this.#controller.abort(error),
    );
    if (this.#failure !== undefined) {
      this.#body.cancel(this.#failure);
      throw this.#failure;
    }
    return { status: response.status, headers: new FetchHeaders(response.headers), body: this.#body };
  }

  async #fetchWith(request: OutgoingRequest, fetch: Fetch): Promise<Response> {
    // Without a prototype: a polluted Object.prototype could add a body to a GET.
    const init = ownProperties({ ...this.#rules.requestInit(request), signal: this.#controller.signal });
    let response: unknown;
    try {
      response = await fetch(request.origin + request.path, init);
    } catch (error) {
      const unexplained = this.#rules.explain?.(error, request);
      throw this.#failure ?? connectionError(error, this.#progress, { ...this.#failed, unexplained });
    }
    if (!isResponse(response)) {
      throw new APIConnectionError('No usable response: the given fetch did not return a Response.', this.#progress);
    }
    return response;
  }
}

/** A structural check, so that a Response of another realm or a polyfill works too. */
function isResponse(value: unknown): value is Response {
  const response = value as Response | null | undefined;
  return typeof response?.status === 'number' && response.status >= 200 && typeof response.headers?.get === 'function';
}

/** A given `fetch` may return the same response twice, or one that was already read. */
function readerOf(response: Response, request: FailedRequest): BodyReader | undefined {
  try {
    const body = response.body as Partial<ReadableStream<Uint8Array>> | null | undefined;
    if (body === null) return undefined;
    return body?.getReader === undefined ? wholeReader(response) : body.getReader();
  } catch (cause) {
    throw connectionError(cause, { phase: 'body', sent: 'yes' }, request);
  }
}

/** If the response has no web stream, as in React Native, its body is read as a whole. */
function wholeReader(response: Response): BodyReader {
  let text: Promise<string> | undefined;
  return {
    read: async () => {
      if (text !== undefined) return { done: true, value: undefined };
      text = response.text();
      return { done: false, value: new TextEncoder().encode(await text) };
    },
    cancel: async () => {},
  };
}

export class FetchHeaders implements HeaderSource {
  readonly #headers: Headers;

  constructor(headers: Headers) {
    this.#headers = headers;
  }

  get(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }

  toHeaders(): Headers {
    return this.#headers;
  }
}

/** The options of `fetch` on servers and in workers. Redirects are never followed: 'manual' returns the 3xx. */
export function requestInit({ method, headers, body }: OutgoingRequest): RequestInit {
  const upload = typeof body === 'object' ? body : undefined;
  const whole = typeof body === 'object' ? body.asBlob() : body;
  const bytes = whole === undefined ? upload?.open?.() : undefined;
  if (bytes === undefined) return { method, headers, body: whole ?? null, redirect: 'manual' };
  const streamed: RequestInit & { duplex: 'half' } = {
    method,
    headers,
    body: streamOf(bytes[Symbol.asyncIterator]()),
    // With 'manual', Node keeps a second copy of a streamed body.
    redirect: knowsRedirectError() ? 'error' : 'manual',
    duplex: 'half',
  };
  return streamed;
}

/** Whether the platform implements `redirect: 'error'`. workerd does not. */
function knowsRedirectError(): boolean {
  try {
    return new Request('http://localhost', { redirect: 'error' }).redirect === 'error';
  } catch {
    return false;
  }
}

/** Reads nothing ahead. */
export function streamOf(chunks: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return?.(); // a pending `pull` fails then, which a cancelled stream ignores
      },
    },
    { highWaterMark: 0 },
  );
}

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
