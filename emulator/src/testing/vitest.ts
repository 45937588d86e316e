import { test as base, expect } from 'vitest';
import type { Emulator, EmulatorOptions } from '../emulator.js';
import { closeService, type EmulatedService, emulatedService } from './clients.js';
import { type ExpectedRequest, received, receivedRequests } from './received.js';

export type { ExpectedRequest } from './received.js';

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
}

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
});

expect.extend({
  toHaveReceived(emulator: Pick<Emulator, 'requests'>, expected: ExpectedRequest) {
    const { pass, message } = received(emulator.requests, expected);
    return { pass, message: () => (this.isNot ? message.replace('Expected', 'Did not expect') : message) };
  },
});

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: as Vitest declares it
  interface Matchers<T = any> {
    /** Asserts that the emulator has received a matching request. */
    toHaveReceived(expected: ExpectedRequest): void;
  }
}
