import { APICallError } from '@ai-sdk/provider';
import { APIConnectionError, APIError } from '../index.js';

/** Only the path, because the client does not expose its address. */
const PATH = '/v1/chat/completions';

/**
 * Converts an error to an `APICallError` with the original as its `cause`. Aborts and invalid arguments are returned unchanged. The
 * client has made all attempts that may help, so the AI SDK makes none: a second owner of retries would multiply them, begin each
 * deadline again, and repeat requests that may be done and billed.
 */
export function toApiCallError(error: unknown, requestBodyValues: unknown): unknown {
  if (!APIError.is(error) && !APIConnectionError.is(error)) return error;
  const { message } = error;
  if (APIConnectionError.is(error)) withoutCode(error.cause);
  const response = APIError.is(error) ? responseOf(error) : undefined;
  return withoutContent(
    new APICallError({ message, url: PATH, requestBodyValues, ...response, isRetryable: false, cause: error }),
  );
}

/** The parts of an `APICallError` that come from the service. */
function responseOf(error: APIError) {
  const { status, message, type, code, param } = error;
  // The error's own fields and not its body, in which the service may repeat the key. The body is `cause.body`.
  const data = { error: { message, type, code, param } };
  const responseHeaders = Object.fromEntries(error.headers);
  return { statusCode: status, responseHeaders, responseBody: JSON.stringify(data), data };
}

/** The AI SDK repeats what has the code of the network among its causes. The message names it, too. */
function withoutCode(cause: unknown): void {
  for (let error = Object(cause); error instanceof Error; error = Object(error.cause))
    Reflect.deleteProperty(error, 'code');
}

/** Makes fields non-enumerable, so that a logged error contains no text of users. */
function withoutContent(error: APICallError): APICallError {
  for (const field of ['requestBodyValues', 'responseHeaders', 'responseBody', 'data'])
    Object.defineProperty(error, field, { enumerable: false });
  return error;
}
