import { expect, test, vi } from 'vitest';
import { type JestGlobals, useEmulator } from '../src/testing/jest.js';

/** Runs a test between its hooks, as Jest does. */
function fakeJest() {
  const before: (() => void)[] = [];
  const after: (() => Promise<void>)[] = [];
  const matchers: Record<string, (...args: never[]) => unknown> = {};
  const globals: JestGlobals = {
    beforeEach: (hook) => void before.push(hook),
    afterEach: (hook) => void after.push(hook),
    expect: { extend: (more) => void Object.assign(matchers, more) },
  };
  const run = async (body: () => Promise<void>): Promise<void> => {
    for (const hook of before) hook();
    await body();
    for (const hook of after) await hook();
  };
  return { globals, matchers, run };
}

test('gives each test of Jest an emulator of its own, and a matcher', async () => {
  const { globals, matchers, run } = fakeJest();
  const service = useEmulator({ seed: 'jest' }, globals);
  const toHaveReceived = matchers.toHaveReceived as (given: unknown, expected: object) => { pass: boolean };
  const bound = toHaveReceived.bind({ isNot: false });

  for (let i = 0; i < 2; i += 1) {
    await run(async () => {
      await service.gateway.presets.list();
      expect(bound(service.emulator, { path: '/v1/presets', times: 1 }).pass).toBe(true);
      expect(bound(service.emulator.requests, { path: '/v1/usage' }).pass).toBe(false);
    });
  }

  expect(() => service.emulator).toThrow('inside of a test');
  expect(() => useEmulator()).toThrow('@jest/globals');
});

test('prints the requests of a failed test of Jest', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { globals, run } = fakeJest();
  const service = useEmulator({}, globals);
  // As Jest's runner keeps it.
  const state = { currentlyRunningTest: { errors: [] as Error[] } };
  const key = Symbol('JEST_STATE_SYMBOL');
  Object.assign(globalThis, { [key]: state });

  await run(async () => void (await service.gateway.presets.list()));
  expect(printed).not.toHaveBeenCalled();
  await run(async () => {
    await service.gateway.presets.list();
    state.currentlyRunningTest.errors.push(new Error('failed'));
  });

  Reflect.deleteProperty(globalThis, key);
  expect(printed.mock.lastCall?.[0]).toMatch(/received 1 request:\n.*GET .*\/v1\/presets/);
});
