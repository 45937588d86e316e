import { ignoreErrors } from '../base/ignore-errors.js';
import { APIError } from '../errors/api.js';
import { APITimeoutError } from '../errors/connection.js';
import type { Call } from './call.js';
import { sentBy } from './retry.js';

/** The time limit for reading a key again (ms). The error of the rejected request is already known. */
const LONGEST_REREAD = 5_000;

/** The credential of the next attempt. A function that returns one has the timeout of an attempt. */
export function readCredential(call: Call): string | Promise<string> {
  const given = call.nextCredential ?? call.area.authorize();
  call.nextCredential = undefined;
  return typeof given === 'string' ? given : within(call.timeout, given, call);
}

/**
 * Reads the credential again after a 401 or 403, once per call, because the key may have been replaced while the
 * request was in flight. Returns whether there is a different one to try.
 */
export async function hasNewCredential(error: unknown, call: Call): Promise<boolean> {
  const refused = error instanceof APIError && (error.status === 401 || error.status === 403);
  if (!refused || error.retryAfter !== undefined || call.rotated) return false;
  const { method, upload } = call.request;
  // As always, a POST is repeated only if the error is the service's own.
  if (upload?.repeatable === false || (method === 'POST' && sentBy(error) !== 'no')) return false;
  call.rotated = true;
  call.maxRetries += 1; // the service did nothing for the old key
  const given = call.area.authorize();
  if (typeof given === 'string') return false;
  try {
    call.nextCredential = await within(Math.min(call.timeout, LONGEST_REREAD), given, call);
  } catch {
    call.timeouts.check(); // the call is over
    return false; // the error of the request is more useful than that of the key function
  }
  return call.nextCredential !== call.credential;
}

async function within(ms: number, credential: Promise<string>, { area, timeouts, runtime }: Call): Promise<string> {
  ignoreErrors(() => credential); // it may fail after the call has stopped waiting for it
  try {
    timeouts.startAttempt(ms, runtime.now());
    return await timeouts.wait(credential);
  } catch (error) {
    if (!(error instanceof APITimeoutError) || error.kind !== 'attempt') throw error;
    const option = area.name === 'gateway' ? 'apiKey' : 'sessionToken';
    const message = `The ${option} function did not return within ${ms} ms, the timeout of an attempt.`;
    throw new APITimeoutError(message, { kind: 'attempt', phase: 'connect', sent: 'no', retryable: false });
  } finally {
    timeouts.stopWatching();
  }
}
