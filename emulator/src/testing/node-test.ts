import { AssertionError } from 'node:assert';
import type { Emulator, EmulatorOptions } from '../emulator.js';
import { closeService, type EmulatedService, emulatedService } from './clients.js';
import { type ExpectedRequest, received, receivedRequests } from './received.js';

export type { EmulatedService } from './clients.js';
export type { ExpectedRequest } from './received.js';

/** What is needed of the context that `node:test` gives a test. */
export interface NodeTestContext {
  after(hook: () => Promise<void>): void;
  readonly passed?: boolean;
}

/** An emulator of the test's own, with both clients, closed when it ends. The requests of a test that fails are printed. */
export function useEmulator(test: NodeTestContext, options: EmulatorOptions = {}): EmulatedService {
  const service = emulatedService(options);
  test.after(async () => {
    if (!test.passed) console.error(receivedRequests(service.emulator.requests));
    await closeService(service);
  });
  return service;
}

/** Throws an `AssertionError` unless the emulator has received such a request. */
export function assertReceived(emulator: Pick<Emulator, 'requests'>, expected: ExpectedRequest): void {
  const { pass, message } = received(emulator.requests, expected);
  if (!pass) throw new AssertionError({ message, stackStartFn: assertReceived });
}
