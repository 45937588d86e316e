import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What has a process of its own: it replaces modules or globals, measures memory, or watches the process. The rest shares one. */
const APART = [
  'test/{browser,redis,stream}/**/*.test.ts',
  'test/api/{pages,workers}.test.ts',
  'test/wire/{connect,late-key,process,races,replaced-promise,sent}.test.ts',
  'emulator/test/in-sqlite.test.ts',
];

export default defineConfig({
  resolve: {
    alias: [
      { find: '#platform', replacement: source('./src/platform/node.ts') },
      { find: '#zod', replacement: source('./src/zod.ts') },
      { find: 'context-gateway-emulator/vitest', replacement: source('./emulator/src/testing/vitest.ts') },
      { find: 'context-gateway-emulator/node-test', replacement: source('./emulator/src/testing/node-test.ts') },
      { find: /^context-gateway-emulator$/, replacement: source('./emulator/src/index.ts') },
      { find: 'context-gateway/ai-sdk', replacement: source('./src/ai-sdk/index.ts') },
      { find: 'context-gateway/conversation', replacement: source('./src/conversation/index.ts') },
      { find: 'context-gateway/otel', replacement: source('./src/otel/index.ts') },
      { find: 'context-gateway/redis', replacement: source('./src/redis/index.ts') },
      { find: 'context-gateway/schemas', replacement: source('./src/schemas.ts') },
      { find: /^context-gateway$/, replacement: source('./src/index.ts') },
    ],
  },
  test: {
    // One more than the cores we count on: many tests wait for sockets and timers.
    maxWorkers: 3,
    // Generous: a slow machine is not a failure, and what has a time of its own to keep asserts it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: { provider: 'v8', include: ['src/**', 'emulator/src/**'] },
    projects: [
      // A process that reads the sources once halves what these tests take.
      {
        extends: true,
        test: { name: 'together', include: ['{test,emulator/test}/**/*.test.ts'], exclude: APART, isolate: false },
      },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
});
