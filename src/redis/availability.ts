import type { Runtime } from '../base/runtime.js';

/** Reports Redis's availability: once when it fails, once when it is back. */
export type RedisLimiterEvent =
  | { readonly type: 'unavailable'; readonly cause: unknown }
  | { readonly type: 'available' };

/** While Redis is unavailable, one step is tried in this many ms. */
const RETRY_INTERVAL = 1_000;
/** A step without a response for this many ms is abandoned, because its connection may be dead. */
const ABANDON_AFTER = 10_000;
/** Extra time for a response that arrives just at the timeout (ms). */
const GRACE = 10;

/** Tracks whether Redis responds. One for each limiter. */
export class Availability {
  #isDown = false;
  #nextTryAt = 0;

  constructor(
    private readonly runtime: Runtime,
    private readonly timeout: number,
    private readonly notify: (event: RedisLimiterEvent) => void,
  ) {}

  /**
   * Returns Redis's response, or `undefined` if there is none or Redis is known to be unavailable. If no call waits, and so nothing is
   * `wanted`, a failure is not reported: the program may be shutting down and have closed its connection.
   */
  async ask<T>(send: (wanted: number) => Promise<T>, wanted: number): Promise<T | undefined> {
    if (this.#isDown) {
      this.#probe(() => send(0));
      return undefined;
    }
    try {
      return await this.#inTime(send(wanted));
    } catch (cause) {
      if (!this.#isDown && wanted > 0) {
        this.#isDown = true;
        this.#nextTryAt = this.runtime.now() + RETRY_INTERVAL;
        this.notify({ type: 'unavailable', cause });
      }
      return undefined;
    }
  }

  /** Checks in the background whether Redis is back. */
  #probe(probe: () => Promise<unknown>): void {
    const now = this.runtime.now();
    if (now < this.#nextTryAt) return;
    this.#nextTryAt = now + ABANDON_AFTER;
    const back = (): void => {
      if (this.#isDown) this.notify({ type: 'available' });
      this.#isDown = false;
    };
    probe().then(back, () => {
      this.#nextTryAt = this.runtime.now() + RETRY_INTERVAL;
    });
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`Redis did not respond within ${this.timeout} ms.`));
      let timer = this.runtime.setTimer(() => {
        timer = this.runtime.setTimer(late, GRACE);
      }, this.timeout);
      work.then(resolve, reject).finally(() => this.runtime.clearTimer(timer));
    });
  }
}
