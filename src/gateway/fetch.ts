import { tryJson } from '../base/json.js';
import { isObject } from '../base/objects.js';
import { streamOf } from '../base/stream-of.js';
import type { Transport } from '../call/transport.js';
import { APIError } from '../errors/api.js';
import { ConfigurationError, ContextGatewayError } from '../errors/base.js';
import { APIAbortError, APITimeoutError, ClientClosedError } from '../errors/connection.js';
import { RequestValidationError } from '../errors/validation.js';
import { wholeUpload } from '../platform/upload/whole.js';
import type { Endpoint, Method } from '../request/request.js';
import type { RequestOptions } from '../request/request-options.js';
import type { ChatCompletionStream } from '../stream/completion-stream.js';
import { passedHeaders, passResponse } from '../stream/passed.js';
import { isSetByClient } from '../validation/headers.js';
import type { ChatCompletions } from './chat.js';

type Signal = AbortSignal | null | undefined;

const COMPLETIONS = '/v1/chat/completions';
/** Other names of the header that carries the credential, which is ours. */
const CREDENTIALS = /^(x-)?api-key$/;
/** A name in a path. All else is an id, which no event and no error contains. */
const NAME = /^(v\d+|[a-z_-]+)$/;

/**
 * One owner of retries: what another client could send again comes out as a response that says not to. Only an abort, wrong
 * use and a closed client throw.
 */
export function gatewayFetch(transport: Transport, completions: ChatCompletions) {
  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    try {
      const endpoint = await endpointOf(request, transport);
      const options = { headers: headersOf(request), ...(signal && { signal }) };
      const { body } = endpoint;
      if (endpoint.path === COMPLETIONS && request.method === 'POST' && isObject(body))
        return await completionFor(completions, endpoint, body, options);
      return await transport.stream(endpoint, passResponse, options);
    } catch (error) {
      return responseTo(error, signal);
    }
  };
}

/** @throws {ConfigurationError} when the request is for another service, which must not get our credential */
async function endpointOf(request: Request, transport: Transport): Promise<Endpoint> {
  const { origin, prefix } = transport.base;
  const url = new URL(request.url);
  if (url.origin !== origin || !url.pathname.startsWith(`${prefix}/v1/`))
    throw new ConfigurationError(
      `gateway.fetch sends only to ${origin}${prefix}/v1: pass this as baseURL to the other client.`,
    );
  const path = url.pathname.slice(prefix.length).replace(/[^/]+/g, (part) => (NAME.test(part) ? part : '{id}'));
  const type = request.headers.get('content-type') ?? '';
  const bytes = request.body === null ? new ArrayBuffer(0) : await request.arrayBuffer();
  const isJson = /\bjson\b/.test(type);
  const text = isJson ? new TextDecoder().decode(bytes) : undefined;
  const accept = request.headers.get('accept') ?? undefined;
  const written = { target: url.pathname + url.search, text };
  const facts = { method: request.method as Method, path, accept, written, body: tryJson(text ?? '') };
  return isJson || bytes.byteLength === 0 ? facts : { ...facts, upload: () => wholeUpload(new Blob([bytes]), type) };
}

/** Those that the caller has set itself. */
function headersOf({ headers }: Request): Headers {
  const own = new Headers();
  for (const [name, value] of headers)
    if (!isSetByClient(name) && !CREDENTIALS.test(name) && name !== 'accept-encoding') own.set(name, value);
  return own;
}

async function completionFor(
  completions: ChatCompletions,
  endpoint: Endpoint,
  { stream, n }: { readonly stream?: unknown; readonly n?: unknown },
  options: RequestOptions,
): Promise<Response> {
  if (stream === true) {
    const streamed = await completions.streamed(endpoint, Number(n ?? 1), options);
    const { status, headers } = streamed.response;
    return new Response(eventsOf(streamed, options.signal), {
      status,
      headers: passedHeaders(headers, 'text/event-stream'),
    });
  }
  const { data, response } = await completions.whole(endpoint, options).withResponse();
  const { status, headers } = response;
  return new Response(JSON.stringify(data), { status, headers: passedHeaders(headers, 'application/json') });
}

/** The stream whole, with `[DONE]`, or what arrived of it and one error. Clients wait forever if the body itself fails. */
function eventsOf(stream: ChatCompletionStream, signal: Signal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const chunks = stream[Symbol.asyncIterator]();
  let isOver = false;
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    if (isOver) return { done: true, value: undefined };
    let data: string;
    try {
      const { value, done } = await chunks.next();
      isOver = done === true;
      data = isOver ? '[DONE]' : JSON.stringify(value);
    } catch (error) {
      if (error instanceof APIAbortError) throw reasonOf(signal, error);
      isOver = true;
      data = JSON.stringify({ error: errorFields(error as Error) });
    }
    return { done: false, value: encoder.encode(`data: ${data}\n\n`) };
  };
  return streamOf({ next }, () => chunks.return?.());
}

/** The service's own response to a call that failed, or one for a failure without a response. */
function responseTo(error: unknown, signal: Signal): Response {
  if (error instanceof APIAbortError) throw reasonOf(signal, error);
  const isWrongUse = error instanceof ConfigurationError || error instanceof RequestValidationError;
  if (!(error instanceof ContextGatewayError) || isWrongUse || error instanceof ClientClosedError) throw error;
  const own = error instanceof APIError ? error : undefined;
  const headers = passedHeaders(own?.headers ?? new Headers(), 'application/json');
  headers.set('x-should-retry', 'false');
  if (own?.retryAfter !== undefined) headers.set('retry-after', String(Math.ceil(own.retryAfter / 1_000)));
  const status = own !== undefined && own.status >= 400 ? own.status : error instanceof APITimeoutError ? 504 : 502;
  const body = isObject(own?.body) ? own.body : { error: errorFields(error) };
  return new Response(JSON.stringify(body), { status, headers });
}

/** The form of an error that all these clients read. */
function errorFields(error: Error): object {
  const { type, code, param } = error as Partial<APIError>;
  return { message: error.message, type: type ?? error.name, code: code ?? error.name, param: param ?? null };
}

/** What the platform's `fetch` would throw. */
function reasonOf(signal: Signal, error: APIAbortError): unknown {
  return signal?.aborted ? signal.reason : error;
}
