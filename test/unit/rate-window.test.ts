import { describe, expect, test } from 'vitest';
import type { RateLimitObservation } from '../../src/rate-limit/rate-limiter.js';
import { RateWindow } from '../../src/rate-limit/rate-window.js';
import { afterFirst } from '../helpers/rate-window.js';

const windowAfter = (observed: RateLimitObservation, inFlight?: number) =>
  afterFirst(new RateWindow(), observed, inFlight);

describe('the remaining requests', () => {
  test.each([
    { observed: { limit: 5, remaining: 0, resetAfter: 300_001 }, because: 'the end is too far away for a window' },
    { observed: { limit: 5, remaining: 0, resetAfter: 0 }, because: 'the window is over' },
    { observed: { limit: 5, remaining: 0 }, because: 'its end is unknown' },
    { observed: { limit: 5, resetAfter: 1_000 }, because: 'they are unknown' },
  ])('are ignored if a response says $observed: $because', ({ observed }) => {
    expect(windowAfter(observed).window.available(1)).toBe(Number.POSITIVE_INFINITY);
  });

  test('are the limit of the next window if a response names no limit', () => {
    const { window } = windowAfter({ remaining: 3, resetAfter: 1_000 });

    expect(window.available(1_000)).toBe(3);
  });

  test('never grow within a window, even if responses arrive out of order', () => {
    const { window, respond } = windowAfter({ limit: 10, remaining: 4, resetAfter: 9_000 });

    respond(10, { limit: 10, remaining: 1, resetAfter: 8_990 });
    respond(20, { limit: 10, remaining: 3, resetAfter: 9_500 });

    expect(window.available(20)).toBe(1);
    expect(window.opensAt(20)).toBe(9_000);
  });

  test('are those of a new window if its end is later', () => {
    const { window, respond } = windowAfter({ limit: 10, remaining: 1, resetAfter: 1_000 });

    respond(900, { limit: 10, remaining: 8, resetAfter: 10_000 });

    expect(window.available(900)).toBe(8);
    expect(window.opensAt(900)).toBe(10_900);
  });

  test('do not follow a late response of the last window', () => {
    const { window, respond } = windowAfter({ limit: 100, remaining: 0, resetAfter: 5_000 });
    expect(window.available(5_000)).toBe(100);

    respond(5_001, { limit: 100, remaining: 0, resetAfter: 900 });

    expect(window.available(5_001)).toBe(100);
  });

  test('follow the first response of a short window', () => {
    const { window, respond } = windowAfter({ limit: 10, remaining: 0, resetAfter: 1_000 });
    window.available(1_000);

    respond(1_001, { limit: 10, remaining: 2, resetAfter: 999 });

    expect(window.available(1_001)).toBe(2);
  });

  test('are the whole limit again if a window has no usable response for twice its length', () => {
    const { window } = windowAfter({ limit: 1, remaining: 0, resetAfter: 1_000 });
    window.available(1_000);
    window.admit();
    expect(window.available(2_999)).toBe(0);

    expect(window.opensAt(2_999)).toBe(3_000);
    expect(window.available(3_000)).toBe(1);
  });
});

describe('a 429', () => {
  test('blocks for at most one day: a longer wait is taken for a mistake', () => {
    const { window } = windowAfter({ rejected: true, retryAfter: 1e15 });

    expect(window.available(86_399_999)).toBe(0);
    expect(window.available(86_400_000)).toBe(1);
  });

  test('a 429 that asks for less, or of the same burst, does not change a block', () => {
    const { window, respond } = windowAfter({ rejected: true, retryAfter: 5_000 }, 1);
    respond(1, { rejected: true, retryAfter: 1_000 });
    expect(window.opensAt(1)).toBe(5_000);

    const burst = windowAfter({ rejected: true }, 399);
    for (let now = 1; now < 400; now += 1) burst.respond(now, { rejected: true });
    expect(burst.window.opensAt(400)).toBe(500);
  });

  test('a 429 without a wait blocks for half a second, twice as long after each block, and for 8 s at most', () => {
    const { window, respond } = windowAfter({ rejected: true });
    const blocks = [window.opensAt(0)];
    for (let n = 0; n < 6; n += 1) {
      const now = blocks.reduce((sum, block) => sum + block);
      respond(now, { rejected: true });
      blocks.push(window.opensAt(now) - now);
    }

    expect(blocks).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  test('blocks briefly again once a request was accepted after the block', () => {
    const { window, respond } = windowAfter({ rejected: true }, 1);
    respond(100, { rejected: false }); // sent before the block: says nothing
    respond(500, { rejected: true });
    expect(window.opensAt(500)).toBe(1_500);

    respond(1_500, { rejected: false });
    respond(1_600, { rejected: true });

    expect(window.opensAt(1_600)).toBe(2_100);
  });

  test('is followed by as many requests at once as were accepted during the block', () => {
    const { window, respond } = windowAfter({ rejected: true }, 100);
    for (let n = 0; n < 100; n += 1) respond(100 + n, { rejected: false });
    expect(window.available(499)).toBe(0);

    expect(window.available(500)).toBe(101);
    for (let n = 0; n < 101; n += 1) window.admit();

    expect(window.opensAt(500)).toBeCloseTo(500 + 1_000 * Math.log2(116 / 115), 3);
    expect(window.available(1_500)).toBe(115);
  });

  test('is followed by 15 requests in the first second, and twice as many in each later one', () => {
    const { window } = windowAfter({ rejected: true });
    const sentBy = [500, 1_500, 2_500, 3_500].map((now) => {
      let sent = 0;
      for (; window.available(now) > 0; sent += 1) window.admit();
      return sent;
    });

    expect(sentBy).toEqual([1, 15, 30, 60]);
  });

  test('lets one request through whenever it says that one may be sent', () => {
    const { window } = windowAfter({ rejected: true });
    for (let sent = 0; sent < 5_000; sent += 1) {
      const now = window.opensAt(0);
      expect(window.available(now)).toBe(1);
      window.admit();
    }
  });
});
