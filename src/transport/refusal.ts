import type { RateLimit } from '../answer.js';
import { type APIError, type APIErrorDetails, type Area, apiError } from '../errors.js';
import type { ResponseHead } from '../platform/engine.js';
import { isObject } from './matches.js';
import { retryHint } from './rate-limit.js';
import { cleaned, withoutSecrets } from './secrets.js';

/** Characters of a page that came instead of JSON. */
const MAX_EXCERPT = 256;

/** What is known about a refused request besides its answer. */
export interface RefusalContext {
  readonly area: Area;
  /** The credential that was sent: should the service repeat it, it is masked. */
  readonly credential: string;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** The service's clock, in ms since 1970. */
  readonly serverTime: number;
  /** What the user can do about this status, if the area knows. */
  readonly explain: (status: number) => string | undefined;
  /** The method of the request; absent where somebody else sent it. */
  readonly method?: string;
}

/** The typed error for an answer that is not a success. `text` is as much of its body as was read. */
export function refusal(head: ResponseHead, text: string, context: RefusalContext): APIError {
  return apiError(head.status, refusalDetails(head, parseBody(text), context));
}

/** The details of an error, also of one that came inside a successful answer. */
export function refusalDetails(head: ResponseHead, body: unknown, context: RefusalContext): APIErrorDetails {
  const { status, headers } = head;
  const { requestId } = context;
  const mask = (text: string): string => withoutSecrets(text, context.credential);
  const error = errorObject(body, (text) => cleaned(text, context.credential));
  const said = error.message ?? excerpt(body, mask);
  const retryAfter = retryHint(headers, error.retryAfter, context.rateLimit, context.serverTime);
  const hint =
    doubt(status, body, context) ??
    context.explain(status) ??
    (retryAfter && `Try again in ${Math.ceil(retryAfter / 1_000)} s.`);
  const redirect = redirectTarget(head);
  const text = said || redirect || 'The service gave no reason.';
  return {
    message: `${status} ${!hint ? text : `${text.replace(/[^.!?]$/, '$&.')} ${hint}`}`,
    words: error.message,
    area: context.area,
    type: error.type,
    code: error.code,
    param: error.param,
    requestId,
    retryAfter,
    rateLimit: context.rateLimit,
    headers,
    body,
  };
}

/** Why a POST is not repeated after a 503 that is not the service's own. */
function doubt(status: number, body: unknown, { method }: RefusalContext): string | undefined {
  if (status !== 503 || method !== 'POST' || isServiceError(body)) return undefined;
  return 'This is not an error of the service itself: a proxy may have answered after the work was done, so the request is not repeated.';
}

/** The service's id of a request, fit to be logged. */
export function requestIdOf({ headers }: ResponseHead, credential: string): string | undefined {
  const id = headers.get('x-request-id') ?? headers.get('request-id');
  return id === undefined ? undefined : cleaned(id, credential);
}

/** Whether a successful answer reports an error all the same: `success: false` (A15), or an `error` where data should be. */
export function reportsError(body: unknown): boolean {
  if (!isObject(body)) return false;
  return body.success === false || (isObject(body.error) && body.success === undefined);
}

/**
 * Whether a body is an error in the form the interface documents, so that the service itself refused. What proxies answer in its
 * place has another form, and says nothing about what the service has done.
 */
export function isServiceError(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { success, error } = body;
  if (success === false) return typeof error === 'string';
  return isObject(error) && typeof error.message === 'string' && typeof error.type === 'string';
}

interface ErrorObject {
  readonly message?: string | undefined;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly retryAfter?: unknown;
}

/** Either area's form, wrapped or bare (A22): `{ success: false, error: "…" }`, `{ error: { message, … } }`, `{ message, … }`. */
function errorObject(body: unknown, clean: (text: string) => string): ErrorObject {
  if (!isObject(body)) return {};
  const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? clean(value) : undefined);
  if (typeof body.error === 'string') return { message: textOf(body.error), retryAfter: body.retry_after };
  const inner = isObject(body.error) ? body.error : body;
  return {
    message: textOf(inner.message),
    type: textOf(inner.type),
    code: textOf(inner.code),
    param: textOf(inner.param),
    retryAfter: inner.retry_after,
  };
}

/** JSON if it is JSON, whatever the content type says; else the text. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The words of an HTML page or a plain text: a proxy's error page says more than nothing. */
function excerpt(body: unknown, mask: (text: string) => string): string {
  if (typeof body !== 'string') return '';
  const words = mask(body)
    .slice(0, 8_192)
    .replace(/<(script|style)[^>]*>[^<]*/gi, ' ')
    .replace(/<[^>]*>/g, ' ');
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line;
}

/** Redirects are never followed; the host tells the user where baseURL should lead. */
function redirectTarget({ status, headers }: ResponseHead): string | undefined {
  if (status < 300 || status > 399 || status === 304) return undefined;
  const location = headers.get('location');
  const host = location !== undefined && URL.canParse(location) ? new URL(location).host : undefined;
  const target = host === undefined ? 'to another address' : `to ${host}`;
  return `The service redirects ${target}. Redirects are not followed, so that the credential goes nowhere else; correct baseURL.`;
}
