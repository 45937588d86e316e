import type { Settings } from './settings.js';

/** The answer to a browser's question before the real request; undefined when this is not one. */
export function preflightAnswer(request: Request, cors: Settings['cors']): Response | undefined {
  if (cors === undefined || request.method !== 'OPTIONS') return undefined;
  const origin = request.headers.get('origin');
  if (origin === null || !request.headers.has('access-control-request-method')) return undefined;
  const response = new Response(null, { status: 204 });
  if (!addOrigin(response.headers, origin, cors)) return response;
  response.headers.set('access-control-allow-methods', 'GET, POST, PATCH, DELETE');
  const asked = request.headers.get('access-control-request-headers');
  if (asked !== null) response.headers.set('access-control-allow-headers', asked);
  // A page from the network may ask for a service on this machine.
  if (request.headers.has('access-control-request-private-network')) {
    response.headers.set('access-control-allow-private-network', 'true');
  }
  response.headers.set('access-control-max-age', '600');
  return response;
}

/** Lets a page of an allowed origin read the answer and, unless switched off, our headers. */
export function addCorsHeaders(headers: Headers, origin: string | null, cors: Settings['cors']): void {
  if (cors === undefined || origin === null || !addOrigin(headers, origin, cors)) return;
  if (cors.exposeHeaders) headers.set('access-control-expose-headers', EXPOSED);
}

function addOrigin(headers: Headers, origin: string, cors: NonNullable<Settings['cors']>): boolean {
  if (cors.origins === '*') {
    headers.set('access-control-allow-origin', '*');
    return true;
  }
  headers.append('vary', 'Origin');
  if (!cors.origins.includes(origin)) return false;
  headers.set('access-control-allow-origin', origin);
  return true;
}

const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, x-request-id, Date';
