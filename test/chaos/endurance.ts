/** The tests that are short in `npm test`, at full length: ten thousand streams, every browser, every proxy. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Runs the test files that use `test/helpers/endurance.ts`. Returns whether all of them pass. */
export function runEndurance(): boolean {
  return run(testFiles(/\/endurance\.js'/));
}

/** Runs the test files that have properties, with cases that nobody has tried. Returns whether all of them pass. */
export function exploreProperties(seed = randomInt(2 ** 31)): boolean {
  const passed = run(testFiles(/'fast-check'|PROPERTY_SEED/), { PROPERTY_SEED: String(seed) });
  console.log(`Properties with seed ${seed}. To run them again: npm run chaos -- --explore ${seed}`);
  return passed;
}

function testFiles(content: RegExp): string[] {
  return ['test', 'emulator/test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith('.test.ts') && content.test(readFileSync(join(root, file), 'utf8'))),
  );
}

function run(files: readonly string[], settings: Record<string, string> = {}): boolean {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, ENDURANCE: '1', ...settings };
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...files], { cwd: root, stdio: 'inherit', env });
  return status === 0;
}
