import { ownProperties } from '../base/objects.js';
import type { HeaderSource } from '../base/response-info.js';
import { streamOf } from '../base/stream-of.js';
import { APIConnectionError } from '../errors/connection.js';
import type {
  ByteSource,
  Engine,
  Exchange,
  Fetch,
  FetchInit,
  FetchResponse,
  OutgoingRequest,
  Progress,
  ResponseHead,
} from './engine.js';
import { connectionError, type FailedRequest } from './failure.js';

/** The differences between platforms that send through `fetch`. */
export interface FetchRules extends Pick<FailedRequest, 'meaningOf' | 'sendsOnce'> {
  /** The options of `fetch` besides the signal. */
  requestInit(request: OutgoingRequest): Omit<FetchInit, 'signal'>;
  /** Explains a failure without a code. */
  explain?(error: unknown, request: OutgoingRequest): string | undefined;
  /** The response that an error carries. */
  responseIn?(error: unknown, origin: string): FetchResponse | undefined;
}

const READ_ALREADY =
  'No usable response: the body of the Response that the given fetch returned was read already, for example by a cache or a log. Read response.clone() there, and return the response itself.';
const READING: Progress = { phase: 'body', sent: 'yes' };

/** Sends through `fetch`: the user's, or the global one at the time of each call. */
export function fetchEngine(given: Fetch | undefined, rules: FetchRules): Engine {
  // Called as a plain function, because browsers reject a `fetch` that is called as a method.
  const fetch: Fetch = given ?? ((url, init) => globalThis.fetch(url, init));
  return { kind: 'fetch', send: (request) => exchangeOf(request, fetch, rules), close: async () => {} };
}

function exchangeOf(request: OutgoingRequest, fetch: Fetch, rules: FetchRules): Exchange {
  const failed: FailedRequest = { ...rules, origin: request.origin };
  const controller = new AbortController();
  let body: ByteSource | undefined;
  let failure: Error | undefined;
  let rejectHead: (error: Error) => void;

  const exchange = {
    progress: { phase: 'headers', sent: 'maybe' } as Progress, // a getter would take a microsecond
    cancel(error: Error): void {
      if (failure !== undefined) return;
      failure = error;
      rejectHead(error);
      // Rejects first, so that the error is this one, whatever the platform throws on abort.
      body?.cancel(error);
      controller.abort(error);
    },
  };

  const send = async (): Promise<ResponseHead> => {
    // Without a prototype: a polluted Object.prototype could add a body to a GET.
    const init = ownProperties({ ...rules.requestInit(request), signal: controller.signal });
    let response: unknown;
    try {
      response = await fetch(request.origin + request.target, init);
    } catch (error) {
      if (failure === undefined && isControlFlow(error)) throw error;
      response = failure === undefined ? rules.responseIn?.(error, request.origin) : undefined;
      if (response === undefined) {
        const unexplained = rules.explain?.(error, request);
        throw failure ?? connectionError(error, exchange.progress, { ...failed, unexplained });
      }
    }
    if (!isResponse(response))
      throw new APIConnectionError('No usable response: the given fetch did not return a Response.', exchange.progress);
    exchange.progress = READING;
    if (typeof request.body === 'object') request.body.onBlobSent();
    body = streamSource(readerOf(response, failed), failed, (error) => controller.abort(error));
    if (failure === undefined) return { status: response.status, headers: fetchHeaders(response.headers), body };
    body.cancel(failure);
    throw failure;
  };

  const head = new Promise<ResponseHead>((resolve, reject) => {
    rejectHead = reject;
    send().then(resolve, reject);
  });
  return Object.assign(exchange, { head });
}

/** Next.js throws errors with a `digest` from `fetch` to make a page dynamic. It must get them back as they are. */
function isControlFlow(error: unknown): boolean {
  return typeof (error as { digest?: unknown } | undefined)?.digest === 'string';
}

