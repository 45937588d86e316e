import { isLoopback } from '../base/loopback.js';
import type { PlainResponse } from './plain-response.js';

/** Which pages may call, and whether they may read our headers; undefined if none may. */
export type Cors = { origins: '*' | 'loopback' | readonly string[]; exposeHeaders: boolean } | undefined;

/**
 * The reason to reject a request from a foreign page, if only pages of this machine may call. `address` is the local
 * address of the connection. A request that reaches loopback under another host name is DNS rebinding: the page's name
 * was made to resolve to loopback. A browser that reaches another address by a public name may be as well.
 */
export function originRejection({ headers }: Request, address: string | undefined, cors: Cors): string | undefined {
  if (cors?.origins !== 'loopback') return undefined;
  const origin = headers.get('origin');
  if (!isRenamed(headers, address) && (origin === null || isLoopbackOrigin(origin))) return undefined;
  return 'Others may know the seed that the keys are derived from, so only pages from this machine are allowed. Allow others with --cors';
}

/** Whether a page of another machine sent the request. `address` is the local address of the connection. */
export function isForeignPage({ headers }: Request, address: string | undefined): boolean {
  const origin = headers.get('origin');
  // The request for an image, for example, has no Origin.
  const isForeign = origin === null ? headers.get('sec-fetch-site') === 'cross-site' : !isLoopbackOrigin(origin);
  return isForeign || isRenamed(headers, address);
}

/** The response to a CORS preflight request; undefined for any other request. */
export function preflightResponse(request: Request, cors: Cors): PlainResponse | undefined {
  if (cors === undefined || request.method !== 'OPTIONS') return undefined;
  const origin = request.headers.get('origin');
  if (origin === null || !request.headers.has('access-control-request-method')) return undefined;
  const response: PlainResponse = { status: 204, headers: {}, body: null };
  if (!addOrigin(response.headers, origin, cors)) return response;
  response.headers['access-control-allow-methods'] = 'GET, POST, PATCH, DELETE';
  const requestedHeaders = request.headers.get('access-control-request-headers');
  if (requestedHeaders !== null) response.headers['access-control-allow-headers'] = requestedHeaders;
  // Private Network Access: a page from the internet asks to call a server on this machine.
  if (request.headers.has('access-control-request-private-network')) {
    response.headers['access-control-allow-private-network'] = 'true';
  }
  response.headers['access-control-max-age'] = '600';
  return response;
}

/** Lets pages of an allowed origin read the response and, unless switched off, our headers. */
export function addCorsHeaders(headers: PlainResponse['headers'], origin: string | null, cors: Cors): void {
  if (cors === undefined || origin === null || !addOrigin(headers, origin, cors)) return;
  if (cors.exposeHeaders) headers['access-control-expose-headers'] = EXPOSED;
}

function isRenamed(headers: Headers, address: string | undefined): boolean {
  const host = headers.get('host');
  if (address === undefined || host === null) return false;
  return isLoopback(address) ? !isLoopback(host) : isBrowser(headers) && isPublicName(host);
}

function addOrigin(headers: PlainResponse['headers'], origin: string, cors: NonNullable<Cors>): boolean {
  if (cors.origins === '*') {
    headers['access-control-allow-origin'] = '*';
    return true;
  }
  headers.vary = 'Origin';
  if (cors.origins === 'loopback' ? !isLoopbackOrigin(origin) : !cors.origins.includes(origin)) return false;
  headers['access-control-allow-origin'] = origin;
  return true;
}

/** Browsers send no Sec-Fetch-Site over plain HTTP, hence the user agent. */
function isBrowser(headers: Headers): boolean {
  return headers.has('sec-fetch-site') || (headers.get('user-agent') ?? '').startsWith('Mozilla/');
}

/**
 * A name that anyone can register: not an address, a single word as in a compose file, or a name of a private network.
 */
function isPublicName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/\.$/, '');
  return /\.[a-z][a-z0-9-]*$/i.test(name) && !/\.(?:internal|local|localhost)$/i.test(name);
}

function isLoopbackOrigin(origin: string): boolean {
  return isLoopback(origin.replace(/^https?:\/\//i, ''));
}

const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, x-request-id, Date';
