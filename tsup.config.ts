import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import { licencesOf, onlyBundles } from './scripts/licences.js';

const ENTRIES = {
  index: 'src/index.ts',
  schemas: 'src/schemas.ts',
  conversation: 'src/conversation/index.ts',
  'conversation/testing': 'src/conversation/testing/index.ts',
  'ai-sdk': 'src/ai-sdk/index.ts',
  otel: 'src/otel/index.ts',
  redis: 'src/redis/index.ts',
  stores: 'src/stores/index.ts',
};

/** Packages whose code is in ours, so that our package has their licences. */
const BUNDLED = ['@modelcontextprotocol/core', '@modelcontextprotocol/server', 'eventsource-parser', 'zod'];

const BOTH: Options = {
  format: ['esm', 'cjs'],
  target: 'es2022',
  // In CommonJS too: without it every entry would have error classes of its own.
  splitting: true,
  loader: { '.lua': 'text' },
  esbuildPlugins: [onlyBundles(BUNDLED)],
};

export default defineConfig([
  {
    ...BOTH,
    // For Node, in few files: each costs half a millisecond of an import.
    entry: {
      ...ENTRIES,
      cli: 'src/cli/cli.ts',
    },
    esbuildOptions: (options, { format }) => {
      options.alias = { '#platform': resolve('src/platform/node.ts') };
      if (format === 'cjs') options.define = { ...options.define, 'import.meta.url': '__filename' };
    },
    // Of these the used part, in the same files: zod/mini as installed is 92.
    noExternal: ['zod', 'eventsource-parser', '#platform'],
    external: ['./mcp-server.js'],
    dts: {
      entry: ENTRIES,
      // For Symbol.asyncDispose, which older `lib` settings do not know.
      banner: '/// <reference lib="esnext.disposable" />',
    },
    clean: ['!web/**', '!browser.js', '!mcp-server.js', '!licenses.txt'],
  },
  {
    ...BOTH,
    // For pages and workers, where a bundler leaves out what is not used.
    outDir: 'dist/web',
    entry: {
      ...ENTRIES,
      // Files of their own, so that a bundler leaves out the client that is not used.
      'context/client': 'src/context/client.ts',
      'gateway/client': 'src/gateway/client.ts',
      // So that a program which only looks at errors, or reads turns, carries nothing else.
      'base/error-data': 'src/base/error-data.ts',
      'errors/api': 'src/errors/api.ts',
      'errors/stream': 'src/errors/stream.ts',
      'errors/validation': 'src/errors/validation.ts',
      // How bytes leave; `#platform` in package.json picks one by condition.
      'platform/browser': 'src/platform/browser.ts',
      'platform/worker': 'src/platform/worker.ts',
    },
    external: ['#platform'],
    clean: true,
  },
  {
    // For a page without a bundler (`<script type="module">`), and for bundlers that read no `exports`, such as Parcel.
    entry: { browser: 'src/browser.ts' },
    format: 'esm',
    target: 'es2022',
    minify: true,
    splitting: false,
    noExternal: [/.*/],
    esbuildPlugins: [onlyBundles(BUNDLED)],
    esbuildOptions: (options) => {
      options.alias = { '#platform': resolve('src/platform/browser.ts') };
    },
  },
  {
    // Of its own, so that the whole zod, which the MCP SDK takes, is in no file that a program imports.
    entry: { 'mcp-server': 'src/cli/mcp-server.ts' },
    format: 'esm',
    target: 'es2022',
    // For Node, the SDK has Ajv in it: another 130 KB, to validate the answers of forms, of which we show none.
    platform: 'browser',
    minify: true,
    splitting: false,
    noExternal: [/.*/],
    esbuildPlugins: [onlyBundles(BUNDLED)],
    onSuccess: async () => writeFile('dist/licenses.txt', await licencesOf(BUNDLED)),
  },
]);
