import { afterEach, expect, test, vi } from 'vitest';

/** Both packages are optional peers of any version, so that npm never refuses to install the emulator beside them. */
afterEach(() => {
  vi.doUnmock('context-gateway');
  vi.doUnmock('vitest');
  vi.resetModules();
});

test('the fixtures say which context-gateway they need', async () => {
  vi.doMock('context-gateway', () => ({ ContextClient: undefined, GatewayClient: undefined }));
  const { emulatedService } = await import('../src/testing/clients.js');
  expect(() => emulatedService({})).toThrow(/need context-gateway \d+\.\d+\.\d+.*: npm install context-gateway@\d/);
});

test('the fixtures for Vitest say which Vitest they need', async () => {
  vi.doMock('vitest', () => ({ test: () => {}, expect: {} }));
  await expect(import('../src/testing/vitest.js')).rejects.toThrow(/needs Vitest 3.2 or later: npm install/);
});
