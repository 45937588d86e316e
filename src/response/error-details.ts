import { redirectTarget, stillEncoded } from '#platform';
import { tryJson } from '../base/json.js';
import { isObject, ownField } from '../base/objects.js';
import { startOf } from '../base/unicode.js';
import { type APIError, type APIErrorDetails, apiError, isTemporary } from '../errors/api.js';
import type { Sent } from '../errors/connection.js';
import { unescaped } from '../errors/echo.js';
import type { Redactor } from '../errors/redactor.js';
import type { ServiceResponse } from './service-response.js';

/** Maximum characters quoted from a page. */
const MAX_EXCERPT = 256;
/** Where proxies and frameworks put the message of an error, the most usual first. */
const PLACES = [
  'message',
  'Message',
  'detail',
  'title',
  'errors',
  'error',
  'msg',
  'error_msg',
  'status_msg',
  'base_resp',
];
/** The fields that only errors have, if there is something in them. A `message` alone may be a reply. */
const MARKS = ['error', 'errors'];
/** Codes of a success. */
const FINE = /^(0|200|ok|success)?$/i;
/** How deep they put it: `{ errors: [{ message }] }`. */
const DEEPEST = 4;
/**
 * The error that a response reports, also inside a success. `leastWait` is the shortest wait before a retry, if the body
 * could not be read to its end: a wait that it contains may be missing.
 */
export function errorIn(response: ServiceResponse, body: unknown, leastWait?: number): APIError {
  return apiError(response.head.status, errorDetails(response, body, leastWait));
}

export function errorDetails(response: ServiceResponse, body: unknown, leastWait?: number): APIErrorDetails {
  const { head, source, requestId, rateLimit } = response;
  const { status, headers } = head;
  const { call, redactor, description } = source;
  const error = errorObject(body, (text) => redactor.quote(text));
  const sent = sentOf(status, body);
  const said =
    error.message ??
    messageIn(body, redactor) ??
    (typeof body === 'string' ? stillEncoded(body, headers) : undefined) ??
    excerpt(body, status, redactor);
  const asked = response.retryAfter(error.retryAfter);
  const retryAfter = leastWait === undefined ? asked : Math.max(asked ?? 0, leastWait);
  const advice =
    redirectTarget(head) ??
    (status === 404 && error.message === undefined
      ? wrongPath(call?.request.address)
      : call?.area.explain(status, description)) ??
    (retryAfter && (status < 300 || isTemporary(status)) ? `Try again in ${Math.ceil(retryAfter / 1_000)} s.` : '');
  const text = said || (advice === '' ? 'The response contains no message.' : '');
  return {
    message: [status, advice === '' ? text : text.replace(/[^.!?]$/, '$&.'), advice]
      .filter((part) => part !== '')
      .join(' '),
    serviceMessage: isObject(body) && Object.hasOwn(body, 'error') ? error.message : undefined,
    area: call?.area.name ?? 'gateway', // only a completion is relayed
    sent,
    type: error.type,
    code: error.code,
    param: error.param,
    requestId: requestId === undefined ? undefined : redactor.quote(requestId),
    retryAfter,
    rateLimit,
    headers,
    body,
    written: () => written(body, redactor),
  };
}

function written(body: unknown, redactor: Redactor): string | undefined {
  if (!isObject(body)) return undefined;
  try {
    const text = redactor.mask(JSON.stringify(body));
    return tryJson(text) === undefined ? undefined : text; // an escaped credential may have ended a string
  } catch {
    return undefined; // too deep
  }
}

/** `{ "error": "…" }`, or `{ "message": "…", "code": … }` with the names that services give to both, in the place of a chunk. */
export function isBareError(body: object): boolean {
  if (hasChoices(body) || ownField(body, 'usage')) return false;
  const error = ownField(body, 'error');
  if (error && typeof error === 'string') return true;
  const said = ownField(body, 'message') ?? ownField(body, 'msg') ?? ownField(body, 'error_msg');
  return (
    typeof said === 'string' && !FINE.test(said) && isFailure(ownField(body, 'code') ?? ownField(body, 'error_code'))
  );
}

