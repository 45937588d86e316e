import { AssertionError } from 'node:assert';
import type { Emulator, EmulatorOptions } from '../emulator.js';
import type { RequestRecord } from '../http/log/request-record.js';
import { closeService, type EmulatedService, emulatedService } from './clients.js';
import { type ExpectedRequest, received, receivedRequests } from './received.js';
import { type EmulatorScope, openScope, type ScopeOptions } from './scope.js';

export type { EmulatedService } from './clients.js';
export type { ExpectedRequest } from './received.js';
export type { EmulatorScope, ScopeOptions } from './scope.js';

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

/**
 * Opens a part of a shared emulator for a test, and ends it after the test. Prints its requests if the test fails.
 */
export function useScope(test: NodeTestContext, options: ScopeOptions = {}): EmulatorScope {
  const scope = openScope(options);
  test.after(async () => {
    if (!test.passed) console.error(receivedRequests(await scope.requests()));
    await scope.close();
  });
  return scope;
}

/** Throws an `AssertionError` unless the emulator has received a matching request. */
export function assertReceived(
  given: Pick<Emulator, 'requests'> | readonly RequestRecord[],
  expected: ExpectedRequest,
): void {
  const { pass, message } = received('requests' in given ? given.requests : given, expected);
  if (!pass) throw new AssertionError({ message, stackStartFn: assertReceived });
}
