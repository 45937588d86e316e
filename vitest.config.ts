import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { INSIDE, SOURCES } from './test/helpers/sources.js';

/** Test files that need their own process: they replace modules or globals, measure memory, or watch the process. */
const ISOLATED = [
  'test/redis/limiter.test.ts',
  'test/stream/{abandoned,load}.test.ts',
  'test/api/{pages,workers}.test.ts',
  'test/wire/{connect,late-key,races,replaced-promise,sent}.test.ts',
  'emulator/test/in-sqlite.test.ts',
];

/** Imports a Lua script as text, as the build does. */
const lua = {
  name: 'lua',
  transform: (code: string, id: string) =>
    id.endsWith('.lua') ? `export default ${JSON.stringify(code)};` : undefined,
};

export default defineConfig({
  plugins: [lua],
  resolve: {
    alias: Object.entries({ ...INSIDE, ...SOURCES }).map(([name, file]) => ({
      find: new RegExp(`^${name}$`),
      replacement: fileURLToPath(new URL(file, import.meta.url)),
    })),
  },
  test: {
    // Two more than the cores we count on: many tests wait for sockets and timers.
    maxWorkers: 4,
    // Generous: a slow machine is not a failure, and tests with a time limit assert it themselves.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    setupFiles: 'test/helpers/properties.ts',
    coverage: { provider: 'v8', include: ['src/**', 'emulator/src/**'] },
    projects: [
      // A process that reads the sources once halves what these tests take.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['{test,emulator/test}/**/*.test.ts'],
          exclude: ISOLATED,
          isolate: false,
          globalSetup: 'test/helpers/built.ts',
        },
      },
      { extends: true, test: { name: 'apart', include: ISOLATED } },
    ],
  },
});
