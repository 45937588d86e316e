import type { ZodMiniType } from 'zod/mini';
import { ConfigurationError } from '../errors/base.js';
import type { Engine, EngineOptions, OutgoingRequest } from './engine.js';
import { isBrowser } from './environment.js';
import { type FetchRules, fetchEngine, noStore } from './fetch.js';

export { formData as createForm } from './upload/form-data.js';
export { isBrowser };

/** In a page: no cookies, no cache, no redirects. A browser hides a 3xx from pages. */
const PAGE_INIT = {
  mode: 'cors',
  credentials: 'omit',
  referrerPolicy: 'no-referrer',
  cache: 'no-store',
  redirect: 'error',
} as const;

/** How a page sends. A bundle for browsers may also run in a server's worker, whose `fetch` rejects these options. */
export const PAGE: FetchRules = {
  requestInit: ({ method, headers, body }) => ({
    method,
    headers,
    body: (typeof body === 'object' ? body.asBlob() : body) ?? null,
    ...(isBrowser() ? PAGE_INIT : { redirect: 'manual', ...noStore() }),
  }),
  explain: whyInPage,
};

/**
 * A page always looks for issues. It has no faster check: a strict content security policy forbids compiled schemas, and
 * the page's own zod may be older than 4.6, which added `validate`.
 */
export const matches = (_schema: ZodMiniType, _value: unknown): boolean => false;

/** Sends requests from a page with `fetch`. */
export function createEngine({ fetch, dispatcher }: EngineOptions, rules = PAGE): Engine {
  if (dispatcher === undefined) return fetchEngine(fetch, rules);
  throw new ConfigurationError('dispatcher works on Node only. Pass your own fetch instead.');
}

/** The names of other clients would make every page larger. */
export const adviceFor = (_name: string): string | undefined => undefined;

/** A browser decodes what it accepts, and shows no redirect to a page. */
export const stillEncoded = (_text: string, _headers: unknown): string | undefined => undefined;
export const redirectTarget = (_head: unknown): string | undefined => undefined;

/** A page has no environment variables, and browsers send their own user agent. */
export const readEnvironment = (): undefined => undefined;
export const environmentListener = (): undefined => undefined;
export const userAgent = (): undefined => undefined;

/** The likely cause of a failed request. A browser shows the reason in its console, but not to the page. */
function whyInPage(error: unknown, { origin, headers }: OutgoingRequest): string | undefined {
  if ((error as Partial<Error> | undefined)?.name !== 'TypeError') return undefined; // the type of network errors in browsers
  const { navigator, location } = globalThis;
  if (navigator?.onLine === false) return 'the browser is offline';
  if (location === undefined) return undefined;
  if (location.origin === origin)
    return "the page's own server did not respond, or redirected; see the browser's console";
  const names = Object.keys(headers).filter((name) => name !== 'accept'); // needs no preflight
  return (
    "the service is not running, or something blocks the request: CORS, this page's content security policy (connect-src), a redirect, an " +
    "extension, or a proxy's error page; see the browser's console. For CORS, the service must respond to the preflight (OPTIONS) and " +
    `allow the origin ${location.origin} and the headers ${names.join(', ')}`
  );
}
