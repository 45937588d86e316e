import { ContextGatewayError } from '../errors/base.js';
import { APIConnectionError } from '../errors/connection.js';
import { RequestValidationError } from '../errors/validation.js';
import type { OutgoingRequest, Progress } from './engine.js';

/** What the code of a failure says: how far the request had come, what to tell people, and whether another try may help. */
export interface Meaning {
  readonly reached: Progress;
  readonly what: string | undefined;
  readonly retryable: boolean;
}

/** What a request says of itself to the error it ends with. */
export interface FailedRequest extends Pick<OutgoingRequest, 'origin' | 'clean'> {
  /** What the codes of the platform's failures say, where they have any. */
  readonly meaningOf?: ((code: string, progress: Progress) => Meaning) | undefined;
  /** Whether a failure's code may tell that nothing was sent: of a `fetch` that sends once, whose progress is not seen. */
  readonly sendsOnce?: boolean | undefined;
  /** What it means where the platform gives no code for it. */
  readonly unexplained?: string | undefined;
}

/** What a code looks like. Anything else that stands in its place may be anything, also a secret. */
const CODE = /^(?!svc_)[\w.-]{1,64}$/;

/**
 * A foreign failure as an `APIConnectionError`: what happened and how far the request had come, with the failure as its cause. An
 * error of ours inside it (of an upload whose source failed, say) comes out as it is; one of another call, which a given `fetch`
 * may have made, says nothing about this one.
 */
export function connectionError(failure: unknown, progress: Progress, request?: FailedRequest): ContextGatewayError {
  const chain = causesOf(failure);
  const last = chain.at(-1);
  if (last instanceof ContextGatewayError && (request === undefined || isOfThisCall(last))) return last;
  const code = chain.map(codeOf).find((found) => found !== undefined && (request?.clean(found) ?? found) === found);
  const meaning = code === undefined ? undefined : request?.meaningOf?.(code, progress);
  const what = meaning?.what ?? (code === undefined ? request?.unexplained : undefined) ?? 'the connection failed';
  const from = request === undefined ? '' : ` from ${request.origin}`;
  const message = `No usable response${from}: ${what}${code === undefined ? '' : ` (${code})`}.`;
  const reached = meaning?.reached ?? progress;
  // A network that goes away breaks live connections with the codes of those that never came about.
  const mayBeOpen = !request?.sendsOnce || chain.some(({ syscall }) => /^(read|write)/.test(String(syscall)));
  return new APIConnectionError(message, {
    ...(reached.sent === 'no' && mayBeOpen ? progress : reached),
    cause: causeOf(failure, chain, code, request),
    retryable: meaning?.retryable ?? true,
  });
}

/** Only when a call is over, its attempts are written on its error. And here it is too late to say that nothing was sent. */
function isOfThisCall(error: ContextGatewayError): boolean {
  return error.attempts.length === 0 && !(error instanceof RequestValidationError);
}

/** The system's own name for what went wrong: `ECONNRESET`. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof ContextGatewayError) return undefined; // of an APIError it is the service's
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && CODE.test(code)) return code;
  // undici knows its parser's code and leaves it out; a Blob that cannot be read has none.
  return name === 'HTTPParserError' || name === 'NotReadableError' ? name : undefined;
}

type Failure = Error & { readonly syscall?: unknown };

/** The code of a failure, or of what caused it. */
export function codeIn(failure: unknown): string | undefined {
  return causesOf(failure)
    .map(codeOf)
    .find((code) => code !== undefined);
}

/** Structural: test runners give the platform's errors another `Error` than ours. */
function isError(value: unknown): value is Failure {
  const error = value as Partial<Error> | null | undefined;
  return typeof error?.message === 'string' && typeof error.name === 'string';
}

function causesOf(failure: unknown): Failure[] {
  const chain: Failure[] = [];
  try {
    for (let error = failure; isError(error) && chain.length < 5; error = error.cause) {
      chain.push(error);
      if (error instanceof ContextGatewayError) break; // its own causes may be another request's
    }
  } catch {
    // What cannot be read tells nothing.
  }
  return chain;
}

/**
 * The failure as it came, where all that it holds is seen to be harmless: plain values that do not repeat the credential. Any other
 * is copied: name, words, code, stack.
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
    return undefined; // what cannot be read cannot be printed either
  }
}

/** Of a class of the platform or undici, which print nothing of their own; every field, hidden ones too, a plain value. */
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
