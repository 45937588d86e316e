import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SOURCES } from './sources.js';

/** The exit code and the output of a program. */
export interface Ended {
  code: number;
  /** stdout followed by stderr. */
  text: string;
}

/** Runs Node in the project folder, without the environment variables of the test runner that runs this. */
export function runNode(args: readonly string[]): Promise<Ended> {
  const { VITEST: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  return new Promise((settle) => {
    execFile(process.execPath, args, { env: { ...env, NO_COLOR: '1' } }, (error, out, err) =>
      settle({ code: Number(error?.code ?? 0), text: out + err }),
    );
  });
}

/** Runs a test file of a folder in Vitest, with our packages resolved to their sources. */
export async function runVitest(folder: string, file: string): Promise<Ended> {
  const alias = Object.entries(SOURCES).map(
    ([name, source]) => `{ find: /^${name.replaceAll('/', '\\/')}$/, replacement: ${JSON.stringify(resolve(source))} }`,
  );
  const config = join(folder, 'vitest.config.mjs');
  await writeFile(
    config,
    `export default { root: ${JSON.stringify(folder)}, resolve: { alias: [${alias}] }, test: { include: ['**/${file}'] } };`,
  );
  return runNode(['node_modules/vitest/vitest.mjs', 'run', '--config', config]);
}
