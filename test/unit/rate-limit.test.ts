import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HeaderSource } from '../../src/api-promise.js';
import { parseRateLimit, retryHint, ServerClock, untilReset } from '../../src/transport/rate-limit.js';
import { anyString } from '../helpers/strings.js';

/** The answer's own clock, and ours. */
const DATE = 'Thu, 15 Jan 2026 10:00:00 GMT';
const NOW = Date.UTC(2026, 0, 15, 10);
const HOUR = 3_600_000;

const source = (headers: Record<string, string | undefined>) => ({
  get: (name: string) => headers[name],
  toHeaders: () => new Headers(),
});

/** The time by the answer's clock, or by ours. */
const nowBy = (given: HeaderSource, wallClock: number) => new ServerClock().read(given, wallClock);

const hintOf = (headers: Record<string, string | undefined>, bodyHint?: unknown, wallClock = NOW) => {
  const given = source(headers);
  const now = nowBy(given, wallClock);
  return retryHint(given, bodyHint, parseRateLimit(given, now), now);
};

describe('Retry-After', () => {
  test.each([
    { value: '0', ms: 0, because: 'now' },
    { value: '5', ms: 5_000, because: 'seconds' },
    { value: ' 5\t', ms: 5_000, because: 'white space around it is trimmed' },
    { value: '007', ms: 7_000, because: 'digits, whatever the first ones are' },
    { value: '3600', ms: HOUR, because: 'seconds' },
    { value: '99999999999', ms: 99_999_999_999_000, because: 'digits: too long is for others to say' },
    { value: '9'.repeat(400), ms: Number.MAX_SAFE_INTEGER, because: 'digits, as large as a number is exact' },
    { value: 'Thu, 15 Jan 2026 10:00:30 GMT', ms: 30_000, because: 'the preferred date' },
    { value: 'Thursday, 15-Jan-26 10:00:30 GMT', ms: 30_000, because: 'the date of RFC 850' },
    { value: 'Thu Jan 15 10:00:30 2026', ms: 30_000, because: 'the date of asctime' },
    { value: 'Thu Jan  8 10:00:30 2026', ms: 0, because: 'a past date of asctime, with a space for a digit' },
    { value: 'Thu, 15 Jan 2026 09:59:00 GMT', ms: 0, because: 'a date that has passed means now' },
    { value: '5s', ms: undefined, because: 'a unit' },
    { value: '0x10', ms: undefined, because: 'hexadecimal' },
    { value: '1e9', ms: undefined, because: 'an exponent' },
    { value: '-5', ms: undefined, because: 'negative' },
    { value: '+5', ms: undefined, because: 'a sign' },
    { value: '', ms: undefined, because: 'empty' },
    { value: 'Infinity', ms: undefined, because: 'a word' },
    { value: '5.5', ms: undefined, because: 'a fraction' },
    { value: '5, 5', ms: 5_000, because: 'sent twice, as proxies do' },
    { value: '2, 5, 3', ms: 5_000, because: 'the largest of several' },
    { value: '5, x, -9', ms: 5_000, because: 'those that are not valid do not count' },
    { value: '5, Thu, 15 Jan 2026 10:00:30 GMT', ms: 30_000, because: 'a number and a date' },
    { value: 'Thursday, 15-Jan-26 10:00:30 GMT, 60', ms: 60_000, because: 'a date and a number' },
    { value: 'x, y', ms: undefined, because: 'none is valid' },
    { value: '2026-01-15T10:00:30Z', ms: undefined, because: 'a date, but not of HTTP' },
    { value: 'Jan 15 2026', ms: undefined, because: 'a date only Date.parse would guess at' },
    { value: 'Thu, 15 Jan 2026 10:00:30', ms: undefined, because: 'no time zone' },
    { value: 'Thu, 99 Jan 2026 10:00:30 GMT', ms: undefined, because: 'no such day' },
    { value: '٥', ms: undefined, because: 'digits of another script' },
  ])('$value is $ms ms: $because', ({ value, ms }) => {
    expect(hintOf({ 'retry-after': value, date: DATE })).toBe(ms);
  });
});

describe('the hint', () => {
  const windowEnds = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '40', date: DATE };
  const headers = [
    { 'retry-after': '10', value: 10_000 },
    { 'retry-after': 'soon', value: undefined },
    { 'retry-after': undefined, value: undefined },
  ];
  const bodies = [
    { body: 20, value: 20_000 },
    { body: '20', value: undefined },
    { body: undefined, value: undefined },
  ];
  const windows = [
    { name: 'an empty window', window: windowEnds, value: 40_000 },
    { name: 'a window with a rest', window: { ...windowEnds, 'x-ratelimit-remaining': '1' }, value: undefined },
    { name: 'no window', window: { date: DATE }, value: undefined },
  ];
  const all = headers.flatMap((header) =>
    bodies.flatMap((body) => windows.map((window) => ({ header, body, window }))),
  );

  test.each(all)(
    'with header $header.retry-after, body $body.body and $window.name is the longest said, else the window’s end',
    ({ header, body, window }) => {
      const said = [header.value, body.value].filter((value) => value !== undefined);
      const expected = said.length > 0 ? Math.max(...said) : window.value;

      expect(hintOf({ ...window.window, 'retry-after': header['retry-after'] }, body.body)).toBe(expected);
    },
  );

  test.each([-1, 1.5, '5', null, undefined, Number.NaN, Infinity, 1e300, {}, true])('ignores %s in a body', (value) => {
    expect(hintOf({}, value)).toBeUndefined();
  });
});

