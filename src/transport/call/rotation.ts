import { ignoreErrors } from '../../base/ignore-errors.js';
import type { Runtime } from '../../base/runtime.js';
import { APIError, type Area } from '../../errors/api.js';
import { APITimeoutError } from '../../errors/connection.js';
import type { OutgoingRequest, Upload } from '../../platform/engine.js';
import { sentBy } from './retry.js';
import type { CallTimeouts } from './timeouts.js';

/** The time limit for reading a key again (ms). The error of the rejected request is already known. */
const MAX_REREAD_TIME = 5_000;

/** The part of a call that reads its credential. */
interface RotatingCall {
  readonly area: { readonly name: Area; readonly authorize: () => string | Promise<string> };
  readonly request: Pick<OutgoingRequest, 'method'> & { readonly upload: Upload | undefined };
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  readonly timeouts: CallTimeouts;
  readonly runtime: Runtime;
}

/** The credential of a call: read for each attempt, and once more after a 401 or 403. */
export class Rotation {
  /** Replaces a rejected credential. */
  #next: string | undefined;
  #isUsed = false;

  /** One more, because the service did nothing for the old key. */
  get extraRetries(): number {
    return this.#isUsed ? 1 : 0;
  }

  /** The credential of the next attempt. A function that returns one has the timeout of an attempt. */
  read(call: RotatingCall): string | Promise<string> {
    const given = this.#next ?? call.area.authorize();
    this.#next = undefined;
    return typeof given === 'string' ? given : within(call.timeout, given, call);
  }

  /**
   * Reads the credential again after a 401 or 403, once per call, because the key may have been replaced while the
   * request was in flight. Returns whether there is a different one to try.
   */
  async hasNewCredential(error: unknown, call: RotatingCall, credential: string): Promise<boolean> {
    const rejected = error instanceof APIError && (error.status === 401 || error.status === 403);
    if (!rejected || error.retryAfter !== undefined || this.#isUsed) return false;
    const { method, upload } = call.request;
    // As always, a POST is repeated only if the error is the service's own.
    if (upload?.repeatable === false || (method === 'POST' && sentBy(error) !== 'no')) return false;
    this.#isUsed = true;
    const given = call.area.authorize();
    if (typeof given === 'string') return false;
    try {
      this.#next = await within(Math.min(call.timeout, MAX_REREAD_TIME), given, call);
    } catch {
      call.timeouts.check(); // the call is over
      return false; // the error of the request is more useful than that of the key function
    }
    return this.#next !== credential;
  }
}

async function within(
  ms: number,
  credential: Promise<string>,
  { area, timeouts, runtime }: RotatingCall,
): Promise<string> {
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
