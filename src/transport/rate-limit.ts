import type { HeaderSource, RateLimit } from '../answer.js';

/** Where the gap is: the unit of `X-RateLimit-Reset` is told by its size (A13). */
const DELTA_SECONDS = 1e6;
const EPOCH_SECONDS = [1e9, 1e11] as const;
const EPOCH_MILLISECONDS = [1e12, 1e14] as const;

/** The three headers of an answer. `undefined` when it has none of them. `now` is the service's clock, `clean` masks secrets. */
export function parseRateLimit(
  headers: HeaderSource,
  now: number,
  clean: (text: string) => string = String,
): RateLimit | undefined {
  const limit = headers.get('x-ratelimit-limit');
  const remaining = headers.get('x-ratelimit-remaining');
  const reset = headers.get('x-ratelimit-reset');
  if (limit === undefined && remaining === undefined && reset === undefined) return undefined;
  const limitNumber = wholeNumber(limit);
  const remainingNumber = wholeNumber(remaining);
  const resetNumber = wholeNumber(reset);
  const resetTime = epochOf(resetNumber, now);
  const raw = (value: string | undefined, number: number | undefined): string | undefined =>
    value === undefined || number !== undefined ? value : clean(value);
  return {
    limit: limitNumber,
    remaining: remainingNumber,
    resetAt: resetTime === undefined ? undefined : new Date(resetTime),
    raw: { limit: raw(limit, limitNumber), remaining: raw(remaining, remainingNumber), reset: raw(reset, resetNumber) },
  };
}

/** Milliseconds from this answer to the end of its window, by the service's own clock. */
export function untilReset({ resetAt }: RateLimit, now: number): number | undefined {
  return resetAt === undefined ? undefined : resetAt.getTime() - now;
}

/** What a service says about when to come back, in milliseconds: the longest of header and body, else the end of an empty window. */
export function retryHint(
  headers: HeaderSource,
  bodyHint: unknown,
  limit: RateLimit | undefined,
  now: number,
): number | undefined {
  const hints = [retryAfterHeader(headers, now), retryAfterBody(bodyHint)].filter((hint) => hint !== undefined);
  if (hints.length > 0) return Math.max(...hints);
  if (limit?.remaining !== 0) return undefined;
  const reset = untilReset(limit, now);
  return reset === undefined || reset <= 0 || reset > LONGEST_WINDOW ? undefined : reset;
}

/** A reset further away than this is a misunderstanding, not a window. */
const LONGEST_WINDOW = 300_000;

/** Proxies add a second one to the service's own: the largest valid value counts. */
function retryAfterHeader(headers: HeaderSource, now: number): number | undefined {
  const hints = retryAfterValues(headers.get('retry-after')).flatMap((value) => {
    if (/^\d+$/.test(value)) return Math.min(Number(value) * 1_000, Number.MAX_SAFE_INTEGER);
    const date = parseHttpDate(value);
    return date === undefined ? [] : Math.max(0, date - now);
  });
  return hints.length === 0 ? undefined : Math.max(...hints);
}

/** Split at commas, but not at the one behind the weekday of a date. */
function retryAfterValues(header = ''): string[] {
  return header.match(/ *(?:[A-Z][a-z]+, )?[^,]+/g)?.map((value) => value.trim()) ?? [];
}

function retryAfterBody(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value * 1_000 : undefined;
}

/** The three forms of a date that HTTP knows, and no other that `Date.parse` would guess at. */
const HTTP_DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})$/;

function parseHttpDate(value: string): number | undefined {
  if (!HTTP_DATE.test(value)) return undefined;
  const time = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

/** The service's clock as of its answers: only with it a reset or a date means anything on a machine whose clock is off. */
export class ServerClock {
  /** The date that was read last. Dates have whole seconds, so that answers share them, and reading one takes a while. */
  #date: string | undefined;
  #time: number | undefined;

  /** Milliseconds since 1970; by our own clock where the answer has no date. */
  read(headers: HeaderSource, wallClock: number): number {
    const date = headers.get('date');
    if (date !== this.#date) {
      this.#date = date;
      this.#time = date === undefined ? undefined : parseHttpDate(date);
    }
    return this.#time ?? wallClock;
  }
}

function wholeNumber(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,15}$/.test(value)) return undefined;
  return Number(value);
}

function epochOf(reset: number | undefined, now: number): number | undefined {
  if (reset === undefined) return undefined;
  if (reset < DELTA_SECONDS) return now + reset * 1_000;
  if (reset >= EPOCH_SECONDS[0] && reset < EPOCH_SECONDS[1]) return reset * 1_000;
  if (reset >= EPOCH_MILLISECONDS[0] && reset < EPOCH_MILLISECONDS[1]) return reset;
  return undefined;
}
