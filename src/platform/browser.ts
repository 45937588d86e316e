import { ConfigurationError } from '../errors/base.js';
import type { Engine, EngineOptions, OutgoingRequest } from './engine.js';
import { FetchEngine, type FetchRules } from './fetch.js';

// As it is: a page with a strict content security policy allows no generated code.
export { validate as matches } from '#zod';
export { isBrowser } from './environment.js';
export { formData as createForm } from './upload/form-data.js';

/** How a page sends: with nothing of its own but what the request says, and to nowhere else. */
export const PAGE: FetchRules = {
  init: ({ method, headers, body }) => ({
    method,
    headers,
    body: (typeof body === 'object' ? body.takeWhole() : body) ?? null,
    mode: 'cors',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
    redirect: 'error', // a browser shows a 3xx to no page
  }),
  explain: whyInPage,
};

/** In a page, requests leave through `fetch`. */
export function createEngine({ fetch, dispatcher }: EngineOptions, rules = PAGE): Engine {
  if (dispatcher === undefined) return new FetchEngine(fetch, rules);
  throw new ConfigurationError('dispatcher works on Node only. Pass your own fetch instead.');
}

/** The system's codes for a failure stay with the system: a page is not told what it was. */
export const wasClosed = (_failure: unknown): boolean => false;
export const isUnknownHost = (_failure: unknown): boolean => false;

/** A page has no environment. */
export const readEnvironment = (): undefined => undefined;

/** The likely cause of a failed request: a browser tells its console the reason, and the page nothing. */
function whyInPage(error: unknown, { origin, headers }: OutgoingRequest): string | undefined {
  if ((error as Partial<Error> | undefined)?.name !== 'TypeError') return undefined; // its network errors are these
  const { navigator, location } = globalThis;
  if (navigator?.onLine === false) return 'the browser is offline';
  if (location === undefined) return undefined;
  if (location.origin === origin)
    return "the page's own server did not respond, or redirected; see the browser's console";
  const names = Object.keys(headers).filter((name) => name !== 'accept'); // which every page may send
  return (
    `the service does not run, or CORS blocks this page; see the browser's console. The service must respond to the preflight (OPTIONS) and ` +
    `allow the origin ${location.origin} and the headers ${names.join(', ')}`
  );
}
