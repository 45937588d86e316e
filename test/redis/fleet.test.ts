import { describe, expect, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { runFleet, TROUBLES, type Trouble } from './fleet.js';
import { missing } from './redis-server.js';

const plan = { processes: 8, limit: 300, window: 6_000, windows: 5 };
/** Longer than most of a window: processes use their own shares, and join the others again at different times. */
const OUTAGES: readonly Trouble[] = ['outage', 'frozen'];

describe.skipIf(missing || !AT_LENGTH)('processes that call at four times the rate limit', () => {
  test.each(Object.keys(TROUBLES) as Trouble[])(
    'use up the limit with hardly a 429, in fair shares: %s',
    async (trouble) => {
      const { used, refusedShare, fairness, failed } = await runFleet({ ...plan, trouble });

      const isOutage = OUTAGES.includes(trouble);
      expect(used).toBeGreaterThanOrEqual(isOutage ? 0.9 : 0.95);
      expect(refusedShare).toBeLessThanOrEqual(isOutage ? 0.02 : 0.01);
      expect(fairness).toBeGreaterThanOrEqual(0.5);
      expect(failed).toEqual([]);
    },
    120_000,
  );

  test('take turns if they are more than the limit', async () => {
    const scarce = { processes: 8, limit: 5, window: 2_000, windows: 20, trouble: 'none' } as const;
    const { fairness, failed } = await runFleet(scarce);

    expect(fairness).toBeGreaterThanOrEqual(0.5);
    expect(failed).toEqual([]);
  }, 120_000);
});
