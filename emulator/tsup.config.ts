import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/cli.ts'],
  format: ['esm'],
  target: 'node20',
  // Its `@internal` names are part of other types, so that leaving them out would leave holes.
  dts: { entry: 'src/index.ts', compilerOptions: { stripInternal: false } },
  clean: true,
  tsconfig: '../tsconfig.json',
});
