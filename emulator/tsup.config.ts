import { mkdir, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { defineConfig, type Options } from 'tsup';
import { licencesOf, onlyBundles } from '../scripts/licences.js';
import { buildInspector } from './inspector/build.js';

/** What can also be required. The command is started, and Vitest is only imported. */
const BOTH = { index: 'src/index.ts', 'node-test': 'src/testing/node-test.ts', jest: 'src/testing/jest.ts' };

// Its `@internal` names are part of other types, so that leaving them out would leave holes.
// The paths are relative to here, not to the tsconfig.json at the root.
const compilerOptions = { stripInternal: false, paths: { 'context-gateway': ['../src/index.ts'] } };
/** Packages whose code is in ours, so that our package has their licences. */
const BUNDLED = [
  '@hono/node-server',
  '@preact/signals',
  '@preact/signals-core',
  'gpt-tokenizer',
  'hono',
  'preact',
  'tsup',
];
const common: Options = {
  target: 'node20',
  tsconfig: '../tsconfig.json',
  // The used part of each: installed, they would have 34 MB.
  noExternal: [/^hono/, /^@hono/],
  define: { TOKENIZER: '"./tokenizer.cjs"' },
  esbuildPlugins: [onlyBundles(BUNDLED)],
};

// Not with `clean`: each of them would remove what the other has written.
export default defineConfig([
  {
    ...common,
    entry: { ...BOTH, vitest: 'src/testing/vitest.ts', cli: 'src/cli/main.ts' },
    format: 'esm',
    onSuccess: async () => {
      await mkdir('dist/inspector', { recursive: true });
      for (const [name, text] of Object.entries(await buildInspector()))
        await writeFile(`dist/inspector/${name}`, text);
      // Loaded on first use, by `require`.
      await build({
        stdin: { contents: "module.exports = require('gpt-tokenizer/encoding/o200k_base');", resolveDir: '.' },
        outfile: 'dist/tokenizer.cjs',
        ...{
          bundle: true,
          minify: true,
          format: 'cjs',
          platform: 'node',
          target: 'node20',
          plugins: [onlyBundles(BUNDLED)],
        },
      });
      await writeFile('dist/licenses.txt', await licencesOf(BUNDLED));
    },
  },
  {
    ...common,
    entry: BOTH,
    format: 'cjs',
    // `import.meta.url` in CommonJS.
    shims: true,
    esbuildOptions: (options) => {
      // Jest without ESM has no `import()`.
      options.supported = { 'dynamic-import': false };
    },
  },
  {
    ...common,
    entry: BOTH,
    // The types of both at once, because they take longest.
    format: ['esm', 'cjs'],
    dts: { only: true, entry: { ...BOTH, vitest: 'src/testing/vitest.ts' }, compilerOptions },
  },
]);
