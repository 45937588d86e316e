import { DEFAULT_CODES, defaultCode, type ErrorData, type HasErrorData } from '../base/error-data.js';
import { describeIssues } from '../base/issues.js';
import { isTooLong } from '../base/too-long.js';
import { APIError } from './api.js';
import { ContextGatewayError } from './base.js';
import { APIAbortError, APIConnectionError, APITimeoutError, ClientClosedError } from './connection.js';
import { StreamTruncatedError } from './stream.js';
import { RequestValidationError, ResponseValidationError } from './validation.js';

const MAX_CAUSES = 5;
/** Statuses about the request of the visitor, whose messages are for them, or about the load of the service. */
const OF_REQUEST = [400, 404, 409, 413, 422, 429, 503];
/** Statuses about the server's key or account. */
const OF_ACCOUNT = [401, 402, 403, 407];
const OF_SERVER = /auth|permission|forbidden|api_?key|billing|quota|credit|account|internal|server_error/i;
/** The Context API's credential is the visitor's own session. */
const SESSION_EXPIRED = { message: 'Your session has expired. Sign in again.', code: 'session_expired' };
const NOT_ALLOWED = { message: 'You have no access to this conversation.', code: 'permission_denied' };

/**
 * Creates the `Response` that your server sends to its page when a call fails before the stream begins. On the page,
 * `readChatCompletionStream(response)` throws it as a typed error again, with `type`, `code`, `param` and `retryAfter`.
 * Status and message are those of `toErrorData`.
 *
 * @example
 * ```ts
 * import { toErrorResponse } from 'context-gateway';
 * try {
 *   await gateway.presets.execute('no-such-preset', { input: 'Hello', model: 'atlas-small' });
 * } catch (error) {
 *   const response = toErrorResponse(error);
 *   console.log(response.status, (await response.json()).error.message);
 * }
 * ```
 */
export function toErrorResponse(error: unknown): Response {
  const { status, body: visible = { message: defaultMessage(status), type: 'server_error' } } = visibleError(error);
  // So that the page reads the same code as `toErrorData` returns: `timeout`, not `server_error`.
  const needsCode = visible.type === undefined || visible.type === 'server_error';
  const body = needsCode ? { ...visible, code: visible.code ?? DEFAULT_CODES[status] } : visible;
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  if (body.retry_after !== undefined) headers.set('retry-after', String(body.retry_after));
  return new Response(JSON.stringify({ error: body }), { status, headers });
}

/**
 * Describes an error for a visitor of your app: `{ status, code, message, retryAfter }`. Also finds the error inside
 * others, such as the AI SDK's `APICallError` and `RetryError`, and accepts any other value.
 *
 * Errors about the request keep the service's status and message; other statuses of the service keep only the status.
 * Problems of your own server are hidden: a rejected key and unknown errors become a 500, an unreachable service or an
 * unusable response a 502, a timeout a 504.
 *
 * @example
 * ```ts
 * import { toErrorData } from 'context-gateway';
 * try {
 *   await gateway.presets.execute('no-such-preset', { input: 'Hello', model: 'atlas-small' });
 * } catch (error) {
 *   console.log(toErrorData(error));
 * }
 * ```
 */
export function toErrorData(error: unknown): ErrorData {
  const { status, body } = visibleError(error);
  const { message = defaultMessage(status), code, type, retry_after } = body ?? {};
  return {
    status,
    code: code ?? type ?? defaultCode(status),
    message,
    ...(retry_after !== undefined && { retryAfter: retry_after * 1_000 }),
  };
}

/** The part of an error that a visitor may see. */
interface VisibleError {
  readonly status: number;
  /** An error in the Gateway's form; `undefined` for a problem of the server. */
  readonly body?: {
    readonly message: string;
    readonly type?: string | undefined;
    readonly param?: string | undefined;
    readonly code?: string | undefined;
    /** Seconds. */
    readonly retry_after?: number | undefined;
  };
}

/** Used by `toErrorResponse` and `toErrorData`, and for the error events of a relayed stream. */
export function visibleError(thrown: unknown): VisibleError {
  const error = ownError(thrown);
  if (hasErrorData(error)) {
    const { status, message, code } = error.errorData;
    return { status, body: { message, code } };
  }
  if (APIError.is(error)) return ofService(error);
  if (RequestValidationError.is(error)) return ofArguments(error);
  if (ClientClosedError.is(error)) return { status: 503, body: CLOSING };
  if (APIAbortError.is(error))
    return { status: (error.cause as Error | undefined)?.name === 'TimeoutError' ? 504 : 499 };
  if (APITimeoutError.is(error)) return { status: 504 };
  const unusable = [APIConnectionError, ResponseValidationError, StreamTruncatedError].some((one) => one.is(error));
  return { status: unusable ? 502 : 500 };
}

/** For a visitor whose reply was cut by the end of a server. */
const CLOSING = { message: 'The server is being restarted. Try again in a moment.', code: 'server_closing' };

function hasErrorData(error: unknown): error is HasErrorData {
  return ContextGatewayError.is(error) && 'errorData' in error;
}

/** The error of this package in a chain of others: `cause`, or `lastError` of the AI SDK's `RetryError`. */
function ownError(thrown: unknown): unknown {
  let error = thrown;
  try {
    for (let depth = 0; depth < MAX_CAUSES && error instanceof Error && !ContextGatewayError.is(error); depth += 1)
      error = (error as { lastError?: unknown }).lastError ?? error.cause;
  } catch {
    return undefined; // its fields cannot be read
  }
  return error;
}

function ofService(error: APIError): VisibleError {
  const { status, type, param, code, retryAfter } = error;
  if (error.area === 'context' && status === 401) return { status, body: SESSION_EXPIRED };
  if (error.area === 'context' && status === 403) return { status, body: NOT_ALLOWED };
  if (OF_ACCOUNT.includes(status) || (status >= 300 && status < 400)) return { status: 500 }; // a redirect means that baseURL is wrong
  if (status >= 500 && status !== 503) return { status: status < 600 ? status : 502 };
  // The service may report problems of the server with another status, or inside a successful response.
  if (OF_SERVER.test(`${type} ${code}`)) return { status: 500 };
  const sentStatus = isTooLong(error) ? 413 : status < 300 ? 502 : status; // an error inside a success has no status of its own
  const retry_after = retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1_000);
  if (status >= 300 && !OF_REQUEST.includes(status))
    return { status, body: { message: defaultMessage(status), type: 'invalid_request_error', retry_after } };
  return {
    status: sentStatus,
    body: { message: APIError.serviceMessageOf(error) ?? defaultMessage(sentStatus), type, param, code, retry_after },
  };
}

/** The visitor's input is invalid, unless the issue is an option, which the server's code has set. */
function ofArguments({ issues }: RequestValidationError): VisibleError {
  const param = issues[0]?.path[0];
  if (param === undefined || param === 'options' || param === 'headers') return { status: 500 };
  return {
    status: 400,
    body: { message: describeIssues(issues), type: 'invalid_request_error', param: String(param) },
  };
}

function defaultMessage(status: number): string {
  return (
    DEFAULT_MESSAGES[status] ??
    (status < 500 ? 'The service rejected the request.' : 'The service sent no usable response.')
  );
}

const DEFAULT_MESSAGES: Readonly<Record<number, string>> = {
  429: 'Too many requests.',
  499: 'The request was aborted.',
  500: 'The server could not handle the request.',
  503: 'The service is temporarily unavailable.',
  504: 'The service did not respond in time.',
};
