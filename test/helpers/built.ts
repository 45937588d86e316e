import { rmSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
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
  target: 'node20', // which does not support `await using`
  outExtension: { '.js': '.mjs' },
  loader: { '.lua': 'text' },
} satisfies BuildOptions;

/**
 * Global setup, once for each run: builds our packages and the emulator's command from the sources. A program that is
 * started from them needs a third of the CPU time that loading TypeScript takes.
 */
export default async function setup(project: TestProject): Promise<void> {
  const { root } = project.config;
  // Inside the project, so that dependencies are found.
  const folder = await mkdtemp(join(root, 'node_modules/.built-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755); // one test starts the command as another user
  project.provide('built', folder);
  const rebuild = () => buildInto(folder, root);
  if (!project.vitest.config.watch) return rebuild();
  // In watch mode a source may be half-written.
  const tryRebuild = () => rebuild().catch((error) => console.error(String(error)));
  project.onTestsRerun(tryRebuild);
  await tryRebuild();
}

async function buildInto(folder: string, root: string): Promise<void> {
  await build({
    ...FOR_NODE,
    entryPoints: {
      ...{ ...SOURCES, cli: 'src/cli/cli.ts', 'emulator-cli': 'emulator/src/cli/main.ts' },
      'hostile-worker': 'test/bounded/hostile-worker.ts',
    },
    absWorkingDir: root,
    outdir: folder,
    splitting: true,
    packages: 'external',
    plugins: [
      {
        name: 'from-source',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^(#|context-gateway)/ }, ({ path }) => {
            const source = INSIDE[path] ?? SOURCES[path];
            return source === undefined ? undefined : { path: join(root, source) };
          }),
      },
    ],
  });
}
