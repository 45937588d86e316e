import { ContextGatewayError } from '../errors/base.js';
import { APIAbortError, APIConnectionError } from '../errors/connection.js';
import { RequestValidationError } from '../errors/validation.js';
import type { OutgoingRequest, Progress } from './engine.js';

/** The meaning of an error code: how far the request got, the explanation, and whether a retry may help. */
export interface Meaning {
  readonly reached: Progress;
  readonly what: string | undefined;
  readonly retryable: boolean;
}

/** The facts of a request for its error. */
export interface FailedRequest extends Pick<OutgoingRequest, 'origin' | 'clean'> {
  /** Explains the error codes of the platform, if it has any. */
  readonly meaningOf?: ((code: string, progress: Progress) => Meaning) | undefined;
  /**
   * Whether an error code may prove that nothing was sent. True for a `fetch` that sends once, whose progress is
   * unknown.
   */
  readonly sendsOnce?: boolean | undefined;
  /** The explanation if the platform has no error code. */
  readonly unexplained?: string | undefined;
}

/** The form of an error code. Any other value may contain a secret. */
const CODE = /^(?!svc_)[\w.-]{1,64}$/;

/**
 * Converts a foreign error to an `APIConnectionError`, with the original as its cause. An error of this package inside
 * it, such as that of a failed upload source, is returned unchanged, unless it belongs to another call, which a given
 * `fetch` may have made.
 */
export function connectionError(failure: unknown, progress: Progress, request?: FailedRequest): ContextGatewayError {
  const chain = causesOf(failure);
  // A relayed stream, whose `fetch` the page itself has aborted.
  if (request === undefined && chain[0]?.name === 'AbortError') return new APIAbortError({ cause: failure });
  const last = chain.at(-1);
  if (last instanceof ContextGatewayError && (request === undefined || isOfThisCall(last))) return last;
  const code = chain.map(codeOf).find((found) => found !== undefined && (request?.clean(found) ?? found) === found);
  const meaning = code === undefined ? undefined : request?.meaningOf?.(code, progress);
  const what = meaning?.what ?? (code === undefined ? request?.unexplained : undefined) ?? 'the connection failed';
  const from = request === undefined ? '' : ` from ${request.origin}`;
  const reached = meaning?.reached ?? progress;
  const lost =
    reached.phase === 'body' || reached.phase === 'stream'
      ? `The response${from} did not arrive in full`
      : `No usable response${from}`;
  const message = `${lost}: ${what}${code === undefined ? '' : ` (${code})`}.`;
  // When the network goes down, open connections fail with the codes of connections that were never opened.
  const mayBeOpen = !request?.sendsOnce || chain.some(({ syscall }) => /^(read|write)/.test(String(syscall)));
  return new APIConnectionError(message, {
    ...(reached.sent === 'no' && mayBeOpen ? progress : reached),
    cause: causeOf(failure, chain, code, request),
    retryable: meaning?.retryable ?? true,
  });
}

/** An error gets its attempts when its call is over. Then it is too late to claim that nothing was sent. */
function isOfThisCall(error: ContextGatewayError): boolean {
  return error.attempts.length === 0 && !(error instanceof RequestValidationError);
}

/** The system's error code, such as `ECONNRESET`. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof ContextGatewayError) return undefined; // the `code` of an APIError is the service's
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && CODE.test(code)) return code;
  // undici omits the code of its parser errors; a Blob that cannot be read has none.
  return name === 'HTTPParserError' || name === 'NotReadableError' ? name : undefined;
}

type Failure = Error & { readonly syscall?: unknown };

/** The code of an error, or of its cause. */
export function codeIn(failure: unknown): string | undefined {
  return causesOf(failure)
    .map(codeOf)
    .find((code) => code !== undefined);
}

/** A structural check: in test runners, platform errors may extend another `Error`. */
function isError(value: unknown): value is Failure {
  const error = value as Partial<Error> | null | undefined;
  return typeof error?.message === 'string' && typeof error.name === 'string';
}

function causesOf(failure: unknown): Failure[] {
  const chain: Failure[] = [];
  try {
    for (let error = failure; isError(error) && chain.length < 5; error = error.cause) {
      chain.push(error);
      if (error instanceof ContextGatewayError) break; // its causes may belong to another request
    }
  } catch {
    // An unreadable field is ignored.
  }
  return chain;
}

/**
 * The original error, if all its fields are plain values without the credential. Any other
 * is copied: name, message, code and stack.
 */
function causeOf(failure: unknown, chain: Failure[], code: string | undefined, request: FailedRequest | undefined) {
  const [first] = chain;
  if (request === undefined || first === undefined) return request === undefined ? failure : undefined;
  const { clean } = request;
  try {
    if (isHarmless(first, clean)) return first;
    const words = clean([...new Set(chain.map(({ message }) => message).filter(Boolean))].join(': '));
    const name = CODE.test(first.name) ? first.name : 'Error';
    const cause = Object.assign(new Error(words || code || name), code !== undefined && { code });
    const places = String(first.stack).match(/^ +at .*|^.*@.*:\d+:\d+$/gm) ?? [];
    return Object.assign(cause, { name, stack: `${name}: ${cause.message}\n${places.map(clean).join('\n')}` });
  } catch {
    return undefined; // a field that cannot be read cannot be printed either
  }
}

/** Whether its class is the platform's or undici's, which print no other fields, and every field is a plain value. */
function isHarmless(error: unknown, clean: (text: string) => string, depth = 0): boolean {
  if (!isError(error) || error instanceof ContextGatewayError || depth > 4) return false;
  for (let proto = Object.getPrototypeOf(error); proto !== null; proto = Object.getPrototypeOf(proto)) {
    if (Object.hasOwn(proto, 'toJSON') || Reflect.ownKeys(proto).some((key) => String(key).includes('inspect')))
      return false;
  }
  return Reflect.ownKeys(error).every((key) => {
    const value = (error as unknown as Record<PropertyKey, unknown>)[key];
    if (key === 'cause') return value === undefined || isHarmless(value, clean, depth + 1);
    return typeof value === 'string' ? !clean(value).includes('***') : Object(value) !== value;
  });
}
