import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';
import { INSIDE, SOURCES } from './test/helpers/sources.js';

/**
 * Test files of `npm test` that need their own process: they watch it, or replace modules, or globals that the sockets of
 * other tests use.
 */
const ISOLATED = [
  'test/api/{bad-options,listener-mistakes,pages,platforms,request-headers,workers}.test.ts',
  'test/conversation/memory.test.ts',
  'test/unit/pauses.test.ts',
  'test/wire/{late-key,races,replaced-promise,sent}.test.ts',
  'emulator/test/{fake-timers,fake-timers-fixture,in-file,peers}.test.ts',
];

/** What decides no change. `npm run verify` repeats a whole step. */
const ASIDE = {
  globalSetup: ['test/helpers/built.ts', 'test/helpers/chromium.ts'],
  // Some assert their own limits of time.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  retry: 0,
};

/** Names the tests that failed, and passed when they were repeated: a fault of the test, or a rare one of the code. */
const flaky: Reporter = {
  onTestRunEnd(modules) {
    for (const module of modules)
      for (const test of module.children.allTests())
        if (test.diagnostic()?.flaky) console.log(`flaky: ${module.relativeModuleId} > ${test.fullName}`);
  },
};

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
    // They only end what hangs: no test may depend on how fast the machine is, or on what else it has to do.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // One test of thousands must not send a good change back. What needed it is named at the end.
    retry: process.env.CI ? 1 : 0,
    reporters: ['default', flaky],
    expect: { poll: { timeout: 60_000 } }, // a second is too short on a busy machine
    setupFiles: 'test/helpers/properties.ts',
    coverage: { provider: 'v8', include: ['src/**', 'emulator/src/**'] },
    projects: [
      // A process that reads the sources once halves what these tests take.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['{test,emulator/test}/**/*.test.ts'],
          exclude: ['**/*.{system,perf}.test.ts', ...ISOLATED],
          isolate: false,
          globalSetup: 'test/helpers/built.ts',
        },
      },
      { extends: true, test: { name: 'apart', include: ISOLATED } },
      // Browsers, proxies, Redis, full disks, other processes, sockets that stall: a busy machine can break them.
      { extends: true, test: { ...ASIDE, name: 'system', include: ['{test,emulator/test}/**/*.system.test.ts'] } },
      // What reads a clock, a CPU time or a memory figure, one file after the other.
      {
        extends: true,
        test: { ...ASIDE, name: 'perf', include: ['{test,emulator/test}/**/*.perf.test.ts'], fileParallelism: false },
      },
    ],
  },
});
