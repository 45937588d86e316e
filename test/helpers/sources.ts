import { resolve } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';

/** The source files of our package names. */
export const SOURCES: Readonly<Record<string, string>> = {
  '#platform': 'src/platform/node.ts',
  '#zod': 'src/zod.ts',
  'context-gateway': 'src/index.ts',
  'context-gateway/schemas': 'src/schemas.ts',
  'context-gateway/conversation': 'src/conversation/index.ts',
  'context-gateway/ai-sdk': 'src/ai-sdk/index.ts',
  'context-gateway/otel': 'src/otel/index.ts',
  'context-gateway/redis': 'src/redis/index.ts',
  'context-gateway-emulator': 'emulator/src/index.ts',
  'context-gateway-emulator/vitest': 'emulator/src/testing/vitest.ts',
  'context-gateway-emulator/node-test': 'emulator/src/testing/node-test.ts',
};

const fromSource: Plugin = {
  name: 'from-source',
  setup: (building) => {
    building.onResolve({ filter: /^(#|context-gateway)/ }, ({ path }) =>
      SOURCES[path] === undefined ? undefined : { path: resolve(SOURCES[path]) },
    );
  },
};

/** Builds a user's program for Node from our sources, so that no test depends on an earlier build. */
export const PROGRAM: BuildOptions = {
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20', // which does not support `await using`
  outExtension: { '.js': '.mjs' },
  plugins: [fromSource],
};
