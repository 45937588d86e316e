import { describe, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { expectFairShares } from './fair-shares.js';
import { missing } from './redis-server.js';

// Beside fleet.system.test.ts, so that both run at once.
describe.skipIf(missing || !AT_LENGTH)('processes that call at four times the rate limit, while Redis fails,', () => {
  test.each(['emptied', 'outage', 'frozen'] as const)(
    'use up the limit with hardly a 429, in fair shares: %s',
    expectFairShares,
    120_000,
  );
});
