import { type Area, defaultMessage, type ErrorDetails, errorBody } from '../base/errors.js';
import { EventBody } from './event-body.js';

/**
 * A response in plain form. Creating a `Response` would take as long as the rest of a plain call, so it is only created
 * where needed.
 */
export interface PlainResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | EventBody | ReadableStream<Uint8Array> | null;
}

/** A JSON response. */
export function json(value: unknown, status = 200): PlainResponse {
  return textResponse(JSON.stringify(value), status);
}

/** A response with a body that is already serialized. */
export function textResponse(body: string, status: number, contentType = 'application/json'): PlainResponse {
  return { status, headers: { 'content-type': contentType }, body };
}

/** An error response of an area. */
export function errorResponse(
  area: Area,
  status: number,
  message = defaultMessage(status),
  details: ErrorDetails = {},
): PlainResponse {
  const response = json(errorBody(area, status, message, details), status);
  // The Context API's error body has no field for the wait (A30). The Gateway documents one.
  if (status === 429 && area === 'context') response.headers['retry-after'] = String(details.retryAfter ?? 1);
  return response;
}

/** Whether the response is an event stream. */
export function isEventStream({ headers }: PlainResponse): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}

/** Creates the `Response`. */
export function toResponse({ body, status, headers }: PlainResponse): Response {
  return new Response(body instanceof EventBody ? body.stream() : body, { status, headers });
}
