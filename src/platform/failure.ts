import { APIConnectionError, ContextGatewayError, RequestValidationError } from '../errors.js';
import type { Meaning } from './codes.js';
import type { OutgoingRequest, Progress } from './engine.js';

/** What a request says of itself to the error it ends with. */
export interface FailedRequest extends Pick<OutgoingRequest, 'origin' | 'harmless'> {
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
 * A foreign failure as an `APIConnectionError`: what happened and how far the request had come, with the failure's own words
 * and stack as its cause, where they are harmless. An error of ours inside it (of an upload whose source failed, say) comes out as it is;
 * one of another call, which a given `fetch` may have made, says nothing about this one.
 */
export function connectionError(failure: unknown, progress: Progress, request?: FailedRequest): ContextGatewayError {
  const chain = causesOf(failure);
  const last = chain.at(-1);
  if (last instanceof ContextGatewayError && (request === undefined || isOfThisCall(last))) return last;
  const code = chain
    .map(codeOf)
    .find((found) => found !== undefined && (request === undefined || request.harmless(found) !== undefined));
  const meaning = code === undefined ? undefined : request?.meaningOf?.(code, progress);
  const what = meaning?.what ?? (code === undefined ? request?.unexplained : undefined) ?? 'the connection failed';
  const from = request === undefined ? '' : ` from ${request.origin}`;
  const message = `No usable answer${from}: ${what}${code === undefined ? '' : ` (${code})`}.`;
  const reached = meaning?.reached ?? progress;
  // A network that goes away breaks live connections with the codes of those that never came about.
  const mayBeOpen = !request?.sendsOnce || chain.some(({ syscall }) => /^(read|write)/.test(String(syscall)));
  return new APIConnectionError(message, {
    ...(reached.sent === 'no' && mayBeOpen ? progress : reached),
    cause: bareCause(chain, code, request),
    retryable: meaning?.retryable ?? true,
  });
}

/** Only when a call is over, its attempts are written on its error. And here it is too late to say that nothing was sent. */
function isOfThisCall(error: ContextGatewayError): boolean {
  return error.attempts.length === 0 && !(error instanceof RequestValidationError);
}

/** The system's own name for what went wrong: `ECONNRESET`. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof ContextGatewayError) return undefined; // of an APIError it is the service's
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && CODE.test(code)) return code;
  // undici knows its parser's code and leaves it out; a Blob that cannot be read has none.
  return name === 'HTTPParserError' || name === 'NotReadableError' ? name : undefined;
}

type Failure = Pick<Error, 'name' | 'message'> & {
  readonly stack?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
};

/** Structural: test runners give the platform's errors another `Error` than ours. */
function isError(value: unknown): value is Failure & { cause?: unknown } {
  const error = value as Partial<Error> | null | undefined;
  return typeof error?.message === 'string' && typeof error.name === 'string';
}

function causesOf(failure: unknown): Failure[] {
  const chain: Failure[] = [];
  try {
    for (let error = failure; isError(error) && chain.length < 5; error = error.cause) {
      // Copied at once: the fields of somebody's error may be functions that fail.
      const { name, message, stack, code, syscall } = error;
      if (error instanceof ContextGatewayError) return [...chain, error]; // its own causes may be another request's
      chain.push({ name, message, stack, code, syscall });
    }
  } catch {
    // What cannot be read tells nothing.
  }
  return chain;
}

/** Not the failure itself: the platform's own errors may quote header values, or hold the whole request. */
function bareCause(chain: Failure[], code: string | undefined, request: FailedRequest | undefined): Error | undefined {
  const [failure] = chain;
  if (failure === undefined) return undefined;
  const name = CODE.test(failure.name) ? failure.name : 'Error';
  const said = request?.harmless([...new Set(chain.map(({ message }) => message).filter(Boolean))].join(': '));
  const cause = Object.assign(new Error(said || code || name), code !== undefined && { code });
  if (name !== 'Error') cause.name = name;
  // Only the places in it: most engines begin a stack with the message.
  const places =
    String(failure.stack)
      .replace(failure.message, '')
      .match(/^ +at .*|^.*@.*:\d+:\d+$/gm) ?? [];
  const shown = places.join('\n').slice(0, 2_000);
  if (shown !== '' && request?.harmless(shown) !== undefined) cause.stack = `${name}: ${cause.message}\n${shown}`;
  return cause;
}
