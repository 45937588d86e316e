import { expect, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { testFairShares } from './fair-shares.js';
import { runFleet } from './fleet.js';
import { missing } from './redis-server.js';

testFairShares('', 'none', 'killed');

test.skipIf(missing || !AT_LENGTH)(
  'processes take turns if they are more than the limit',
  { timeout: 120_000 },
  async () => {
    const scarce = { processes: 8, limit: 5, window: 2_000, windows: 20, trouble: 'none' } as const;
    const { fairness, failed } = await runFleet(scarce);

    expect(fairness).toBeGreaterThanOrEqual(0.5);
    expect(failed).toEqual([]);
  },
);
