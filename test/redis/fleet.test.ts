import { describe, expect, test } from 'vitest';
import { AT_LENGTH, atLength } from '../helpers/endurance.js';
import { runFleet, TROUBLES, type Trouble } from './fleet.js';
import { missing } from './redis-server.js';

// The whole proof at length; else as much as shows a mistake in some seconds.
const plan = {
  processes: atLength(4, 8),
  limit: atLength(60, 300),
  window: atLength(3_000, 6_000),
  windows: atLength(3, 5),
};
const troubles = AT_LENGTH ? (Object.keys(TROUBLES) as Trouble[]) : (['none'] as const);

describe.skipIf(missing || !AT_LENGTH)('processes that want four times what the limit allows', () => {
  test.each(troubles)(
    'use it to its edge without refusals, each its part: %s',
    async (trouble) => {
      const { used, refusedShare, fairness, failed } = await runFleet({ ...plan, trouble });

      // What is lost and refused around one trouble is the same number in a short run, and a larger share of it.
      expect(used).toBeGreaterThanOrEqual(AT_LENGTH ? 0.95 : 0.85);
      expect(refusedShare).toBeLessThanOrEqual(AT_LENGTH ? 0.01 : 0.05);
      expect(fairness).toBeGreaterThanOrEqual(0.5);
      expect(failed).toEqual([]);
    },
    120_000,
  );
});
