import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { inject } from 'vitest';
import { FOR_NODE } from './built.js';
import { SOURCES } from './sources.js';

/** The file of a built package, or of a command: `cli`, `emulator-cli`. */
export const builtFile = (name: string): string => join(inject('built'), `${name}.mjs`);

/** The same as an import in a program, which takes no Windows path. */
export const builtURL = (name: string): string => pathToFileURL(builtFile(name)).href;

/** How a user's program is built, with our built packages for their names. */
export const USER_PROGRAM: BuildOptions = {
  ...FOR_NODE,
  packages: 'external',
  plugins: [
    {
      name: 'built-packages',
      setup: ({ onResolve }) =>
        onResolve({ filter: /^context-gateway/ }, ({ path }) => ({ path: builtURL(path), external: true })),
    },
  ],
};

/** How a program ended, and what it printed. */
export interface Ended {
  code: number;
  /** Standard output and standard error. */
  text: string;
}

/** Runs Node in the project's folder, without the variables that would tell a test runner that it runs inside another. */
export function runNode(args: readonly string[]): Promise<Ended> {
  const { VITEST: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  return new Promise((settle) => {
    execFile(process.execPath, args, { env: { ...env, NO_COLOR: '1' } }, (error, out, err) =>
      settle({ code: Number(error?.code ?? 0), text: out + err }),
    );
  });
}

/** Runs a test file of a folder in Vitest. */
export async function runVitest(folder: string, file: string): Promise<Ended> {
  const alias = Object.keys(SOURCES).map(
    (name) => `{ find: /^${name.replaceAll('/', '\\/')}$/, replacement: ${JSON.stringify(builtFile(name))} }`,
  );
  const config = join(folder, 'vitest.config.mjs');
  await writeFile(
    config,
    `export default { root: ${JSON.stringify(folder)}, resolve: { alias: [${alias}] }, test: { include: ['**/${file}'] } };`,
  );
  return runNode(['node_modules/vitest/vitest.mjs', 'run', '--config', config]);
}
