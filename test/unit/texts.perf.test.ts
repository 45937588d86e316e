import { describe, expect, test } from 'vitest';
import { safeCause } from '../../src/errors/cause.js';
import { callerTexts, withoutEcho } from '../../src/errors/echo.js';
import { Redactor } from '../../src/errors/redactor.js';
import { parseRateLimit, parseRetryAfter, serverTime } from '../../src/rate-limit/headers.js';

/** In microseconds. */
function cost(work: () => unknown): number {
  const startedAt = process.cpuUsage();
  work();
  return process.cpuUsage(startedAt).user;
}

/** For eight times as much. Quadratic time would take 64 times as long. Times below 20 ms are noise. */
function expectLinear(once: number, eightTimes: number): void {
  expect(eightTimes / Math.max(once, 20_000)).toBeLessThan(32);
}

describe('a text from the service', () => {
  test.each([
    { what: 'one letter', text: 'a'.repeat(2_000), content: 'a'.repeat(50_000) },
    { what: 'two letters', text: 'ab'.repeat(1_000), content: `${'ab'.repeat(8)}x`.repeat(3_000) },
    { what: 'escapes', text: '&amp;#x'.repeat(300), content: '&amp;#x26;'.repeat(5_000) },
    { what: 'short texts', text: '12345678'.repeat(250), content: '12345678' },
  ])('of repeated $what is compared in linear time', ({ text, content }) => {
    const costOf = (times: number): number => {
      const texts = callerTexts(JSON.stringify(Array(times).fill({ content })));
      return cost(() => withoutEcho(text, texts));
    };

    expectLinear(costOf(1), costOf(8));
  });

  test.each(['&#43;', '&amp;', '&', '%25', '\\', '&#x0000', 'k9Zq+Vt3/', 'svc_sk_'])(
    'of 100 kB of %j is searched for credentials in linear time',
    (part) => {
      const text = part.repeat(100_000 / part.length);
      const costOf = (times: number): number =>
        cost(() => new Redactor('Bearer k9Zq+Vt3/Lm8xQ7wR2sD5fG1hJ4==').mask(text.repeat(times)));

      expectLinear(costOf(1), costOf(8));
    },
  );
});

test.each(['@:1', '@:1:1', '@', ':1', '    at x\n', 'a@b:1:1\n', '\n', '    at '])(
  'the error of a platform with %j 33,000 times in its text is copied in linear time',
  (part) => {
    const costOf = (times: number): number => {
      const error = new TypeError(part.repeat(times));
      return cost(() => {
        const cause = safeCause(error, new Redactor()) as Error;
        expect(cause.stack?.length).toBeLessThan(100_000);
      });
    };

    expectLinear(costOf(33_000), costOf(264_000));
  },
);

test('headers of 100 kB take less than 50 ms of CPU time', { retry: 4 }, () => {
  const value = 'Thu, '.repeat(20_000);
  const headers: Record<string, string> = {
    'retry-after': value,
    date: value,
    'x-ratelimit-reset': '1'.repeat(100_000),
  };
  const source = { get: (name: string) => headers[name], toHeaders: () => new Headers() };

  const taken = cost(() => {
    const now = serverTime(source, Date.UTC(2026, 0, 15, 10));
    parseRetryAfter(source, now);
    parseRateLimit(source, now);
  });

  expect(taken).toBeLessThan(50_000);
});
