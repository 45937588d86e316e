import { describe, expect, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { runFleet, type Trouble } from './fleet.js';
import { missing } from './redis-server.js';

/** Longer than most of a window: processes use their own shares, and join the others again at different times. */
const OUTAGES: readonly Trouble[] = ['outage', 'frozen'];

/** Runs eight processes against one limit, and expects that they use it up, with hardly a 429 and in fair shares. */
async function expectFairShares(trouble: Trouble): Promise<void> {
  const plan = { processes: 8, limit: 300, window: 6_000, windows: 5, trouble };
  const { used, refusedShare, fairness, failed } = await runFleet(plan);

  const isOutage = OUTAGES.includes(trouble);
  // Without the limiter, 0.75 would be rejected. A busy machine wakes a process late, at the end of its window.
  expect(used).toBeGreaterThanOrEqual(isOutage ? 0.9 : 0.95);
  expect(refusedShare).toBeLessThanOrEqual(isOutage ? 0.05 : 0.03);
  expect(fairness).toBeGreaterThanOrEqual(0.5);
  expect(failed).toEqual([]);
}

/** The tests of one file. The files run at once. */
export function testFairShares(title: string, ...troubles: Trouble[]): void {
  describe.skipIf(missing || !AT_LENGTH)(`processes that call at four times the rate limit${title}`, () => {
    test.each(troubles)('use up the limit with hardly a 429, in fair shares: %s', expectFairShares, 120_000);
  });
}
