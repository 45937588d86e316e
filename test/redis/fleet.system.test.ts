import { describe, expect, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { expectFairShares } from './fair-shares.js';
import { runFleet } from './fleet.js';
import { missing } from './redis-server.js';

describe.skipIf(missing || !AT_LENGTH)('processes that call at four times the rate limit', () => {
  test.each(['none', 'killed'] as const)(
    'use up the limit with hardly a 429, in fair shares: %s',
    expectFairShares,
    120_000,
  );

  test('take turns if they are more than the limit', async () => {
    const scarce = { processes: 8, limit: 5, window: 2_000, windows: 20, trouble: 'none' } as const;
    const { fairness, failed } = await runFleet(scarce);

    expect(fairness).toBeGreaterThanOrEqual(0.5);
    expect(failed).toEqual([]);
  }, 120_000);
});
