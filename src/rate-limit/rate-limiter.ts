import type { RateLimit } from '../base/response-info.js';

/**
 * Decides when a request may be sent. A bucket is a separate rate limit: `gateway`, `context` or `compact`. Your own
 * limiter is called once for each request, and each permit is released once.
 */
export interface RateLimiter {
  /** A permit for one request. A limiter that has to ask elsewhere may return a promise, which should resolve soon. */
  acquire(bucket: string): Permit | Promise<Permit>;
}

/** The permit for one request, or its place in the queue. */
export interface Permit {
  /** Resolves when the request may be sent. Without it, the request is sent at once. */
  readonly ready?: Promise<void> | undefined;
  /** The minimum wait in milliseconds, if known. A call that may not wait that long fails at once. */
  readonly expectedWait?: number | undefined;
  /** Called when the response has arrived, the request has failed, or the call has left the queue. */
  release(observed?: RateLimitObservation): void;
  /**
   * Optional. Called before `release` if the response is a 429 whose body, which may contain the wait, has not arrived
   * yet. Send nothing until `release`, or for so many milliseconds: a platform may end a request, and never tell.
   */
  hold?(atMost: number): void;
}

/** What a response says about its rate limit. */
export interface RateLimitObservation extends Partial<Pick<RateLimit, 'limit' | 'remaining' | 'resetAfter'>> {
  /** Whether the request was rejected because the limit is used up (429). */
  readonly rejected?: boolean | undefined;
  /** How long nothing may be sent, in milliseconds, from a 429. */
  readonly retryAfter?: number | undefined;
}

/** A queue of permits, which decides when each is admitted. */
export interface PermitQueue {
  hold(permit: QueuedPermit, atMost: number): void;
  release(permit: QueuedPermit, observed: RateLimitObservation): void;
}

/** A permit that a queue has admitted, or that waits in it. */
export class QueuedPermit implements Permit {
  readonly #queue: PermitQueue;
  /** Called once, when it is admitted or has to wait. */
  readonly #onDecided: ((permit: QueuedPermit) => void) | undefined;
  #resolveReady: (() => void) | undefined;
  ready: Promise<void> | undefined;
  expectedWait: number | undefined;
  /** The window in which it was admitted. */
  window: number | undefined;

  constructor(queue: PermitQueue, onDecided?: (permit: QueuedPermit) => void) {
    this.#queue = queue;
    this.#onDecided = onDecided;
  }

  wait(expectedWait: number): void {
    this.expectedWait = expectedWait;
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    this.#onDecided?.(this);
  }

  admit(window: number): void {
    this.window = window;
    if (this.#resolveReady !== undefined) this.#resolveReady();
    else this.#onDecided?.(this);
  }

  hold(atMost: number): void {
    this.#queue.hold(this, atMost);
  }

  release(observed: RateLimitObservation = {}): void {
    this.#queue.release(this, observed);
  }
}
