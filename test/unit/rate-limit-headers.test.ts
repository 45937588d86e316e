import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { longestWait, parseRateLimit, parseRetryAfter, parseWait, serverTime } from '../../src/rate-limit/headers.js';
import { atLength } from '../helpers/endurance.js';
import { anyString } from '../helpers/strings.js';

/** The Date header of the response, and the local time. */
const DATE = 'Thu, 15 Jan 2026 10:00:00 GMT';
const NOW = Date.UTC(2026, 0, 15, 10);
const HOUR = 3_600_000;

const source = (headers: Record<string, string | undefined>) => ({
  get: (name: string) => headers[name],
  toHeaders: () => new Headers(),
});

const hintOf = (headers: Record<string, string | undefined>, bodyHint?: unknown, wallClock = NOW) => {
  const given = source(headers);
  const now = serverTime(given, wallClock);
  return longestWait(parseRetryAfter(given, now), parseWait(bodyHint, now), parseRateLimit(given, now));
};

describe('Retry-After', () => {
  test.each([
    { value: '0', ms: 0, because: 'now' },
    { value: ' 007\t', ms: 7_000, because: 'whitespace around it is trimmed, and leading zeros are allowed' },
    { value: '999999999', ms: 999_999_999_000, because: 'no upper limit applies here' },
    { value: String(NOW / 1_000 + 30), ms: 30_000, because: 'from 1e9 on, a Unix time' },
    { value: String(NOW + 30_000), ms: 30_000, because: 'from 1e12 on, a Unix time in milliseconds' },
    { value: String(NOW / 1_000 - 30), ms: 0, because: 'a Unix time that has passed' },
    { value: '9'.repeat(400), ms: 8.64e15 - NOW, because: 'the last time of a Date is the maximum' },
    { value: 'Thu, 15 Jan 2026 10:00:30 GMT', ms: 30_000, because: 'the preferred date' },
    { value: 'Sun Feb  1 10:00:00 2026', ms: 17 * 24 * HOUR, because: 'the date of asctime, with a space-padded day' },
    { value: '1m30s', ms: 90_000, because: 'a duration in parts' },
    { value: '250ms', ms: 250, because: 'milliseconds' },
    { value: '5 s', ms: undefined, because: 'no duration' },
    { value: '0x10', ms: undefined, because: 'hexadecimal' },
    { value: '-5', ms: undefined, because: 'negative' },
    { value: '', ms: undefined, because: 'empty' },
    { value: '299.9997', ms: 300_000, because: 'a fraction of a millisecond, never rounded down' },
    { value: '5, x, 2, -9', ms: 5_000, because: 'the largest of several, of which invalid ones are ignored' },
    { value: '5, Thu, 15 Jan 2026 10:00:30 GMT', ms: 30_000, because: 'a number and a date' },
    { value: 'Thursday, 15-Jan-26 10:00:30 GMT, 60', ms: 60_000, because: 'a date of RFC 850 and a number' },
    { value: '2026-01-15T10:00:30Z', ms: 30_000, because: 'ISO 8601' },
    { value: '2026-01-15T10:00:30', ms: undefined, because: 'ISO 8601 without a time zone' },
    { value: 'Jan 15 2026', ms: undefined, because: 'a date that only Date.parse accepts' },
    { value: 'Thu, 99 Jan 2026 10:00:30 GMT', ms: undefined, because: 'no such day' },
  ])('$value is $ms ms: $because', ({ value, ms }) => {
    expect(hintOf({ 'retry-after': value, date: DATE })).toBe(ms);
  });

  test.each([
    { headers: { 'retry-after-ms': '250.5', 'retry-after': 'x' }, ms: 251 },
    { headers: { 'retry-after-ms': '1500', 'retry-after': '1' }, ms: 1_500 },
    { headers: { 'retry-after-ms': '250', 'retry-after': '1' }, ms: 1_000 },
    { headers: { 'retry-after-ms': 'soon' }, ms: undefined },
  ])('of $headers, the longest is $ms ms', ({ headers, ms }) => {
    expect(hintOf({ ...headers, date: DATE })).toBe(ms);
  });
});

describe('the retry hint', () => {
  test.each<[header: string | undefined, body: unknown, left: string | undefined, hint: number | undefined]>([
    ['10', 20, '0', 20_000],
    ['10', '5', '1', 10_000],
    ['10', undefined, '0', 10_000],
    ['soon', 20, '0', 20_000],
    [undefined, '20', undefined, 20_000],
    ['soon', undefined, '0', 40_000],
    [undefined, undefined, '0', 40_000],
    [undefined, undefined, '1', undefined],
    [undefined, undefined, undefined, undefined],
  ])('with header %s, body %s and %s calls left in a window is %s ms', (header, body, left, hint) => {
    const window = { 'x-ratelimit-remaining': left, 'x-ratelimit-reset': '40', date: DATE };

    expect(hintOf({ ...window, 'retry-after': header }, body)).toBe(hint);
  });

  test.each([-1, 'soon', null, Number.NaN, Infinity, 1e300, {}, true])('ignores retry_after: %s in a body', (value) => {
    expect(hintOf({}, value)).toBeUndefined();
  });
});