describe('X-RateLimit-Reset', () => {
  test.each([
    { reset: '0', at: NOW, unit: 'seconds from now' },
    { reset: '60', at: NOW + 60_000, unit: 'seconds from now' },
    { reset: '999999', at: NOW + 999_999_000, unit: 'seconds from now' },
    { reset: '1000000', at: undefined, unit: 'nothing known' },
    { reset: '999999999', at: undefined, unit: 'nothing known' },
    { reset: '1000000000', at: 1e12, unit: 'seconds of the epoch' },
    { reset: String((NOW + 60_000) / 1_000), at: NOW + 60_000, unit: 'seconds of the epoch' },
    { reset: '99999999999', at: 99_999_999_999_000, unit: 'seconds of the epoch' },
    { reset: '100000000000', at: undefined, unit: 'nothing known' },
    { reset: '1000000000000', at: 1e12, unit: 'milliseconds of the epoch' },
    { reset: String(NOW + 60_000), at: NOW + 60_000, unit: 'milliseconds of the epoch' },
    { reset: '99999999999999', at: 99_999_999_999_999, unit: 'milliseconds of the epoch' },
    { reset: '100000000000000', at: undefined, unit: 'nothing known' },
  ])('$reset is $unit', ({ reset, at }) => {
    const given = source({ 'x-ratelimit-reset': reset, date: DATE });
    const limit = parseRateLimit(given, nowBy(given, NOW + HOUR));

    expect(limit?.resetAt?.getTime()).toBe(at);
    expect(limit?.raw.reset).toBe(reset);
  });

  test('waits for a window only when its end lies within 300 s', () => {
    const hint = (seconds: number) =>
      hintOf({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1_000 + seconds), date: DATE });

    expect([-1, 0, 1, 300, 301].map(hint)).toEqual([undefined, undefined, 1_000, 300_000, undefined]);
  });
});

describe('a clock that is off', () => {
  test.each([HOUR, -HOUR, 24 * HOUR, -24 * HOUR])('by %d ms changes no wait', (skew) => {
    const epoch = String(NOW / 1_000 + 60);
    const given = source({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': epoch, date: DATE });
    const now = nowBy(given, NOW + skew);
    const limit = parseRateLimit(given, now);

    expect(limit && untilReset(limit, now)).toBe(60_000);
    expect(hintOf({ 'retry-after': 'Thu, 15 Jan 2026 10:00:30 GMT', date: DATE }, undefined, NOW + skew)).toBe(30_000);
  });

  test('is told by each answer, not by the first one', () => {
    const clock = new ServerClock();

    expect(clock.read(source({ date: DATE }), 1)).toBe(NOW);
    expect(clock.read(source({ date: DATE }), 2)).toBe(NOW);
    expect(clock.read(source({ date: 'Thu, 15 Jan 2026 10:00:01 GMT' }), 3)).toBe(NOW + 1_000);
    expect(clock.read(source({ date: 'soon' }), 4)).toBe(4);
    expect(clock.read(source({}), 5)).toBe(5);
  });

  test('is used where the answer has no date of its own', () => {
    expect(hintOf({ 'retry-after': 'Thu, 15 Jan 2026 10:00:30 GMT' })).toBe(30_000);
    expect(hintOf({ 'retry-after': 'Thu, 15 Jan 2026 10:00:30 GMT', date: 'yesterday' })).toBe(30_000);
  });
});

describe('headers that are no numbers', () => {
  test.each(['', ' ', '5, 5', '-1', '1.5', '1e3', '0x5', 'many', '9'.repeat(16), 'NaN', '５'])(
    '%j leaves the field undefined and is kept raw',
    (value) => {
      const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

      expect(parseRateLimit(source(Object.fromEntries(names.map((name) => [name, value]))), NOW)).toEqual({
        limit: undefined,
        remaining: undefined,
        resetAt: undefined,
        raw: { limit: value, remaining: value, reset: value },
      });
    },
  );

  test('one of the three is enough; without any there is no rate limit', () => {
    expect(parseRateLimit(source({ 'x-ratelimit-limit': '5' }), NOW)).toMatchObject({ limit: 5, remaining: undefined });
    expect(parseRateLimit(source({ date: DATE }), NOW)).toBeUndefined();
  });
});

const anything = fc.oneof(
  anyString(),
  fc.integer().map(String),
  fc.double().map(String),
  fc.bigInt().map(String),
  fc
    .date()
    .filter((date) => !Number.isNaN(date.getTime()))
    .map((date) => date.toUTCString()),
  fc.constant(undefined),
);

test('any headers and any body give no hint, or one of at least 0 ms that is a number', () => {
  fc.assert(
    fc.property(anything, anything, anything, anything, fc.anything(), (after, remaining, reset, date, body) => {
      const headers = { 'retry-after': after, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset, date };
      const hint = hintOf(headers, body);

      expect(hint === undefined || (Number.isFinite(hint) && hint >= 0)).toBe(true);
      const limit = parseRateLimit(source(headers), nowBy(source(headers), NOW));
      expect(Number.isNaN(limit?.resetAt?.getTime())).toBe(false);
      expect(limit?.raw.reset).toBe(limit && reset);
    }),
    { numRuns: 2_000 },
  );
});

test('a header of 100 kB is read in no time', () => {
  const value = 'Thu, '.repeat(20_000);
  const started = performance.now();
  hintOf({ 'retry-after': value, date: value, 'x-ratelimit-reset': '1'.repeat(100_000) });

  expect(performance.now() - started).toBeLessThan(50);
});