/** Whether the body of a success is an error in a form of its own, and says why. Asked only of what is not what was asked for. */
export function saysWhy(body: unknown, redactor: Redactor): body is object {
  if (!isObject(body) || hasChoices(body) || ownField(body, 'success') === true) return false;
  const status = ownField(body, 'status');
  const isError =
    MARKS.some((name) => Object.keys(Object(ownField(body, name))).length > 0) ||
    Object.keys(body).join() === 'detail' ||
    /^(error|fail(ed|ure)?)$/i.test(word(status)) ||
    Number(word(status)) >= 400 ||
    isFailure(ownField(Object(ownField(body, 'base_resp')), 'status_code'));
  return (isError || isBareError(body)) && messageIn(body, redactor) !== undefined;
}

function hasChoices(body: object): boolean {
  const choices = ownField(body, 'choices'); // of each event
  return Array.isArray(choices) ? choices.some(isObject) : isObject(choices);
}

function isFailure(code: unknown): boolean {
  return !FINE.test(word(code));
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Whether the service may have carried out the request that it answered with this error. */
export function sentOf(status: number, body: unknown): Sent {
  // A proxy's page may hide work that was done. Only the service's own error proves that it was not.
  if (status === 503 || status === 401 || status === 403) return isServiceError(body) ? 'no' : 'maybe';
  return status < 400 || status === 408 || status === 409 || status === 425 || status >= 500 ? 'maybe' : 'no';
}

/**
 * Whether a body is an error in the documented form, so that the service itself rejected the request. Proxies respond
 * in other forms, which say nothing about what the service has done.
 */
function isServiceError(body: unknown): boolean {
  if (!isObject(body)) return false;
  const error = ownField(body, 'error');
  if (ownField(body, 'success') === false) return typeof error === 'string';
  return (
    isObject(error) && typeof ownField(error, 'message') === 'string' && typeof ownField(error, 'type') === 'string'
  );
}

interface ErrorObject {
  readonly message?: string | undefined;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly retryAfter?: unknown;
}

/**
 * The error forms of both APIs, wrapped or bare: `{ success: false, error: "…" }`, `{ error: { message, … } }`,
 * `{ message, … }`.
 */
function errorObject(body: unknown, quote: (text: string) => string): ErrorObject {
  if (!isObject(body)) return {};
  const error = ownField(body, 'error');
  const fields = isObject(error) ? error : body;
  const textOf = (name: string): string | undefined => {
    const value = ownField(fields, name);
    if (name === 'code' && typeof value === 'number') return String(value);
    return typeof value === 'string' ? quote(value) : undefined;
  };
  const retryAfter = ownField(fields, 'retry_after');
  if (typeof error === 'string') return { message: textOf('error'), retryAfter };
  return { message: textOf('message'), type: textOf('type'), code: textOf('code'), param: textOf('param'), retryAfter };
}

/** The message of an error in another form than the documented ones. */
function messageIn(body: unknown, redactor: Redactor, depth = 0): string | undefined {
  if (depth > 0 && typeof body === 'string') return body.trim() === '' ? undefined : redactor.quote(body);
  if (typeof body !== 'object' || body === null || depth > DEEPEST) return undefined;
  for (const place of Array.isArray(body) ? ['0'] : PLACES) {
    const message = messageIn(ownField(body, place), redactor, depth + 1);
    if (message !== undefined) return message;
  }
  return undefined;
}

/**
 * The first words of a plain text or an HTML page, such as a proxy's error page. Not of JSON without a message, which may repeat
 * anything of the caller.
 */
export function excerpt(body: unknown, status: number, redactor: Redactor): string {
  if (typeof body !== 'string') return '';
  const shown = body.replace(/<!--.*?(-->|$)|<(title|script|style)\b.*?(<\/\2[^<>]*>?|$)|<[a-z/!?][^<>]*>?/gis, ' ');
  const text = redactor.quote(unescaped(shown).replace(/\s+/g, ' ').trim());
  const line = text.startsWith(`${status} `) ? text.slice(4) : text; // the message already begins with it
  return line.length > MAX_EXCERPT ? `${startOf(line, MAX_EXCERPT)}…` : line;
}

/** A 404 that is not the service's own error: `baseURL` is probably wrong. */
function wrongPath(address: string | undefined): string | undefined {
  return address && `This is not the service's own error. Check baseURL: the request went to ${address}.`;
}
