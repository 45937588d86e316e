import { isBrowser } from '#platform';
import { ConfigurationError } from '../errors/base.js';
import { badArgument } from '../errors/validation.js';

/** Headers that carry the credential, or frame the message and are set by the engine. */
const RESERVED = new Set([
  ...['authorization', 'proxy-authorization', 'host', 'content-length', 'content-type', 'transfer-encoding'],
  ...['connection', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect', 'cookie'],
]);
/** The reserved headers that may carry a credential. */
export const FOR_CREDENTIALS = ['authorization', 'cookie'];
/** Any HTTP token except `__proto__`, which would set the prototype of an object. */
const HEADER_NAME = /^(?!__proto__$)[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** What browsers forbid pages to set (Fetch standard, "forbidden request-header"), beside the reserved ones. */
const FORBIDDEN =
  /^(accept-(charset|encoding)|access-control-request-.*|cookie2?|date|dnt|origin|referer|set-cookie|via|(proxy|sec)-.*)$/;
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/**
 * Checks the user's headers, and adds them in lower case. `null` removes one that would be sent otherwise. An error names the
 * header, never its value.
 */
export function addHeaders(
  headers: Record<string, string>,
  given: Headers | Readonly<Record<string, string | null | undefined>> | undefined,
  credentialHeader: string,
): void {
  const names = new Set<string>();
  for (const [key, value] of headerEntries(given ?? {})) {
    if (value === undefined) continue;
    const name = key.toLowerCase();
    const problem = names.has(name) ? 'is set twice' : findBadHeader(name, value, credentialHeader);
    if (problem !== undefined) throw badArgument(['headers', key], problem);
    names.add(name);
    if (value === null) delete headers[name];
    else headers[name] = value;
  }
}

/** Rejects anything else, such as an array of pairs: `Object.entries` would silently lose their headers. */
function headerEntries(given: object): Iterable<[string, string | null | undefined]> {
  const kind = Object.prototype.toString.call(given);
  if (kind === '[object Headers]') return given as Headers; // of any realm or library
  if (kind === '[object Object]') return Object.entries(given);
  throw badArgument(['headers'], 'must be a plain object or a Headers');
}

function findBadHeader(name: string, value: unknown, credentialHeader: string): string | undefined {
  if (!HEADER_NAME.test(name)) return 'is not a valid header name';
  if (name === credentialHeader)
    return 'is the header of the credential; pass the credential to the constructor instead';
  if (RESERVED.has(name)) return 'is set by the client itself';
  if (value === null) return undefined;
  if (isForbidden(name)) return 'is forbidden in browsers';
  if (typeof value !== 'string' || !HEADER_VALUE.test(value)) return 'must be a string of printable Latin-1 characters';
  return undefined;
}

/** Checks the name of a header for a credential or an idempotency key. `also` lists reserved names that are allowed. */
export function checkHeaderName(name: unknown, option: string, also: readonly string[] = []): string {
  const lower = typeof name === 'string' ? name.toLowerCase() : '';
  const taken = (RESERVED.has(lower) && !also.includes(lower)) || lower === 'accept' || isForbidden(lower);
  if (!HEADER_NAME.test(lower) || taken) {
    throw new ConfigurationError(
      `${option} must be a valid header name that the client does not use or a browser forbids, such as 'X-Session-Token'.`,
    );
  }
  return lower;
}

/** Whether a header carries the credential, or frames the message. */
export function isSetByClient(name: string): boolean {
  return RESERVED.has(name);
}

function isForbidden(name: string): boolean {
  return FORBIDDEN.test(name) && isBrowser();
}
