/**
 * Bundles a program for Node with each bundler, and runs it where undici is installed and where only the bundle is. Also
 * checks the versions of undici that the package may get, and tools that copy the files a server needs.
 */
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFileTrace } from '@vercel/nft';
import { build as esbuild, version as esbuildVersion } from 'esbuild';
import * as vite8 from 'vite8';
import webpack from 'webpack';
import { runWell } from './child.js';
import { install } from './package-file.js';
import { checkTexts, newProject } from './projects.js';
import { runWebpack } from './webpack.js';

/** The oldest Node: an import of a module that it does not have ends the whole program. */
const NODE = join(import.meta.dirname, 'node_modules/node20/bin/node');

/** The oldest undici that package.json allows. All other checks have the newest 7, which users get. */
const OLDEST_UNDICI = '7.24.6';

/** Each bundles `program` of `folder` into `outfile`, with everything in it. */
const BUNDLERS = {
  [`esbuild ${esbuildVersion}, ESM`]: ['calls.js', 'mjs', withEsbuild('esm')],
  [`esbuild ${esbuildVersion}, ESM from CommonJS`]: ['calls.cjs', 'mjs', withEsbuild('esm'), 'fetch'],
  [`esbuild ${esbuildVersion}, CommonJS`]: ['calls.js', 'cjs', withEsbuild('cjs')],
  [`Vite ${vite8.version}, for a server`]: ['calls.js', 'mjs', withVite],
  // These write the path of this machine in place of `import.meta.url`, so that undici is found from anywhere on it.
  [`webpack ${webpack.version}, CommonJS`]: ['calls.js', 'cjs', withWebpack(false)],
  [`webpack ${webpack.version}, ESM`]: ['calls.js', 'mjs', withWebpack(true)],
};

function withEsbuild(format) {
  return (folder, program, outfile) =>
    esbuild({
      entryPoints: [join(folder, program)],
      outfile: join(folder, outfile),
      bundle: true,
      platform: 'node',
      format,
      logLevel: 'silent',
    });
}

async function withVite(folder, program, outfile) {
  await vite8.build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: join(folder, program),
      outDir: folder,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: outfile, codeSplitting: false } },
    },
  });
}

function withWebpack(isModule) {
  return (folder, program, outfile) =>
    runWebpack({
      target: 'node20',
      context: folder,
      entry: `./${program}`,
      experiments: { outputModule: isModule },
      output: { path: folder, filename: outfile, module: isModule, chunkFormat: isModule ? 'module' : 'commonjs' },
    });
}

/** Returns the checks as `[name, check]`. */
export function serverChecks(file, folder, { env }) {
  const project = newProject(folder, 'servers', 'module');
  const far = join(folder, 'far');
  const run = (cwd, program) => runWell([NODE, program], { cwd, env });

  const bundled = Object.entries(BUNDLERS).map(([name, [program, extension, bundle, beside = 'undici']]) => [
    `${name}, for Node`,
    async () => {
      const outfile = `server-${name.replaceAll(/\W+/g, '-')}.${extension}`;
      await bundle(project, program, outfile);
      const found = checkTexts(await run(project, outfile), beside);
      cpSync(join(project, outfile), join(far, outfile));
      const alone = checkTexts(await run(far, outfile), 'undici or fetch');
      return `${found}; alone ${alone}`;
    },
  ]);

  return [
    [
      'a server project',
      async () => {
        mkdirSync(far);
        await install([file], project);
        return '';
      },
    ],
    ...bundled,
    ...['calls.js', 'calls.cjs'].map((program) => [
      `the files that @vercel/nft finds, ${program}`,
      async () => {
        const traced = join(folder, `traced-${program}`);
        const { fileList } = await nodeFileTrace([join(project, program)], { base: project });
        for (const path of fileList) cpSync(join(project, path), join(traced, path));
        checkTexts(await run(traced, program));
        return `${fileList.size} files`;
      },
    ]),
    ...[OLDEST_UNDICI, '8', '6'].map((version) => [
      `undici ${version} installed`,
      async () => {
        const overrides = { undici: version };
        const own = newProject(folder, `undici-${version}`, 'module', { overrides });
        await install([file], own);
        return checkTexts(await run(own, 'calls.js'), version === '6' ? 'fetch' : 'undici');
      },
    ]),
    [
      'an undici 7 that has moved its files',
      async () => {
        for (const name of readdirSync(join(project, 'node_modules/undici/lib')))
          rmSync(join(project, 'node_modules/undici/lib', name), { recursive: true });
        return checkTexts(await run(project, 'calls.js'), 'fetch');
      },
    ],
  ];
}
