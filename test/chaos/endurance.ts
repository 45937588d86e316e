/** The tests that are short in `npm test`, at full length: ten thousand streams, every browser, every proxy. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const FILES = [
  'test/wire/endurance.test.ts',
  'test/wire/limits.test.ts',
  'test/wire/rotation.test.ts',
  'test/wire/upload.test.ts',
  'test/stream/abandoned.test.ts',
  'test/stream/load.test.ts',
  'test/browser',
  'test/proxies',
  'test/redis/fleet.test.ts',
  'emulator/test/data.test.ts',
  'emulator/test/inspector.test.ts',
  'emulator/test/compaction-speed.test.ts',
];

/** Returns whether all of them pass. */
export function runEndurance(): boolean {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, ENDURANCE: '1' };
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...FILES], { cwd: root, stdio: 'inherit', env });
  return status === 0;
}
