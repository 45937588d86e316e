import { AssertionError } from 'node:assert';
import type { Emulator, EmulatorOptions } from '../emulator.js';
import { closeService, type EmulatedService, emulatedService } from './clients.js';
import { type ExpectedRequest, received, receivedRequests } from './received.js';

export type { EmulatedService } from './clients.js';
export type { ExpectedRequest } from './received.js';

/** The used part of the test context of `node:test`. */
export interface NodeTestContext {
  after(hook: () => Promise<void>): void;
  readonly passed?: boolean;
}

/**
 * Creates an emulator with both clients for a test, and closes it after the test. Prints the requests if the test
 * fails.
 */
export function useEmulator(test: NodeTestContext, options: EmulatorOptions = {}): EmulatedService {
  const service = emulatedService(options);
  test.after(async () => {
    if (!test.passed) console.error(receivedRequests(service.emulator.requests));
    await closeService(service);
  });
  return service;
}

/** Throws an `AssertionError` unless the emulator has received a matching request. */
export function assertReceived(emulator: Pick<Emulator, 'requests'>, expected: ExpectedRequest): void {
  const { pass, message } = received(emulator.requests, expected);
  if (!pass) throw new AssertionError({ message, stackStartFn: assertReceived });
}