/** A structural check, so that a Response of another realm or a polyfill works too. */
function isResponse(value: unknown): value is FetchResponse {
  const response = value as FetchResponse | null | undefined;
  return typeof response?.status === 'number' && response.status >= 200 && typeof response.headers?.get === 'function';
}

/** A given `fetch` may return the same response twice, or one that was already read. */
function readerOf(response: FetchResponse, request: FailedRequest): BodyReader | undefined {
  try {
    const { bodyUsed, body: given } = response as Partial<Response>;
    if (bodyUsed || given?.locked) throw new APIConnectionError(READ_ALREADY, { ...READING, retryable: false });
    const body = response.body as Partial<ReadableStream<Uint8Array>> | null | undefined;
    if (body === null) return undefined;
    return body?.getReader === undefined ? wholeReader(response) : body.getReader();
  } catch (cause) {
    throw connectionError(cause, READING, request);
  }
}

/** If the response has no web stream, as in React Native, its body is read as a whole. */
function wholeReader(response: FetchResponse): BodyReader {
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

export function fetchHeaders(headers: FetchResponse['headers']): HeaderSource {
  const get = (name: string): string | undefined => {
    try {
      return headers.get(name) ?? undefined;
    } catch {
      return undefined; // the `fetch` of SvelteKit's load functions forbids reading most headers
    }
  };
  return { get, toHeaders: () => headers as Headers };
}

/** The options of `fetch` on servers and in workers. Redirects are never followed: 'manual' returns the 3xx. */
export function requestInit({ method, headers, body }: OutgoingRequest): Omit<FetchInit, 'signal'> {
  const upload = typeof body === 'object' ? body : undefined;
  const whole = typeof body === 'object' ? body.asBlob() : body;
  const bytes = whole === undefined ? upload?.open?.() : undefined;
  if (bytes === undefined) return { method, headers, body: whole ?? null, redirect: 'manual', ...noStore() };
  const chunks = bytes[Symbol.asyncIterator]();
  return {
    method,
    headers,
    body: streamOf(chunks, () => chunks.return?.()),
    // With 'manual', Node keeps a second copy of a streamed body.
    redirect: knows('redirect', 'error') ? 'error' : 'manual',
    duplex: 'half',
    ...noStore(),
  };
}

/** Nothing is cached: the `fetch` of Next.js 13 and 14 caches even POST. */
export function noStore(): Pick<FetchInit, 'cache'> {
  return knows('cache', 'no-store') ? { cache: 'no-store' } : {};
}

const known = new Map<string, boolean>();

/** Whether the platform implements an option of `fetch`. workerd does not have all, and rejects those. */
function knows(name: 'redirect' | 'cache', value: string): boolean {
  let isKnown = known.get(name);
  if (isKnown === undefined) {
    try {
      isKnown = new Request('http://localhost', { [name]: value })[name] === value;
    } catch {
      isKnown = false;
    }
    known.set(name, isKnown);
  }
  return isKnown;
}

/** The reader of a web stream, or a substitute. */
export type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>;

/** The bytes of a web stream. */
export function streamSource(
  reader: BodyReader | undefined,
  request?: FailedRequest,
  onCancel?: (error: Error) => void,
): ByteSource {
  let failure: Error | undefined;
  let rejectRead: ((error: Error) => void) | undefined;

  return {
    read() {
      if (failure !== undefined) return Promise.reject(failure);
      if (reader === undefined) return undefined;
      return new Promise((resolve, reject) => {
        rejectRead = reject; // does not wait for a platform whose read does not end on abort
        reader.read().then(
          ({ value, done }) => {
            if (done) resolve(undefined);
            else if (ArrayBuffer.isView(value)) resolve(value);
            else reject(connectionError(new TypeError('not bytes'), READING, request));
          },
          (error) => reject(failure ?? connectionError(error, READING, request)),
        );
      });
    },
    cancel(error) {
      if (failure !== undefined) return;
      failure = error;
      rejectRead?.(error);
      // Errors here do not matter, because the response is discarded.
      reader?.cancel(error).catch(() => {});
      onCancel?.(error);
    },
  };
}
