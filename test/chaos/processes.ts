/** Chat servers that are killed at random, over databases that fail: what pages were told is stored, once and in its place. */
import { randomInt } from 'node:crypto';
import { openPostgres, openSqlite, type TestDatabase } from '../stores/databases.js';
import { POSTGRES } from '../stores/postgres-server.js';
import { runProcesses, summaryOf, withProgram } from '../stores/processes.js';

/** Plays for some seconds on each database, half of them with two servers, half with four. Returns whether all is right. */
export function playProcesses(seconds: number, seed = randomInt(2 ** 31)): Promise<boolean> {
  console.log(
    `\nChat servers over one database, with seed ${seed}. Again: npm run chaos -- --processes ${seconds} ${seed}`,
  );
  return withProgram(async (program, folder) => {
    let isRight = true;
    const opens = [() => openSqlite(folder), ...(POSTGRES === undefined ? [] : [() => openPostgres(POSTGRES ?? '')])];
    for (const open of opens)
      for (const processes of [2, 4])
        isRight = (await playOn(await open(), { program, processes, seconds: seconds / 2, seed })) && isRight;
    if (POSTGRES !== undefined) return isRight;
    const isRequired = Boolean(process.env.REQUIRE_POSTGRES);
    console.log(
      `  PostgreSQL    ${isRequired ? '✗ REQUIRE_POSTGRES is set, and' : 'SKIPPED:'} it is not installed here`,
    );
    return isRight && !isRequired;
  });
}

async function playOn(
  database: TestDatabase,
  options: { program: string; processes: number; seconds: number; seed: number },
): Promise<boolean> {
  const outcome = await runProcesses({ ...options, database });
  await database.close();
  console.log(`  ${database.kind.padEnd(13)} ${options.processes} processes: ${summaryOf(outcome)}`);
  for (const violation of outcome.violations.slice(0, 20)) console.log(`    ✗ ${violation}`);
  return outcome.violations.length === 0;
}
