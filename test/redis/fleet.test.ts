import { describe, expect, test } from 'vitest';
import { AT_LENGTH, atLength } from '../helpers/endurance.js';
import { runFleet, TROUBLES, type Trouble } from './fleet.js';
import { missing } from './redis-server.js';

// The full test if run at length, and otherwise enough to find a mistake in a few seconds.
const plan = {
  processes: atLength(4, 8),
  limit: atLength(60, 300),
  window: atLength(3_000, 6_000),
  windows: atLength(3, 5),
};
const troubles = AT_LENGTH ? (Object.keys(TROUBLES) as Trouble[]) : (['none'] as const);

describe.skipIf(missing || !AT_LENGTH)('processes that call at four times the rate limit', () => {
  test.each(troubles)(
    'use up the limit with hardly a 429, in fair shares: %s',
    async (trouble) => {
      const { used, refusedShare, fairness, failed } = await runFleet({ ...plan, trouble });

      // A short run has as many 429s around a trouble as a long one, so they are a larger share.
      expect(used).toBeGreaterThanOrEqual(AT_LENGTH ? 0.95 : 0.85);
      expect(refusedShare).toBeLessThanOrEqual(AT_LENGTH ? 0.01 : 0.05);
      expect(fairness).toBeGreaterThanOrEqual(0.5);
      expect(failed).toEqual([]);
    },
    120_000,
  );
});
