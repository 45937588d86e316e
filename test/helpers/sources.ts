/** The source files of our package names, for tests and for what they build. */
export const SOURCES: Readonly<Record<string, string>> = {
  'context-gateway': 'src/index.ts',
  'context-gateway/schemas': 'src/schemas.ts',
  'context-gateway/conversation': 'src/conversation/index.ts',
  'context-gateway/ai-sdk': 'src/ai-sdk/index.ts',
  'context-gateway/otel': 'src/otel/index.ts',
  'context-gateway/conversation/testing': 'src/conversation/testing/index.ts',
  'context-gateway/redis': 'src/redis/index.ts',
  'context-gateway/stores': 'src/stores/index.ts',
  'context-gateway-emulator': 'emulator/src/index.ts',
  'context-gateway-emulator/vitest': 'emulator/src/testing/vitest.ts',
  'context-gateway-emulator/node-test': 'emulator/src/testing/node-test.ts',
};

/** The names inside the SDK, as Node resolves them. */
export const INSIDE: Readonly<Record<string, string>> = {
  '#platform': 'src/platform/node.ts',
};
