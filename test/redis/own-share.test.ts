import { expect, test } from 'vitest';
import { OwnShare } from '../../src/redis/own-share.js';
import type { Known, Step } from '../../src/redis/script.js';

/** One of four processes, which has just lost its connection to Redis. */
function alone(known: Known | undefined) {
  let now = 0;
  const share = new OwnShare(() => now);
  share.takeOver({ granted: 0, again: 0, window: 3, known, length: 10_000, blockedFor: 0, processes: 4 });
  let window = 3;
  const ask = (wanted: number, more: Partial<Step> = {}) => {
    const remembered = { known, blockedFor: 0 };
    const counted = { inFlight: 0, served: 0, unexplained: 0, observed: undefined, blockedFor: 0 };
    const turn = share.step({ wanted, window, ...counted, remembered, processes: 4, ...more });
    window = turn.window;
    return turn;
  };
  /** Asks until nothing is granted, with nothing in flight. */
  const all = (): number => {
    let sum = 0;
    for (let granted = -1; granted !== 0; sum += granted) granted = ask(1_000).granted;
    return sum;
  };
  return { ask, all, pass: (ms: number) => (now += ms) };
}

test('the share is an equal part of the rest of the window, and of every later window', () => {
  const { all, pass } = alone({ limit: 100, remaining: 40, untilReset: 5_000 });

  expect(all()).toBe(10);
  pass(5_000);
  expect(all()).toBe(25);
});

test('a response with fewer remaining calls reduces the share', () => {
  const { ask, all } = alone({ limit: 100, remaining: 40, untilReset: 5_000 });

  ask(0, { observed: { limit: 100, remaining: 3, untilReset: 5_000 } });

  expect(all()).toBeLessThanOrEqual(10);
  expect(ask(10, { inFlight: 3 }).granted).toBe(0);
});

test('a late response from the last window does not block the next one', () => {
  const { ask, all, pass } = alone({ limit: 100, remaining: 0, untilReset: 5_000 });
  pass(5_000);

  ask(0, { observed: { limit: 100, remaining: 0, untilReset: 900 } });

  expect(all()).toBe(25);
});

test('a retry-after is respected, and without a known limit every call is granted', () => {
  const { ask } = alone(undefined);

  expect(ask(50, { remembered: { known: undefined, blockedFor: 700 } })).toMatchObject({ granted: 0, again: 700 });
  expect(ask(50).granted).toBe(50);
});
