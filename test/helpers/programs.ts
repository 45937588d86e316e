import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
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
export function runNode(args: readonly string[], cwd?: string): Promise<Ended> {
  const { VITEST: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  return new Promise((settle) => {
    execFile(process.execPath, args, { cwd, env: { ...env, NO_COLOR: '1' } }, (error, out, err) =>
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
    `export default { root: ${JSON.stringify(folder)}, resolve: { alias: [${alias}] }, test: { include: ['**/${file}'], testTimeout: 60_000 } };`,
  );
  return runNode(['node_modules/vitest/vitest.mjs', 'run', '--config', config]);
}

/** A module to import, and what it finds in its environment. */
export interface Program {
  program: string;
  env?: Record<string, string> | undefined;
}

/**
 * Runs programs one after the other in one process, which takes half a second less for each of them, and returns what
 * they printed. If a program exports a POST handler, calls it with a question. Files are written to `cwd`.
 */
export async function runPrograms(
  programs: readonly Program[],
  cwd = '.',
): Promise<{ stdout: string; stderr: string }[]> {
  const args = ['--input-type=module', '-e', RUNNER, JSON.stringify(programs)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env: {}, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}

/** What a handler prints after its response belongs to its own program, not to the next one. */
const RUNNER = `import { AsyncLocalStorage } from 'node:async_hooks';
const printed = [];
const owner = new AsyncLocalStorage();
for (const stream of ['stdout', 'stderr'])
  process[stream].write = (text) => { (owner.getStore() ?? printed.at(-1))[stream] += text; return true; };
process.on('uncaughtException', (error) => { printed.at(-1).stderr += error.stack; });
for (const { program, env } of JSON.parse(process.argv[1])) {
  printed.push({ stdout: '', stderr: '' });
  Object.assign(process.env, env);
  try {
    const { POST } = await import(program);
    if (POST) {
      const question = 'The harbour opens at six. When does the harbour open?';
      const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: question }] }];
      const body = JSON.stringify({ question, messages, message: messages[0], id: 'conv_sample' });
      console.log(await (await owner.run(printed.at(-1), POST, new Request('http://localhost/ask', { method: 'POST', body }))).text());
    }
  } catch (error) {
    console.error(error);
  }
}
delete process.stdout.write;
process.stdout.write(JSON.stringify(printed), () => process.exit(0));`;
