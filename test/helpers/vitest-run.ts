import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SOURCES } from './sources.js';

/** What a program said, and how it ended. */
export interface Ended {
  code: number;
  /** Both of its outputs. */
  text: string;
}

/** Run Node in the project's folder. What runs this, if it is a test runner too, leaves no trace. */
export function runNode(args: readonly string[]): Promise<Ended> {
  const { VITEST: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  return new Promise((settle) => {
    execFile(process.execPath, args, { env: { ...env, NO_COLOR: '1' } }, (error, out, err) =>
      settle({ code: Number(error?.code ?? 0), text: out + err }),
    );
  });
}

/** Run a test file of a folder in Vitest, with our sources in it. */
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
