import { ContextGatewayError } from './base.js';
import type { Redactor } from './redactor.js';

/** The form of an error code. Any other value may contain a secret. OpenSSL 3.2 and later write `SSL/TLS` in theirs. */
const CODE = /^(?!svc_)(?:SSL\/TLS|[\w.-]){1,64}$/;

/** The end of a line that names a place in the code, in Firefox and Safari: `send@https://example.com/app.js:10:20`. */
const PLACE = /:\d+:\d+$/;
/** The most lines of a stack, and the most characters of one. A message, which begins a stack, may be of any length. */
const MAX_PLACES = 50;
const MAX_LINE = 1_000;

/** An error of the platform or of a library. It may have any fields. */
export type ForeignError = Error & {
  readonly syscall?: unknown;
  /** Of an address that was looked up, or connected to. */
  readonly hostname?: unknown;
  readonly port?: unknown;
};
const NAMED = new Set(['HTTPParserError', 'NotReadableError', 'NotCapable', 'PermissionDenied']);

/** A foreign error and its causes, at most five. Of several errors, as of a host with several addresses, the first. */
export function causesOf(failure: unknown): ForeignError[] {
  const chain: ForeignError[] = [];
  try {
    for (let error = asError(failure); error !== undefined && chain.length < 5; ) {
      chain.push(error);
      if (error instanceof ContextGatewayError) break; // its causes may belong to another request
      error = asError(error.cause ?? (error as Partial<AggregateError>).errors?.[0]);
    }
  } catch {
    // An unreadable field is ignored.
  }
  return chain;
}

/** The system's code of an error or of its causes, such as `ECONNRESET`. */
export function codeIn(failure: unknown): string | undefined {
  return causesOf(failure)
    .map(codeOf)
    .find((code) => code !== undefined);
}

function codeOf(error: ForeignError): string | undefined {
  if (error instanceof ContextGatewayError) return undefined; // the `code` of an APIError is the service's
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && CODE.test(code)) return code;
  // undici omits the code of its parser errors; a Blob that cannot be read, and Deno without permission, have none.
  return typeof name === 'string' && NAMED.has(name) ? name : undefined;
}

/** A structural check: in test runners, platform errors may extend another `Error`. A thrown text is its own message. */
function asError(value: unknown): ForeignError | undefined {
  const error = typeof value === 'string' ? { message: value } : (value as Partial<Error> | null | undefined);
  return typeof error?.message === 'string' ? (error as ForeignError) : undefined;
}

/** A copy of a foreign error with what is safe to print: its name, message, code and stack. Other fields may hold a request. */
export function safeCause(failure: unknown, redactor: Redactor): Error | undefined {
  const chain = causesOf(failure);
  const [first] = chain;
  if (first === undefined) return undefined;
  try {
    const code = codeIn(first);
    const message = redactor.quote([...new Set(chain.map(({ message }) => message.trim()).filter(Boolean))].join(': '));
    const name = CODE.test(first.name ?? '') ? first.name : 'Error'; // what was thrown may be no error
    const cause: Error & { code?: string } = new Error(message || code || name);
    cause.name = name;
    if (code !== undefined && redactor.mask(code) === code) cause.code = code;
    const places = placesOf(String(first.stack)).map((place) => redactor.mask(place));
    cause.stack = `${name}: ${cause.message}\n${places.join('\n')}`;
    return cause;
  } catch {
    return undefined; // a field that cannot be read cannot be printed either
  }
}

/** The lines of a stack that name a place in the code. */
function placesOf(stack: string): string[] {
  const isPlace = (line: string): boolean =>
    line.length <= MAX_LINE && (/^ +at /.test(line) || (line.includes('@') && PLACE.test(line)));
  return stack.split('\n').filter(isPlace).slice(0, MAX_PLACES);
}
