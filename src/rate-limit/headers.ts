import type { HeaderSource, RateLimit } from '../base/response-info.js';
import type { Redactor } from '../errors/redactor.js';
import { MAX_WINDOW } from './rate-window.js';

/**
 * Parses the three headers. Returns `undefined` if all are absent. `now` is the service's clock.
 */
export function parseRateLimit(headers: HeaderSource, now: number, redactor?: Redactor): RateLimit | undefined {
  const read = (name: string) => {
    const text = headers.get(`x-ratelimit-${name}`);
    const number = text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    return { number, raw: text === undefined || number !== undefined ? text : (redactor?.mask(text) ?? text) };
  };
  const limit = read('limit');
  const remaining = read('remaining');
  const reset = read('reset');
  const raw = { limit: limit.raw, remaining: remaining.raw, reset: reset.raw };
  if ((raw.limit ?? raw.remaining ?? raw.reset) === undefined) return undefined;
  const resetTime = epochOf(reset.number, now);
  return {
    limit: limit.number,
    remaining: remaining.number,
    resetAt: resetTime === undefined ? undefined : new Date(resetTime),
    resetAfter: resetTime === undefined ? undefined : resetTime - now,
    raw,
  };
}

/**
 * The wait that the service asks for, in milliseconds: the longest of header and body, else the end of an empty window.
 */
export function longestWait(
  header: number | undefined,
  inBody: unknown,
  limit: RateLimit | undefined,
): number | undefined {
  const waits = [header, retryAfterBody(inBody)].filter((wait) => wait !== undefined);
  if (waits.length > 0) return Math.max(...waits);
  if (limit?.remaining !== 0) return undefined;
  const { resetAfter = 0 } = limit;
  return resetAfter > 0 && resetAfter <= MAX_WINDOW ? resetAfter : undefined;
}

/** The `Retry-After` header, in milliseconds. Proxies may add a second one: the largest valid value counts. */
export function parseRetryAfter(headers: HeaderSource, now: number): number | undefined {
  const header = headers.get('retry-after');
  if (header === undefined) return undefined;
  const waits = retryAfterValues(header).flatMap((value) => {
    if (/^\d+$/.test(value)) return Math.min(Number(value) * 1_000, Number.MAX_SAFE_INTEGER);
    const date = parseHttpDate(value);
    return date === undefined ? [] : Math.max(0, date - now);
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Splits at commas, but not after the weekday of a date. */
function retryAfterValues(header: string): string[] {
  return header.match(/ *(?:[A-Z][a-z]+, )?[^,]+/g)?.map((value) => value.trim()) ?? [];
}

function retryAfterBody(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value * 1_000 : undefined;
}

/** The three date formats of HTTP. `Date.parse` would accept many others. */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8},? (\d\d[ -][A-Z][a-z]{2}[ -](\d\d|\d{4}) [\d:]{8} GMT|[A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;

function parseHttpDate(value: string): number | undefined {
  if (!HTTP_DATE.test(value)) return undefined;
  const time = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

/**
 * The time by the service's clock, in milliseconds since 1970; by our own clock if the response has no date. Without it, a
 * reset or date means nothing on a machine whose clock is wrong.
 */
export function serverTime(headers: HeaderSource, wallClock: number): number {
  const date = headers.get('date') ?? '';
  if (date !== last.date) last = { date, time: parseHttpDate(date) };
  return last.time ?? wallClock;
}

/** All responses of a second have the same date. Parsing it takes 2 % of a call. */
let last: { date: string; time: number | undefined } = { date: '', time: undefined };

/** The unit is inferred from the size: delta seconds, epoch seconds or epoch milliseconds. */
function epochOf(reset: number | undefined, now: number): number | undefined {
  if (reset === undefined) return undefined;
  if (reset < 1e6) return now + reset * 1_000;
  if (reset >= 1e9 && reset < 1e11) return reset * 1_000;
  return reset >= 1e12 && reset < 1e14 ? reset : undefined;
}
