import { describe, expect, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { runFleet, TROUBLES, type Trouble } from './fleet.js';
import { missing } from './redis-server.js';

const plan = { processes: 8, limit: 300, window: 6_000, windows: 5 };

describe.skipIf(missing || !AT_LENGTH)('processes that call at four times the rate limit', () => {
  test.each(Object.keys(TROUBLES) as Trouble[])(
    'use up the limit with hardly a 429, in fair shares: %s',
    async (trouble) => {
      const { used, refusedShare, fairness, failed } = await runFleet({ ...plan, trouble });

      expect(used).toBeGreaterThanOrEqual(0.95);
      expect(refusedShare).toBeLessThanOrEqual(0.01);
      expect(fairness).toBeGreaterThanOrEqual(0.5);
      expect(failed).toEqual([]);
    },
    120_000,
  );
});
