import { describe, expect, test } from 'vitest';
import { openPostgres, openSqlite, type TestDatabase } from './databases.js';
import { POSTGRES } from './postgres-server.js';
import { type ProcessRun, runProcesses, withProgram } from './processes.js';

/** `npm run chaos` plays for longer. */
const SECONDS = 3;

type More = Pick<ProcessRun, 'processes' | 'seconds' | 'mutant'>;

function play(open: (folder: string) => Promise<TestDatabase>, more: More): Promise<readonly string[]> {
  return withProgram(async (program, folder) => {
    const database = await open(folder);
    try {
      const { violations } = await runProcesses({ program, database, seed: 17, ...more });
      return violations;
    } finally {
      await database.close();
    }
  });
}

const inPostgres = (): Promise<TestDatabase> => openPostgres(POSTGRES ?? '');

test('a missing postgres is reported', () => {
  if (POSTGRES === undefined) console.warn('SKIPPED: PostgreSQL is not installed here, so no processes share one.');
  expect(process.env.REQUIRE_POSTGRES ? POSTGRES : 'not required').toBeDefined();
});

describe.each([2, 4])('%i chat servers that are killed at random', (processes) => {
  test('lose and mix up nothing in SQLite', async () => {
    expect(await play(openSqlite, { processes, seconds: SECONDS })).toEqual([]);
  });

  test.skipIf(POSTGRES === undefined)('lose and mix up nothing in PostgreSQL', async () => {
    expect(await play(inPostgres, { processes, seconds: SECONDS })).toEqual([]);
  });
});

test('a store is noticed that does not check edits or the newest message, stores twice, or loses replies', async () => {
  const mutants = ['edits', 'newest', 'twice', 'lost'] as const;
  const found = await Promise.all(mutants.map((mutant) => play(openSqlite, { processes: 2, seconds: 0, mutant })));

  const what = [/replies to nothing/, /which it never saw/, /stored twice/, /acknowledged, and not stored/];
  for (const [at, pattern] of what.entries()) expect(found[at]?.join('\n')).toMatch(pattern);
});
