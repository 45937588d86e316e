import { APIConnectionError, ContextGatewayError } from '../errors.js';
import type { OutgoingRequest, Progress } from './engine.js';

/** Failures that happen before the first byte of a request leaves. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused', // Bun
]);

/** Failures that another try does not mend: a certificate that is not trusted, or not for this host. */
const CERTIFICATE =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** Failures that show that an answer came, though none that can be read. */
const ANSWERED = /^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/;

/** What a code looks like. Anything else that stands in its place may be anything, also a secret. */
const CODE = /^(?!svc_)[\w.-]{1,64}$/;

const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; check baseURL',
  ENOTFOUND: 'the host is not known; check baseURL',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while the request was sent',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; a service on this machine may want http: in baseURL',
  UND_ERR_INVALID_ARG: 'the dispatcher does not understand the request; it must be of major version 6, 7 or 8',
  UND_ERR_ABORTED: 'it was given up on the way; a proxy may have refused it',
  UND_ERR_PRX_CONN: 'the proxy refused the connection',
  UND_ERR_SOCKET: 'the other side closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'connecting took longer than 10 s',
  UND_ERR_HEADERS_OVERFLOW: 'its headers are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its body is not as long as it says',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'the file changed its size while it was sent',
};

/** What a request says of itself to the error it ends with. */
export type FailedRequest = Pick<OutgoingRequest, 'origin' | 'mask'>;

/**
 * A foreign failure as an `APIConnectionError`: what happened and how far the request had come, with the failure's own words
 * and stack as its cause, masked. An error of ours inside it (of an upload whose source failed, say) comes out as it is.
 */
export function connectionError(failure: unknown, progress: Progress, request?: FailedRequest): ContextGatewayError {
  const chain = causesOf(failure);
  const ours = chain.find((error) => error instanceof ContextGatewayError);
  if (ours instanceof ContextGatewayError) return ours;
  const code = chain.map(codeOf).find((found) => found !== undefined);
  const untrusted = code !== undefined && CERTIFICATE.test(code);
  const what =
    (code !== undefined && EXPLAINED[code]) ||
    (code !== undefined && ANSWERED.test(code) && 'it is not HTTP, or not as it has to be') ||
    (untrusted && 'its certificate is not trusted') ||
    'the connection failed';
  const message = `No usable answer${request === undefined ? '' : ` from ${request.origin}`}: ${what}${code === undefined ? '' : ` (${code})`}.`;
  // A network that goes away breaks live connections with the codes of those that never came about.
  const wasOpen = chain.some(({ syscall }) => /^(read|write)/.test(String(syscall)));
  const reached = code === undefined || wasOpen ? progress : progressAt(code, untrusted, progress);
  return new APIConnectionError(message, {
    ...reached,
    cause: maskedCause(chain, code, request?.mask),
    retryable: !untrusted,
  });
}

/** The code of a failure tells more than the engine knows, where that is `fetch`. */
function progressAt(code: string, untrusted: boolean, progress: Progress): Progress {
  if (progress.sent === 'yes') return progress;
  if (untrusted || BEFORE_SENDING.has(code)) return { phase: 'connect', sent: 'no' };
  // What a proxy answers before the request has left is no answer to it.
  return ANSWERED.test(code) && progress.sent !== 'no' ? { phase: 'headers', sent: 'yes' } : progress;
}

/** The system's own name for what went wrong: `ECONNRESET`. */
export function codeOf(error: unknown): string | undefined {
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && CODE.test(code)) return code;
  return name === 'HTTPParserError' ? name : undefined; // undici knows its parser's code and leaves it out
}

type Failure = Error & { readonly syscall?: unknown };

/** Structural: test runners give the platform's errors another `Error` than ours. */
function isError(value: unknown): value is Failure {
  const error = value as Partial<Error> | null | undefined;
  return typeof error?.message === 'string' && typeof error.name === 'string';
}

function causesOf(failure: unknown): Failure[] {
  const chain: Failure[] = [];
  for (let error = failure; isError(error) && chain.length < 5; error = error.cause) chain.push(error);
  return chain;
}

/** Not the failure itself: the platform's own errors may quote header values, or hold the whole request. */
function maskedCause(
  chain: Failure[],
  code: string | undefined,
  mask: ((text: string) => string) | undefined,
): Error | undefined {
  const [failure] = chain;
  if (failure === undefined) return undefined;
  const name = CODE.test(failure.name) ? failure.name : 'Error';
  const said = mask?.([...new Set(chain.map(({ message }) => message).filter(Boolean))].join(': '));
  const cause = Object.assign(new Error(said || code || name), code !== undefined && { code });
  if (name !== 'Error') cause.name = name;
  // Only the places in it: most engines begin a stack with the message.
  const places = String(failure.stack)
    .replace(failure.message, '')
    .match(/^ +at .*|^.*@.*:\d+:\d+$/gm);
  if (mask !== undefined && places !== null)
    cause.stack = [`${name}: ${cause.message}`, ...places.map((place) => mask(place))].join('\n');
  return cause;
}
