import type { Permit, RateLimitObservation } from './rate-limiter.js';

/** A queue of permits, which decides when each is admitted. */
export interface PermitQueue {
  hold(permit: QueuedPermit): void;
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

  hold(): void {
    this.#queue.hold(this);
  }

  release(observed: RateLimitObservation = {}): void {
    this.#queue.release(this, observed);
  }
}
