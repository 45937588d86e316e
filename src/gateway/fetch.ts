import { tryJson } from '../base/json.js';
import { isObject } from '../base/objects.js';
import { onAbort } from '../base/on-abort.js';
import type { Transport } from '../call/transport.js';
import { APIError } from '../errors/api.js';
import { ConfigurationError, ContextGatewayError } from '../errors/base.js';
import { APIAbortError, APITimeoutError, ClientClosedError } from '../errors/connection.js';
import { RequestValidationError } from '../errors/validation.js';
import { wholeUpload } from '../platform/upload/whole.js';
import type { Base } from '../request/base-url.js';
import type { Endpoint, Method } from '../request/request.js';
import type { RequestOptions } from '../request/request-options.js';
import { passedHeaders } from '../response/passed-headers.js';
import { asThrownByFetch, errorFields, passResponse } from '../stream/passed.js';
import { isSetByClient } from '../validation/headers.js';
import type { ChatCompletions } from './chat.js';

const COMPLETIONS = '/v1/chat/completions';
/** Other names of the header that carries the credential, which is ours. */
const CREDENTIALS = /^(x-)?api-key$/;
/** The name of an endpoint. All else in a path is an id, which no event and no error contains. */
const ENDPOINT =
  /^\/v1\/[a-z_-]+(\/(completions|content|edits|embeddings|generations|speech|transcriptions|translations))?$/;

/**
 * One owner of retries: a failure comes out as a response that says not to try again. Only an abort and a closed client throw.
 * Wrong use is a 400, because other clients show the message of no other error.
 */
export function gatewayFetch(transport: Transport, completions: ChatCompletions) {
  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const signal = init?.signal === undefined && input instanceof Request ? input.signal : init?.signal;
    try {
      const endpoint = await endpointOf(request, transport.base, signal);
      const options = { headers: headersOf(request), ...(signal && { signal }) };
      const { body } = endpoint;
      if (endpoint.path === COMPLETIONS && request.method === 'POST' && isObject(body))
        return await completionFor(completions, endpoint, body, options);
      return await transport.stream(endpoint, passResponse, options);
    } catch (error) {
      return responseTo(error);
    }
  };
}

/** @throws {ConfigurationError} when the request is for another service, which must not get our credential */
async function endpointOf(request: Request, { origin, prefix }: Base, signal: AbortSignal | null | undefined) {
  const { method, headers, url } = request;
  const { origin: to, pathname, search } = new URL(url);
  if (to !== origin || !pathname.startsWith(`${prefix}/v1/`))
    throw new ConfigurationError(
      `gateway.fetch sends only to ${origin}${prefix}/v1: pass this as baseURL to the other client.`,
    );
  const given = pathname.slice(prefix.length);
  const path = ENDPOINT.test(given) ? given : given.replace(/^(\/v1\/[^/]*\/).+$/, '$1{id}');
  const bytes = request.body === null ? new ArrayBuffer(0) : await unlessAborted(request.arrayBuffer(), signal);
  const text = utf8(bytes);
  const hasBody = bytes.byteLength > 0;
  const type = hasBody ? (headers.get('content-type') ?? undefined) : undefined;
  const endpoint: Endpoint = {
    ...{ method: method as Method, path, accept: headers.get('accept') ?? undefined },
    ...{ written: { target: pathname + search, text: hasBody ? text : undefined, type }, body: tryJson(text ?? '') },
  };
  return text === undefined ? { ...endpoint, upload: () => wholeUpload(new Blob([bytes]), type) } : endpoint;
}

/** The text whose bytes these are, or `undefined` for any others. */
function utf8(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The body of a request is read before there is a call, which would end with the signal. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const unfollow = onAbort(signal, () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
    work.then(resolve, reject).finally(unfollow);
  });
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
  const call = stream === true ? completions.streamed(endpoint, n, options) : completions.whole(endpoint, n, options);
  return await call.asResponse();
}

/** The service's own response to a call that failed, or one for a failure without a response. */
function responseTo(error: unknown): Response {
  const isEnd = error instanceof APIAbortError || error instanceof ClientClosedError;
  if (!(error instanceof ContextGatewayError) || isEnd) throw asThrownByFetch(error);
  const own = error instanceof APIError ? error : undefined;
  const headers = passedHeaders(own?.headers ?? new Headers(), 'application/json');
  headers.set('x-should-retry', 'false');
  if (own?.retryAfter !== undefined) headers.set('retry-after', String(Math.ceil(own.retryAfter / 1_000)));
  if (own?.status === 304) return new Response(null, { status: 304, headers });
  const isWrongUse = error instanceof ConfigurationError || error instanceof RequestValidationError;
  const usual = isWrongUse ? 400 : error instanceof APITimeoutError ? 504 : 502;
  const status = own !== undefined && own.status >= 400 ? own.status : usual;
  const body = own && APIError.bodyOf(own);
  return new Response(body ?? JSON.stringify({ error: errorFields(error) }), { status, headers });
}
