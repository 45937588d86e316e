import { type Area, defaultMessage, errorBody, type RefusalDetails } from '../base/errors.js';

/**
 * A response in plain form. Creating a `Response` would take as long as the rest of a plain call, so it is only created
 * where needed.
 */
export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | ReadableStream<Uint8Array> | null;
}

/** A JSON response. */
export function json(value: unknown, status = 200): Answer {
  return textAnswer(JSON.stringify(value), status);
}

/** A response with a body that is already serialized. */
export function textAnswer(body: string, status = 200, contentType = 'application/json'): Answer {
  return { status, headers: { 'content-type': contentType }, body };
}

/** An error response of an area. */
export function errorAnswer(
  area: Area,
  status: number,
  message = defaultMessage(status),
  details: RefusalDetails = {},
): Answer {
  const answer = json(errorBody(area, status, message, details), status);
  // The Context API's error body has no field for the wait (A30). The Gateway documents one.
  if (status === 429 && area === 'context') answer.headers['retry-after'] = String(details.retryAfter ?? 1);
  return answer;
}

/** Whether the response is an event stream. */
export function isEventStream({ headers }: Answer): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}

/** Creates the `Response`. */
export function toResponse({ body, status, headers }: Answer): Response {
  return new Response(body, { status, headers });
}
