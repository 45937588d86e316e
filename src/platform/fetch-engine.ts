import type { HeaderSource } from '../answer.js';
import { APIConnectionError, badArgument } from '../errors.js';
import type { Engine, Exchange, OutgoingRequest, OutgoingStream, Progress, ResponseHead } from './engine.js';
import { isBrowser } from './environment.js';
import { connectionError, type FailedRequest } from './failure.js';
import { type BodyReader, StreamSource } from './stream-source.js';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Bytes leave through the web platform's `fetch`: the user's, or the global one as it is at each call. */
export class FetchEngine implements Engine {
  readonly #fetch: Fetch;
  readonly #meaningOf: FailedRequest['meaningOf'];
  readonly #sendsOnce: boolean;

  constructor(fetch: Fetch | undefined, meaningOf?: FailedRequest['meaningOf'], sendsOnce = false) {
    // Called as a plain function: browsers refuse a `fetch` that is called as a method.
    this.#fetch = fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.#meaningOf = meaningOf;
    this.#sendsOnce = sendsOnce;
  }

  send(request: OutgoingRequest): Exchange {
    const fetch = this.#fetch;
    const { origin, clean } = request;
    return new FetchExchange(request, fetch, {
      origin,
      clean,
      meaningOf: this.#meaningOf,
      sendsOnce: this.#sendsOnce,
    });
  }

  async close(): Promise<void> {}
}

class FetchExchange implements Exchange {
  readonly head: Promise<ResponseHead>;
  readonly #controller = new AbortController();
  readonly #failed: FailedRequest;
  #rejectHead!: (error: Error) => void;
  #progress: Progress = { phase: 'headers', sent: 'maybe' };
  #body: StreamSource | undefined;
  #failure: Error | undefined;

  constructor(request: OutgoingRequest, fetch: Fetch, failed: FailedRequest) {
    this.#failed = failed;
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
    // Told first, so that it rejects with this error, whatever the platform makes of the abort.
    this.#body?.cancel(error);
    this.#controller.abort(error);
  }

  async #send(request: OutgoingRequest, fetch: Fetch): Promise<ResponseHead> {
    const response = await this.#answer(request, fetch);
    this.#progress = { phase: 'body', sent: 'yes' };
    if (typeof request.body === 'object') request.body.blobSent();
    this.#body = new StreamSource(readerOf(response, this.#failed), this.#failed, (error) =>
      this.#controller.abort(error),
    );
    if (this.#failure !== undefined) {
      this.#body.cancel(this.#failure);
      throw this.#failure;
    }
    return { status: response.status, headers: new FetchHeaders(response.headers), body: this.#body };
  }

  async #answer(request: OutgoingRequest, fetch: Fetch): Promise<Response> {
    // Inherits nothing: a polluted Object.prototype would give a GET a body.
    const init = { __proto__: null, ...requestInit(request), signal: this.#controller.signal };
    let response: unknown;
    try {
      response = await fetch(request.origin + request.path, init);
    } catch (error) {
      const hidden = isBrowser() && (error as Partial<Error> | undefined)?.name === 'TypeError'; // its network errors are these
      const unexplained = hidden ? whyInPage(request) : undefined;
      throw this.#failure ?? connectionError(error, this.#progress, { ...this.#failed, unexplained });
    }
    if (!isResponse(response)) {
      throw new APIConnectionError('No usable answer: the given fetch did not return a Response.', this.#progress);
    }
    return response;
  }
}

/** The likely cause of a failed request in a browser, which tells its console the reason and the page nothing. */
function whyInPage({ origin, headers }: OutgoingRequest): string | undefined {
  const { navigator, location } = globalThis;
  if (navigator?.onLine === false) return 'the browser is offline';
  if (location === undefined) return undefined;
  if (location.origin === origin)
    return "the page's own server did not answer, or redirected; the browser's console has the reason";
  const names = Object.keys(headers).filter((name) => name !== 'accept'); // which every page may send
  return (
    `CORS is the likely cause. See the browser's console for the reason. The service must answer the preflight (OPTIONS) and ` +
    `allow the origin ${location.origin} and the headers ${names.join(', ')}`
  );
}

/** Structural: the Response of another realm, or of a polyfill, is one as well. */
function isResponse(value: unknown): value is Response {
  const response = value as Response | null | undefined;
  return typeof response?.status === 'number' && response.status >= 200 && typeof response.headers?.get === 'function';
}

/** Also a given fetch may hand out the same answer twice, or one that somebody has read. */
function readerOf(response: Response, request: FailedRequest): BodyReader | undefined {
  try {
    const body = response.body as Partial<ReadableStream<Uint8Array>> | null | undefined;
    if (body === null) return undefined;
    return body?.getReader === undefined ? wholeReader(response) : body.getReader();
  } catch (cause) {
    throw connectionError(cause, { phase: 'body', sent: 'yes' }, request);
  }
}

/** Where an answer has no web stream, as in React Native, it comes as a whole. */
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

function requestInit({ method, headers, body }: OutgoingRequest): RequestInit {
  const blob = typeof body === 'object' ? body.takeBlob() : undefined;
  const streamed = typeof body === 'object' && blob === undefined;
  const browser = isBrowser();
  const init: RequestInit & { duplex?: 'half' } = {
    method,
    headers,
    // Redirects are never followed. 'manual' shows the 3xx, but a browser hides it, and Node keeps a second copy of a streamed body for it.
    redirect: browser || (streamed && knowsRedirectError()) ? 'error' : 'manual',
  };
  if (browser)
    Object.assign(init, { credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store', mode: 'cors' });
  if (body === undefined) return init;
  init.body = typeof body === 'string' ? body : (blob ?? streamOf(body, browser));
  if (streamed) init.duplex = 'half';
  return init;
}

/** workerd does not. */
function knowsRedirectError(): boolean {
  try {
    return new Request('http://localhost', { redirect: 'error' }).redirect === 'error';
  } catch {
    return false;
  }
}

function streamOf(body: OutgoingStream, browser: boolean): ReadableStream<Uint8Array> {
  if (browser) {
    throw badArgument(
      ['file'],
      'browsers cannot stream an upload; pass a Blob or a File, such as await new Response(stream).blob()',
    );
  }
  const chunks = body.open()[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
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
