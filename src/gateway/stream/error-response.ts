import { describeIssues } from '../../base/issues.js';
import { APIError, wordsOf } from '../../errors/api.js';
import { APIAbortError, APIConnectionError, APITimeoutError } from '../../errors/connection.js';
import { StreamTruncatedError } from '../../errors/stream.js';
import { RequestValidationError, ResponseValidationError } from '../../errors/validation.js';

/**
 * Creates the `Response` that a relay sends to its page when a call fails before the stream begins. On the page,
 * `readChatCompletionStream(response)` throws it as a typed error again, with `type`, `code`, `param` and `retryAfter`.
 *
 * Errors about the request keep the service's status and message (400, 404, 429, 503 and the like). Problems of your
 * own server are hidden: a rejected key (401, 403) and unknown errors become a 500, an unreachable service or an
 * unusable response a 502, a timeout a 504. An aborted call becomes a 499; its page has usually gone.
 */
export function toErrorResponse(error: unknown): Response {
  const { status, body = { message: defaultMessage(status), type: 'server_error' } } = visibleError(error);
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  if (body.retry_after !== undefined) headers.set('retry-after', String(body.retry_after));
  return new Response(JSON.stringify({ error: body }), { status, headers });
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

/** Used by `toErrorResponse`, and for the error events of a relayed stream. */
export function visibleError(error: unknown): VisibleError {
  if (APIError.is(error)) return ofService(error);
  if (RequestValidationError.is(error)) return ofArguments(error);
  if (APIAbortError.is(error))
    return { status: (error.cause as Error | undefined)?.name === 'TimeoutError' ? 504 : 499 };
  if (APITimeoutError.is(error)) return { status: 504 };
  const unusable = [APIConnectionError, ResponseValidationError, StreamTruncatedError].some((one) => one.is(error));
  return { status: unusable ? 502 : 500 };
}

/** Statuses about the server's key or account. */
const OF_ACCOUNT = [401, 402, 403, 407];
const OF_SERVER = /auth|permission|forbidden|api_?key|billing|quota|credit|account|internal|server_error/i;

function ofService(error: APIError): VisibleError {
  const { status, type, param, code, retryAfter } = error;
  if (OF_ACCOUNT.includes(status) || (status >= 300 && status < 400)) return { status: 500 }; // a redirect means that baseURL is wrong
  if (status >= 500 && status !== 503) return { status: status < 600 ? status : 502 };
  // The service may report problems of the server with another status, or inside a successful response.
  if (OF_SERVER.test(`${type} ${code}`)) return { status: 500 };
  const sentStatus = status < 300 ? 502 : status; // an error inside a success has no status of its own
  const retry_after = retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1_000);
  return {
    status: sentStatus,
    body: { message: wordsOf(error) ?? defaultMessage(sentStatus), type, param, code, retry_after },
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
