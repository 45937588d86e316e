import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { defineConfig, type Options } from 'tsup';
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
const known: Plugin = {
  name: 'known',
  setup: ({ initialOptions, onEnd }) => {
    initialOptions.metafile = true;
    onEnd(({ metafile }) => {
      for (const file of Object.keys(metafile?.inputs ?? {})) {
        const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
        if (name !== undefined && !BUNDLED.includes(name)) throw new Error(`${name} is bundled, and not in BUNDLED`);
      }
    });
  },
};

const common: Options = {
  target: 'node20',
  tsconfig: '../tsconfig.json',
  // The used part of each: installed, they would have 34 MB.
  noExternal: [/^hono/, /^@hono/],
  define: { TOKENIZER: '"./tokenizer.cjs"' },
  esbuildPlugins: [known],
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
        ...{ bundle: true, minify: true, format: 'cjs', platform: 'node', target: 'node20', plugins: [known] },
      });
      await writeFile('dist/licenses.txt', (await Promise.all(BUNDLED.map(licenceOf))).join('\n\n'));
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

async function licenceOf(name: string): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve(name));
  const inside = `node_modules/${name}/`;
  const folder = entry.slice(0, entry.lastIndexOf(inside) + inside.length);
  return `${name}\n\n${(await readFile(`${folder}LICENSE`, 'utf8')).trim()}\n`;
}
