import { describe, expect, test } from 'vitest';
import type { RateLimitObservation } from '../../src/rate-limit/rate-limiter.js';
import { SharedWindow } from '../../src/redis/shared-window.js';
import { afterFirst } from '../helpers/rate-window.js';

const windowAfter = (observed: RateLimitObservation, inFlight?: number) =>
  afterFirst(new SharedWindow(), observed, inFlight);

describe('a share of the limit', () => {
  /** Sends as many requests as possible, each of which has ended before the next. */
  const sendAll = (window: SharedWindow, now: number) => {
    let sent = 0;
    for (; window.available(now) > 0; sent += 1) window.release(window.admit(), {}, now);
    return sent;
  };

  test('is an equal part of the rest of the window, and of every later window', () => {
    const { window } = windowAfter({ limit: 100, remaining: 40, resetAfter: 5_000 });
    window.split(4);

    expect(sendAll(window, 1)).toBe(10);
    expect(sendAll(window, 5_000)).toBe(25);
    expect(sendAll(window, 14_999)).toBe(0);
    expect(sendAll(window, 15_000)).toBe(25);
  });

  test('does not include the requests in flight', () => {
    const { window } = windowAfter({ limit: 100, remaining: 40, resetAfter: 5_000 });
    const sent = Array.from({ length: 4 }, () => window.admit());
    window.split(4);
    for (const index of sent) window.release(index, {}, 1);

    expect(sendAll(window, 1)).toBe(6);
  });

  test('is used a few requests at a time, and at least one', () => {
    const { window } = windowAfter({ limit: 100, remaining: 100, resetAfter: 5_000 });
    window.split(4);
    expect(window.available(1)).toBe(7); // a quarter of 25
    for (let n = 0; n < 5; n += 1) window.admit();
    expect(window.available(1)).toBe(2);

    const scarce = windowAfter({ limit: 3, remaining: 3, resetAfter: 5_000 }).window;
    scarce.split(30);
    expect(sendAll(scarce, 1)).toBe(1);
    expect(sendAll(scarce, 5_000)).toBe(1);
  });

  test('is not more than what the service says remains', () => {
    const { window, respond } = windowAfter({ limit: 100, remaining: 100, resetAfter: 5_000 });
    window.split(4);
    respond(1, { limit: 100, remaining: 3, resetAfter: 4_999 });
    window.admit();

    expect(window.available(1)).toBe(2);
  });

  test('applies as soon as a limit is known', () => {
    const window = new SharedWindow();
    window.split(4);
    const index = window.admit();
    expect(window.available(0)).toBe(Number.POSITIVE_INFINITY);

    window.release(index, { limit: 100, remaining: 80, resetAfter: 5_000 }, 0);

    expect(sendAll(window, 1)).toBe(20);
  });
});

describe('the state that processes tell each other', () => {
  const UNKNOWN = { limit: 0, remaining: 0, resetAfter: 0, retryAfter: 0 };

  test('has the figures of the window until it ends, and the block', () => {
    const { window, respond } = windowAfter({ limit: 100, remaining: 40, resetAfter: 5_000 }, 1);
    const known = { limit: 100, remaining: 40, resetAfter: 4_000, retryAfter: 0 };
    expect(window.state(1_000)).toEqual({ window: 1, inFlight: 1, ...known });

    respond(4_000, { rejected: true, retryAfter: 2_000 });

    expect(window.state(5_000)).toEqual({ ...UNKNOWN, window: 1, inFlight: 0, retryAfter: 1_000 });
    window.available(6_001);
    expect(window.state(6_001)).toEqual({ ...UNKNOWN, window: 2, inFlight: 0 });
  });

  test('counts as in flight only requests of the window that the others are in', () => {
    const window = new SharedWindow();
    window.admit();
    window.sync({ ...UNKNOWN, window: 1 }, 0);
    expect(window.state(0).inFlight).toBe(1);

    window.sync({ ...UNKNOWN, window: 5 }, 0);

    expect(window.state(0)).toMatchObject({ window: 5, inFlight: 0 });
    expect(window.admit()).toBe(5);
  });

  test('is followed: the lowest remaining requests, and the longest block', () => {
    const { window } = windowAfter({ limit: 100, remaining: 40, resetAfter: 5_000 });
    window.sync({ window: 1, limit: 100, remaining: 30, resetAfter: 5_000, retryAfter: 0 }, 0);
    window.sync({ window: 1, limit: 100, remaining: 35, resetAfter: 5_000, retryAfter: 0 }, 0);
    expect(window.available(10_000)).toBe(100);
    expect(window.state(0).retryAfter).toBe(0);

    window.sync({ ...UNKNOWN, window: 1, retryAfter: 3_000 }, 10_000);
    window.sync({ ...UNKNOWN, window: 1, retryAfter: 2_000 }, 10_000);

    expect(window.available(12_999)).toBe(0);
    expect(window.available(13_000)).toBe(1);
  });

  test('says once that there was a block, however often it is told', () => {
    const window = new SharedWindow();
    window.sync({ ...UNKNOWN, window: 1, retryAfter: 1_000 }, 0);
    window.sync({ ...UNKNOWN, window: 1, retryAfter: 50 }, 1_000);
    expect(window.available(1_000)).toBe(1);

    window.release(window.admit(), { rejected: true }, 1_000);

    expect(window.opensAt(1_000)).toBe(2_000); // twice the first wait
  });
});
