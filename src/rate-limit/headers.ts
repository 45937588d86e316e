import type { HeaderSource, RateLimit } from '../base/response-info.js';
import type { Redactor } from '../errors/redactor.js';
import { MAX_WINDOW } from './rate-window.js';

/** The three date formats of HTTP. `Date.parse` would accept many others. */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8},? (\d\d[ -][A-Z][a-z]{2}[ -](\d\d|\d{4}) [\d:]{8} GMT|[A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/;
const PART = /([\d.]+)(ms|[dhms])/g; // linear: only for texts that DURATION matches, where each number has its unit
const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** The last time of a `Date`. */
const MAX_TIME = 8.64e15;

/**
 * Parses the three headers. Returns `undefined` if all are absent. `now` is the service's clock.
 */
export function parseRateLimit(headers: HeaderSource, now: number, redactor?: Redactor): RateLimit | undefined {
  const read = (name: string) => {
    const text = headers.get(`x-ratelimit-${name}`);
    const number = text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    return { number, text, raw: text === undefined || number !== undefined ? text : (redactor?.mask(text) ?? text) };
  };
  const limit = read('limit');
  const remaining = read('remaining');
  const reset = read('reset');
  const raw = { limit: limit.raw, remaining: remaining.raw, reset: reset.raw };
  if ((raw.limit ?? raw.remaining ?? raw.reset) === undefined) return undefined;
  const resetTime = isOfKnownUnit(reset.text) ? timeOf(reset.text, now) : undefined;
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
  inBody: number | undefined,
  limit: RateLimit | undefined,
): number | undefined {
  const waits = [header, inBody].filter((wait) => wait !== undefined);
  if (waits.length > 0) return Math.max(...waits);
  if (limit?.remaining !== 0) return undefined;
  const { resetAfter = 0 } = limit;
  return resetAfter > 0 && resetAfter <= MAX_WINDOW ? resetAfter : undefined;
}

/**
 * The wait of `Retry-After`, or of `retry-after-ms`, in milliseconds. Proxies may add a second one: the longest that can be
 * read counts.
 */
export function parseRetryAfter(headers: HeaderSource, now: number): number | undefined {
  const texts = valuesOf(headers.get('retry-after'));
  for (const value of valuesOf(headers.get('retry-after-ms'))) texts.push(`${value}ms`);
  const waits = texts.flatMap((text) => parseWait(text, now) ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** The wait that a text or a number asks for, in milliseconds: seconds, a duration, or a time. */
export function parseWait(value: unknown, now: number): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const time = timeOf(String(value), now);
  return time === undefined ? undefined : Math.max(0, Math.ceil(time - now));
}

/** Splits at commas, but not after the weekday of a date. */
function valuesOf(header = ''): string[] {
  return header.match(/ *(?:[A-Z][a-z]+, )?[^,]+/g)?.map((value) => value.trim()) ?? [];
}

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
  return parseHttpDate(headers.get('date') ?? '') ?? wallClock;
}

/**
 * The time that a wait ends, in milliseconds since 1970: after so many seconds (`2.5`) or a duration (`1m30s`), or at a time, as
 * Unix seconds or milliseconds, in ISO 8601 or as in HTTP. The size of a number tells its unit.
 */
function timeOf(text = '', now: number): number | undefined {
  if (/^\d+(?:\.\d*)?$/.test(text)) {
    const number = Number(text);
    if (number >= 1e12) return Math.min(number, MAX_TIME);
    return number < 1e9 ? now + number * 1_000 : number * 1_000;
  }
  if (DURATION.test(text)) {
    let length = 0;
    for (const [, count, unit = ''] of text.matchAll(PART)) length += Number(count) * (UNITS[unit] ?? 0);
    return Math.min(now + length, MAX_TIME);
  }
  const time = ISO_TIME.test(text) ? Date.parse(text) : parseHttpDate(text);
  return Number.isNaN(time) ? undefined : time;
}

/** The numbers in between have been seen as seconds, as milliseconds and as times. */
function isOfKnownUnit(text = ''): boolean {
  const reset = Number(text);
  if (Number.isNaN(reset)) return true;
  return reset < 1e6 || (reset >= 1e9 && reset < 1e11) || (reset >= 1e12 && reset < 1e14);
}
