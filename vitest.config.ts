import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: '#platform', replacement: source('./src/platform/node.ts') },
      { find: '#zod', replacement: source('./src/zod.ts') },
      { find: 'context-gateway-emulator', replacement: source('./emulator/src/index.ts') },
      { find: 'context-gateway/schemas', replacement: source('./src/schemas.ts') },
      { find: /^context-gateway$/, replacement: source('./src/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'emulator/test/**/*.test.ts'],
    maxWorkers: 2,
    // Generous: a slow machine is not a failure, and what has a time of its own to keep asserts it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: { provider: 'v8', include: ['src/**', 'emulator/src/**'] },
  },
});
