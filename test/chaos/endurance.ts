/** The tests that are short in `npm test`, at full length: ten thousand streams, every browser, every proxy. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Test files that use `test/helpers/endurance.ts`. */
const files = ['test', 'emulator/test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith('.test.ts') && /\/endurance\.js'/.test(readFileSync(join(root, file), 'utf8'))),
);

/** Returns whether all of them pass. */
export function runEndurance(): boolean {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, ENDURANCE: '1' };
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...files], { cwd: root, stdio: 'inherit', env });
  return status === 0;
}
