import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { INSIDE, SOURCES } from './sources.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the built packages. */
    built: string;
  }
}

/** How a program is built for Node. */
export const FOR_NODE = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20', // which has no `await using` of its own
  outExtension: { '.js': '.mjs' },
} satisfies BuildOptions;

/**
 * Global setup: builds our packages and the emulator's command from the sources, once for each run. A program that is
 * started from them needs a third of the CPU time that loading TypeScript takes.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Inside the project, so that dependencies are found.
  const folder = await mkdtemp(resolve('node_modules/.built-'));
  await chmod(folder, 0o755); // one test starts the command as another user
  const rebuild = () =>
    build({
      ...FOR_NODE,
      entryPoints: { ...SOURCES, 'emulator-cli': 'emulator/src/cli/cli.ts' },
      outdir: folder,
      splitting: true,
      packages: 'external',
      plugins: [
        {
          name: 'from-source',
          setup: ({ onResolve }) =>
            onResolve({ filter: /^(#|context-gateway)/ }, ({ path }) => {
              const source = INSIDE[path] ?? SOURCES[path];
              return source === undefined ? undefined : { path: resolve(source) };
            }),
        },
      ],
    });
  await rebuild();
  project.onTestsRerun(async () => void (await rebuild()));
  project.provide('built', folder);
  return () => rm(folder, { recursive: true });
}
