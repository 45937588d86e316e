import { APICallError } from '@ai-sdk/provider';
import { APIConnectionError, APIError } from '../index.js';

/** Only the path: the client does not tell its address. */
const PATH = '/v1/chat/completions';

/**
 * The error as the AI SDK understands it, with the typed one as its `cause`; an abort, or a mistake in the arguments, as it is.
 * `isRetryable` holds where the service provably did nothing, because the AI SDK repeats the request then.
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

/** The AI SDK looks for the time to wait in the headers alone, and the Gateway writes it into the body. */
function headersOf({ headers, retryAfter }: APIError): Record<string, string> {
  const given = Object.fromEntries(headers);
  return retryAfter === undefined ? given : { ...given, 'retry-after': String(Math.ceil(retryAfter / 1_000)) };
}

/** Whether the service itself refused. A proxy may answer 503 after the work was done. */
function isServiceError(body: unknown): boolean {
  const error = (body as { error?: { type?: unknown } } | null | undefined)?.error;
  return typeof error?.type === 'string';
}

/** Can still be read, but does not get into logs: errors are printed, and these hold what people wrote. */
function withoutContent(error: APICallError): APICallError {
  for (const field of ['requestBodyValues', 'responseHeaders', 'responseBody', 'data'])
    Object.defineProperty(error, field, { enumerable: false });
  return error;
}
