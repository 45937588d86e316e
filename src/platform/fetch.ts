import { ownProperties } from '../base/objects.js';
import type { HeaderSource } from '../base/response-info.js';
import { APIConnectionError } from '../errors/connection.js';
import type { Engine, Exchange, OutgoingRequest, Progress, ResponseHead } from './engine.js';
import { connectionError, type FailedRequest } from './failure.js';
import { type BodyReader, StreamSource } from './stream-source.js';

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
