import { defineConfig } from 'tsup';

export default defineConfig({
  entry: { index: 'src/index.ts', cli: 'src/cli/cli.ts' },
  format: ['esm'],
  target: 'node20',
  // Its `@internal` names are part of other types, so that leaving them out would leave holes.
  dts: { entry: { index: 'src/index.ts' }, compilerOptions: { stripInternal: false } },
  clean: true,
  tsconfig: '../tsconfig.json',
});
