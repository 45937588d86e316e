import { mkdir, writeFile } from 'node:fs/promises';
import { defineConfig } from 'tsup';
import { buildInspector } from './inspector/build.js';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    vitest: 'src/testing/vitest.ts',
    'node-test': 'src/testing/node-test.ts',
    cli: 'src/cli/cli.ts',
  },
  format: ['esm'],
  target: 'node20',
  // Its `@internal` names are part of other types, so that leaving them out would leave holes.
  dts: {
    entry: { index: 'src/index.ts', vitest: 'src/testing/vitest.ts', 'node-test': 'src/testing/node-test.ts' },
    // Relative to here, not to the tsconfig.json at the root.
    compilerOptions: { stripInternal: false, paths: { 'context-gateway': ['../src/index.ts'] } },
  },
  clean: true,
  tsconfig: '../tsconfig.json',
  onSuccess: async () => {
    await mkdir('dist/inspector', { recursive: true });
    for (const [name, text] of Object.entries(await buildInspector())) await writeFile(`dist/inspector/${name}`, text);
  },
});
