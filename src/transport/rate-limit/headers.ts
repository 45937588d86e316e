import { MAX_WINDOW } from '../../base/rate-window.js';
import type { HeaderSource, RateLimit } from '../../base/response-info.js';
import type { Redactor } from '../../errors/redactor.js';

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
    raw,
  };
}

/** Milliseconds from this response to the end of its window, by the service's clock. */
export function resetAfter({ resetAt }: RateLimit, now: number): number | undefined {
  return resetAt === undefined ? undefined : resetAt.getTime() - now;
}

/**
 * The wait that the service asks for, in milliseconds: the longest of header and body, else the end of an empty window.
 */
export function parseRetryAfter(
  headers: HeaderSource,
  inBody: unknown,
  limit: RateLimit | undefined,
  now: number,
): number | undefined {
  const waits = [retryAfterHeader(headers, now), retryAfterBody(inBody)].filter((wait) => wait !== undefined);
  if (waits.length > 0) return Math.max(...waits);
  if (limit?.remaining !== 0) return undefined;
  const untilEnd = resetAfter(limit, now);
  return untilEnd === undefined || untilEnd <= 0 || untilEnd > MAX_WINDOW ? undefined : untilEnd;
}

/** Proxies may add a second header: the largest valid value counts. */
function retryAfterHeader(headers: HeaderSource, now: number): number | undefined {
  const waits = retryAfterValues(headers.get('retry-after')).flatMap((value) => {
    if (/^\d+$/.test(value)) return Math.min(Number(value) * 1_000, Number.MAX_SAFE_INTEGER);
    const date = parseHttpDate(value);
    return date === undefined ? [] : Math.max(0, date - now);
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Splits at commas, but not after the weekday of a date. */
function retryAfterValues(header = ''): string[] {
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
 * The service's clock, from its responses. Without it, a reset or date means nothing on a machine whose clock is wrong.
 */
export class ServerClock {
  /** The last parsed date. Dates have whole seconds, so responses share them, and parsing is slow. */
  #date: string | undefined;
  #time: number | undefined;

  /** Milliseconds since 1970; by our own clock if the response has no date. */
  read(headers: HeaderSource, wallClock: number): number {
    const date = headers.get('date');
    if (date !== this.#date) {
      this.#date = date;
      this.#time = date === undefined ? undefined : parseHttpDate(date);
    }
    return this.#time ?? wallClock;
  }
}

/** The unit is inferred from the size: delta seconds, epoch seconds or epoch milliseconds. */
function epochOf(reset: number | undefined, now: number): number | undefined {
  if (reset === undefined) return undefined;
  if (reset < 1e6) return now + reset * 1_000;
  if (reset >= 1e9 && reset < 1e11) return reset * 1_000;
  return reset >= 1e12 && reset < 1e14 ? reset : undefined;
}
