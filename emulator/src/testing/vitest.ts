import { test as base, expect } from 'vitest';
import type { Emulator, EmulatorOptions } from '../emulator.js';
import type { RequestRecord } from '../http/log/request-record.js';
import { closeService, type EmulatedService, emulatedService } from './clients.js';
import { type ExpectedRequest, received, receivedRequests } from './received.js';
import { type EmulatorScope, openScope, type ScopeOptions } from './scope.js';

export type { ExpectedRequest } from './received.js';
export type { EmulatorScope, ScopeOptions } from './scope.js';

/** The fixtures of this `test`. */
export interface EmulatorFixtures {
  /** Options of the emulator: `test.override({ emulatorOptions: { plan: 'starter' } })`. */
  emulatorOptions: EmulatorOptions;
  /** @internal */
  emulatedService: EmulatedService;
  /** A new emulator for each test. */
  emulator: Emulator;
  /** A client of the Context API, signed in as the first user. */
  context: EmulatedService['context'];
  /** A client of the Gateway API, with the secret key. */
  gateway: EmulatedService['gateway'];
  /** Where the shared emulator of `scope` is. @default the variables that `exec` sets */
  scopeOptions: ScopeOptions;
  /** A part of a shared emulator for this test alone, also while other tests use it in parallel. */
  scope: EmulatorScope;
}

if (typeof (base as Partial<typeof base>).extend !== 'function')
  throw new Error('context-gateway-emulator/vitest needs Vitest 3.2 or later: npm install --save-dev vitest@latest.');

/** Vitest's `test` with an emulator and both clients as fixtures. Prints the requests of a failed test. */
export const test = base.extend<EmulatorFixtures>({
  emulatorOptions: {},
  emulatedService: async ({ emulatorOptions, onTestFailed }, use) => {
    const service = emulatedService(emulatorOptions);
    onTestFailed(() => console.error(receivedRequests(service.emulator.requests)));
    await use(service);
    await closeService(service);
  },
  emulator: ({ emulatedService }, use) => use(emulatedService.emulator),
  context: ({ emulatedService }, use) => use(emulatedService.context),
  gateway: ({ emulatedService }, use) => use(emulatedService.gateway),
  scopeOptions: {},
  scope: async ({ scopeOptions, onTestFailed }, use) => {
    const scope = openScope(scopeOptions);
    let requests: RequestRecord[] = [];
    onTestFailed(() => console.error(receivedRequests(requests)));
    try {
      await use(scope);
      requests = await scope.requests();
    } finally {
      await scope.close();
    }
  },
});

expect.extend({
  toHaveReceived(given: Pick<Emulator, 'requests'> | readonly RequestRecord[], expected: ExpectedRequest) {
    const { pass, message } = received('requests' in given ? given.requests : given, expected);
    return { pass, message: () => (this.isNot ? message.replace('Expected', 'Did not expect') : message) };
  },
});

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: as Vitest declares it
  interface Matchers<T = any> {
    /** Asserts that the emulator, or `await scope.requests()`, has a matching request. */
    toHaveReceived(expected: ExpectedRequest): void;
  }
}
