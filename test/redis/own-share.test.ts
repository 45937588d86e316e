import { expect, test } from 'vitest';
import { OwnShare } from '../../src/redis/own-share.js';
import type { Known, Step } from '../../src/redis/script.js';

/** One of four processes that has just lost Redis. */
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
  /** Asks again and again, with nothing in flight. */
  const all = (): number => {
    let sum = 0;
    for (let granted = -1; granted !== 0; sum += granted) granted = ask(1_000).granted;
    return sum;
  };
  return { ask, all, pass: (ms: number) => (now += ms) };
}

test('it is an equal part of what the window has left, and of every later window', () => {
  const { all, pass } = alone({ limit: 100, remaining: 40, untilReset: 5_000 });

  expect(all()).toBe(10);
  pass(5_000);
  expect(all()).toBe(25);
});

test('answers that tell of less make it smaller', () => {
  const { ask, all } = alone({ limit: 100, remaining: 40, untilReset: 5_000 });

  ask(0, { observed: { limit: 100, remaining: 3, untilReset: 5_000 } });

  expect(all()).toBeLessThanOrEqual(10);
  expect(ask(10, { inFlight: 3 }).granted).toBe(0);
});

test('a late answer of the last window does not close the next one', () => {
  const { ask, all, pass } = alone({ limit: 100, remaining: 0, untilReset: 5_000 });
  pass(5_000);

  ask(0, { observed: { limit: 100, remaining: 0, untilReset: 900 } });

  expect(all()).toBe(25);
});

test('a hint is kept, and where no limit is known nothing is held back', () => {
  const { ask } = alone(undefined);

  expect(ask(50, { remembered: { known: undefined, blockedFor: 700 } })).toMatchObject({ granted: 0, again: 700 });
  expect(ask(50).granted).toBe(50);
});
