import { APICallError } from '@ai-sdk/provider';
import { APIConnectionError, APIError, type GatewayClient } from '../index.js';

/** Only the path, because the client does not expose its address. */
const PATH = '/v1/chat/completions';

/** The AI SDK ignores a wait of this many milliseconds or more, and sends the request after a short backoff instead. */
const IGNORED_WAIT = 60_000;

/**
 * Converts an error to an `APICallError` with the original as its `cause`. Aborts and invalid arguments are returned
 * unchanged. The AI SDK sends the request again if `isRetryable` is true, so it is true only if the service provably
 * did nothing, and the wait that it asks for will be kept.
 */
export function toApiCallError(
  error: unknown,
  requestBodyValues: unknown,
  { maxRetryAfter }: Pick<GatewayClient, 'maxRetryAfter'>,
): unknown {
  if (!APIError.is(error) && !APIConnectionError.is(error)) return error;
  const { message, retryable, sent } = error;
  const response = APIError.is(error) ? responseOf(error) : undefined;
  const isRetryable = retryable && sent === 'no' && (!APIError.is(error) || keepsWait(error, maxRetryAfter));
  return withoutContent(
    new APICallError({ message, url: PATH, requestBodyValues, ...response, isRetryable, cause: error }),
  );
}

/** The parts of an `APICallError` that come from the service. */
function responseOf(error: APIError) {
  const { status, message, type, code, param } = error;
  // The error's own fields and not its body, in which the service may repeat the key. The body is `cause.body`.
  const data = { error: { message, type, code, param } };
  return { statusCode: status, responseHeaders: headersOf(error), responseBody: JSON.stringify(data), data };
}

/** Whether the AI SDK sends the request again after the wait that the service asks for, and not before. */
function keepsWait({ attempts, retryAfter = 0 }: APIError, maxRetryAfter: number): boolean {
  // Without an attempt, the error is the client's own: the wait in its queue would be too long.
  return attempts.length > 0 && retryAfter <= maxRetryAfter && waitInSeconds(retryAfter) * 1_000 < IGNORED_WAIT;
}

/** Adds `retry-after`: the Gateway sends the wait in the body, but the AI SDK reads it from the headers only. */
function headersOf({ headers, retryAfter }: APIError): Record<string, string> {
  const given = Object.fromEntries(headers);
  if (retryAfter === undefined) return given;
  delete given['retry-after-ms']; // the AI SDK would prefer it
  return { ...given, 'retry-after': String(waitInSeconds(retryAfter)) };
}

function waitInSeconds(retryAfter: number): number {
  return Math.ceil(retryAfter / 1_000);
}

/** Makes fields non-enumerable, so that a logged error contains no text of users. */
function withoutContent(error: APICallError): APICallError {
  for (const field of ['requestBodyValues', 'responseHeaders', 'responseBody', 'data'])
    Object.defineProperty(error, field, { enumerable: false });
  return error;
}
