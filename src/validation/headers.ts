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
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Checks the user's headers and converts their names to lower case. An error names the header, never its value. */
export function checkHeaders(
  given: Readonly<Record<string, string | undefined>> | undefined,
  credentialHeader: string,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (given === undefined) return headers;
  for (const [key, value] of headerEntries(given)) {
    if (value === undefined) continue;
    const name = key.toLowerCase();
    const problem = Object.hasOwn(headers, name) ? 'is set twice' : findBadHeader(name, value, credentialHeader);
    if (problem !== undefined) throw badArgument(['headers', key], problem);
    headers[name] = value;
  }
  return headers;
}

/** Rejects a `Headers` or an array of pairs: `Object.entries` would silently lose their headers. */
function headerEntries(given: object): [string, string | undefined][] {
  if (Object.prototype.toString.call(given) === '[object Object]') return Object.entries(given);
  const message = 'must be a plain object, such as Object.fromEntries(headers)';
  throw badArgument(['headers'], message);
}

function findBadHeader(name: string, value: unknown, credentialHeader: string): string | undefined {
  if (!HEADER_NAME.test(name)) return 'is not a valid header name';
  if (name === credentialHeader)
    return 'is the header of the credential; pass the credential to the constructor instead';
  if (RESERVED.has(name)) return 'is set by the client itself';
  if (typeof value !== 'string' || !HEADER_VALUE.test(value)) return 'must be a string of printable Latin-1 characters';
  return undefined;
}

/** Checks the name of a header for a credential or an idempotency key. `also` lists reserved names that are allowed. */
export function checkHeaderName(name: unknown, option: string, also: readonly string[] = []): string {
  const lower = typeof name === 'string' ? name.toLowerCase() : '';
  const taken = (RESERVED.has(lower) && !also.includes(lower)) || lower === 'accept';
  if (!HEADER_NAME.test(lower) || taken) {
    throw new ConfigurationError(
      `${option} must be a valid header name that the client does not use, such as 'X-Session-Token'.`,
    );
  }
  return lower;
}
