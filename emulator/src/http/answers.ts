import { type Area, defaultMessage, errorBody, type RefusalDetails } from '../base/errors.js';

/** What is answered, before it is written to a socket or made a `Response`: making one takes as long as all else of a plain call. */
export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | ReadableStream<Uint8Array> | null;
}

/** A JSON answer. */
export function json(value: unknown, status = 200): Answer {
  return textAnswer(JSON.stringify(value), status);
}

/** An answer whose body is written already. */
export function textAnswer(body: string, status = 200, contentType = 'application/json'): Answer {
  return { status, headers: { 'content-type': contentType }, body };
}

/** An error in the form of the area. */
export function errorAnswer(
  area: Area,
  status: number,
  message = defaultMessage(status),
  details: RefusalDetails = {},
): Answer {
  const answer = json(errorBody(area, status, message, details), status);
  // The Context API's error body has no room for the wait (A30); the Gateway documents it in the body.
  if (status === 429 && area === 'context') answer.headers['retry-after'] = String(details.retryAfter ?? 1);
  return answer;
}

/** Does the answer come as events? */
export function isEventStream({ headers }: Answer): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}

/** The answer as `fetch` gives it. */
export function toResponse({ body, status, headers }: Answer): Response {
  return new Response(body, { status, headers });
}
