import type { EmulatorOptions } from '../emulator.js';
import type { RequestRecord } from '../http/log/request-record.js';
import { closeService, type EmulatedService, emulatedService } from './clients.js';
import { type ExpectedRequest, received, receivedRequests } from './received.js';
import { type EmulatorScope, openScope, type ScopeOptions } from './scope.js';

export type { EmulatedService } from './clients.js';
export type { ExpectedRequest } from './received.js';
export type { EmulatorScope, ScopeOptions } from './scope.js';

/** The globals of Jest that this helper uses. Pass those of `@jest/globals` if your tests import them. */
export interface JestGlobals {
  beforeEach: (hook: () => void) => void;
  afterEach: (hook: () => Promise<void>) => void;
  expect: { extend: (matchers: Record<string, (...args: never[]) => unknown>) => void };
}

/**
 * Gives each test of a file or a `describe` an emulator of its own with both clients, and closes it after the test. Read
 * the fields of the returned object inside a test. Prints the requests of a failed test. Adds `toHaveReceived` to
 * `expect`.
 */
export function useEmulator(options: EmulatorOptions = {}, jest = globals()): EmulatedService {
  return eachTest(
    jest,
    () => emulatedService(options),
    async (service) => {
      if (hasFailed()) console.error(receivedRequests(service.emulator.requests));
      await closeService(service);
    },
  );
}

/**
 * Gives each test a part of a shared emulator, also while other tests use it in parallel. Prints the requests of a
 * failed test.
 */
export function useScope(options: ScopeOptions = {}, jest = globals()): EmulatorScope {
  return eachTest(
    jest,
    () => openScope(options),
    async (scope) => {
      if (hasFailed()) console.error(receivedRequests(await scope.requests()));
      await scope.close();
    },
  );
}

/** An object whose fields are those of the current test's value. */
function eachTest<T extends object>(jest: JestGlobals, open: () => T, close: (value: T) => Promise<void>): T {
  let current: T | undefined;
  jest.expect.extend({ toHaveReceived });
  jest.beforeEach(() => {
    current = open();
  });
  jest.afterEach(async () => {
    if (current !== undefined) await close(current);
    current = undefined;
  });
  const proxy = new Proxy(
    {},
    {
      get: (_, name) => {
        if (current === undefined) throw new Error('Read this inside of a test: each test has its own emulator.');
        return Reflect.get(current, name);
      },
    },
  );
  // It has the fields of the current value.
  return proxy as T;
}

function toHaveReceived(
  this: { isNot?: boolean },
  given: { requests: readonly RequestRecord[] } | readonly RequestRecord[],
  expected: ExpectedRequest,
): { pass: boolean; message: () => string } {
  const { pass, message } = received('requests' in given ? given.requests : given, expected);
  return { pass, message: () => (this.isNot ? message.replace('Expected', 'Did not expect') : message) };
}

/** Whether the current test has failed. Jest does not tell hooks, but keeps it in the state of its runner. */
function hasFailed(): boolean {
  const key = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL');
  // Absent in another runner, or if Jest changes it: then nothing is printed.
  const state =
    key && (globalThis as unknown as Record<symbol, { currentlyRunningTest?: { errors?: unknown[] } }>)[key];
  return (state?.currentlyRunningTest?.errors?.length ?? 0) > 0;
}

function globals(): JestGlobals {
  const { beforeEach, afterEach, expect } = globalThis as unknown as Partial<JestGlobals>;
  if (beforeEach === undefined || afterEach === undefined || expect === undefined)
    throw new Error('Jest has no globals here: pass { beforeEach, afterEach, expect } of @jest/globals.');
  return { beforeEach, afterEach, expect };
}

declare global {
  namespace jest {
    interface Matchers<R> {
      /** Asserts that the emulator, or `await scope.requests()`, has a matching request. */
      toHaveReceived(expected: ExpectedRequest): R;
    }
  }
}
