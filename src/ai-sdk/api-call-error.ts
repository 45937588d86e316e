import { APICallError } from '@ai-sdk/provider';
import { APIConnectionError, APIError } from '../index.js';

/** Only the path, because the client does not expose its address. */
const PATH = '/v1/chat/completions';

/**
 * Converts an error to an `APICallError` with the original as its `cause`. Aborts and invalid arguments are returned
 * unchanged. `isRetryable` is true only if the service provably did nothing, because the AI SDK then retries the
 * request.
 */
export function toApiCallError(error: unknown, requestBodyValues: unknown): unknown {
  if (APIError.is(error)) {
    return withoutContent(
      new APICallError({
        message: error.message,
        url: PATH,
        requestBodyValues,
        statusCode: error.status,
        responseHeaders: headersOf(error),
        responseBody: typeof error.body === 'string' ? error.body : JSON.stringify(error.body),
        data: error.body,
        isRetryable: error.status === 429 || (error.status === 503 && isServiceError(error.body)),
        cause: error,
      }),
    );
  }
  if (!APIConnectionError.is(error)) return error;
  const { message, sent } = error;
  return withoutContent(
    new APICallError({ message, url: PATH, requestBodyValues, isRetryable: sent === 'no', cause: error }),
  );
}

/** Adds `retry-after`: the Gateway sends the wait in the body, but the AI SDK reads it from the headers only. */
function headersOf({ headers, retryAfter }: APIError): Record<string, string> {
  const given = Object.fromEntries(headers);
  return retryAfter === undefined ? given : { ...given, 'retry-after': String(Math.ceil(retryAfter / 1_000)) };
}

/** Whether the error is the service's own. A proxy may respond with 503 after the work was done. */
function isServiceError(body: unknown): boolean {
  const error = (body as { error?: { type?: unknown } } | null | undefined)?.error;
  return typeof error?.type === 'string';
}

/** Makes fields non-enumerable, so that a logged error contains no text of users. */
function withoutContent(error: APICallError): APICallError {
  for (const field of ['requestBodyValues', 'responseHeaders', 'responseBody', 'data'])
    Object.defineProperty(error, field, { enumerable: false });
  return error;
}
