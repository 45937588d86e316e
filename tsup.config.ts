import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    schemas: 'src/schemas.ts',
    'ai-sdk': 'src/ai-sdk/index.ts',
    conversation: 'src/conversation/index.ts',
    otel: 'src/otel/index.ts',
    redis: 'src/redis/index.ts',
    // Files of their own, so that a bundler leaves out the client that is not used.
    'context/client': 'src/context/client.ts',
    'gateway/client': 'src/gateway/client.ts',
    // So that a program which only looks at errors carries nothing else.
    'errors/api': 'src/errors/api.ts',
    'errors/stream': 'src/errors/stream.ts',
    'errors/validation': 'src/errors/validation.ts',
    // How bytes leave; `#platform` in package.json picks one by condition.
    'platform/node': 'src/platform/node.ts',
    'platform/browser': 'src/platform/browser.ts',
    'platform/worker': 'src/platform/worker.ts',
    // The part of zod that is used, for Node alone; `#zod` in package.json is zod/mini itself everywhere else.
    zod: 'src/zod.ts',
  },
  format: ['esm', 'cjs'],
  target: 'es2022',
  // In CommonJS too: without it every entry would have error classes of its own.
  splitting: true,
  external: ['#platform', '#zod'],
  noExternal: ['zod'],
  dts: {
    entry: {
      index: 'src/index.ts',
      schemas: 'src/schemas.ts',
      conversation: 'src/conversation/index.ts',
      'ai-sdk': 'src/ai-sdk/index.ts',
      otel: 'src/otel/index.ts',
      redis: 'src/redis/index.ts',
    },
    // For Symbol.asyncDispose, which older `lib` settings do not know.
    banner: '/// <reference lib="esnext.disposable" />',
  },
  clean: true,
});