describe('X-RateLimit-Reset', () => {
  test.each([
    { reset: '0', at: NOW, unit: 'seconds from now' },
    { reset: '999999', at: NOW + 999_999_000, unit: 'seconds from now' },
    { reset: '1000000', at: undefined, unit: 'in no known unit' },
    { reset: '999999999', at: undefined, unit: 'in no known unit' },
    { reset: '1000000000', at: 1e12, unit: 'seconds of the epoch' },
    { reset: '99999999999', at: 99_999_999_999_000, unit: 'seconds of the epoch' },
    { reset: '100000000000', at: undefined, unit: 'in no known unit' },
    { reset: '1000000000000', at: 1e12, unit: 'milliseconds of the epoch' },
    { reset: '99999999999999', at: 99_999_999_999_999, unit: 'milliseconds of the epoch' },
    { reset: '100000000000000', at: undefined, unit: 'in no known unit' },
  ])('$reset is $unit', ({ reset, at }) => {
    const given = source({ 'x-ratelimit-reset': reset, date: DATE });
    const limit = parseRateLimit(given, serverTime(given, NOW + HOUR));

    expect(limit?.resetAt?.getTime()).toBe(at);
    expect(limit?.raw.reset).toBe(reset);
  });

  test('leads to a wait only if the window ends within 300 s', () => {
    const hint = (seconds: number) =>
      hintOf({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1_000 + seconds), date: DATE });

    expect([-1, 0, 1, 300, 301].map(hint)).toEqual([undefined, undefined, 1_000, 300_000, undefined]);
  });
});

describe('a local clock', () => {
  test.each([-HOUR, 24 * HOUR])('that is off by %d ms changes no wait', (skew) => {
    const epoch = String(NOW / 1_000 + 60);
    const given = source({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': epoch, date: DATE });

    expect(parseRateLimit(given, serverTime(given, NOW + skew))?.resetAfter).toBe(60_000);
    expect(hintOf({ 'retry-after': 'Thu, 15 Jan 2026 10:00:30 GMT', date: DATE }, undefined, NOW + skew)).toBe(30_000);
  });

  test('is used only if the response has no valid Date header', () => {
    expect(serverTime(source({ date: 'Thu, 15 Jan 2026 10:00:01 GMT' }), 3)).toBe(NOW + 1_000);
    expect(serverTime(source({ date: 'soon' }), 4)).toBe(4);
    expect(serverTime(source({}), 5)).toBe(5);
    expect(hintOf({ 'retry-after': 'Thu, 15 Jan 2026 10:00:30 GMT' })).toBe(30_000);
  });
});

describe('rate limit headers', () => {
  test.each([
    { reset: '2.7', after: 2_700 },
    { reset: '6m0s', after: 360_000 },
    { reset: '2026-01-15 11:00:30.5+01:00', after: 30_500 },
  ])('with the reset $reset give a window of $after ms', ({ reset, after }) => {
    expect(parseRateLimit(source({ 'x-ratelimit-reset': reset }), NOW)).toMatchObject({
      resetAfter: after,
      resetAt: new Date(NOW + after),
      raw: { reset },
    });
  });

  test.each(['', ' ', '5, 5', '-1', '1e3', '0x5', 'many', '9'.repeat(16), 'NaN', '５'])(
    'with the value %j leave their field undefined, and are kept in raw',
    (value) => {
      const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

      const limit = parseRateLimit(source(Object.fromEntries(names.map((name) => [name, value]))), NOW);

      expect(limit).toEqual({ raw: { limit: value, remaining: value, reset: value } });
    },
  );

  test('give a rate limit if at least one of the three is present', () => {
    expect(parseRateLimit(source({ 'x-ratelimit-limit': '5' }), NOW)).toMatchObject({ limit: 5, remaining: undefined });
    expect(parseRateLimit(source({ date: DATE }), NOW)).toBeUndefined();
  });
});

const anything = fc.oneof(
  anyString(),
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.constant(undefined),
);

test('any headers and any body give no hint, or a finite one of at least 0 ms', () => {
  fc.assert(
    fc.property(anything, anything, anything, anything, fc.anything(), (after, remaining, reset, date, body) => {
      const headers = { 'retry-after': after, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset, date };
      const hint = hintOf(headers, body);

      expect(hint === undefined || (Number.isFinite(hint) && hint >= 0)).toBe(true);
      const limit = parseRateLimit(source(headers), serverTime(source(headers), NOW));
      expect(Number.isNaN(limit?.resetAt?.getTime())).toBe(false);
      expect(limit?.raw.reset).toBe(limit && reset);
    }),
    { numRuns: atLength(500, 2_000) },
  );
});
