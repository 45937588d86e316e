import type { Time } from './time.js';

/** What a limiter tells about Redis: once when it is gone, once when it is back. */
export type RedisLimiterEvent =
  | { readonly type: 'unavailable'; readonly cause: unknown }
  | { readonly type: 'available' };

/** While Redis is gone, one step in this many ms tries it again. */
const TRY_AGAIN = 1_000;
/** A step that Redis has not answered after this many ms is given up for good: its connection may be dead. */
const GIVEN_UP = 10_000;
/** What arrives together with the end of its time is still read (ms). */
const GRACE = 10;

/** Whether Redis answers, and how that is found out again. One for each limiter. */
export class Availability {
  readonly #time: Time;
  readonly #timeout: number;
  readonly #tell: (event: RedisLimiterEvent) => void;
  #isDown = false;
  #nextTryAt = 0;

  constructor(time: Time, timeout: number, tell: (event: RedisLimiterEvent) => void) {
    this.#time = time;
    this.#timeout = timeout;
    this.#tell = tell;
  }

  /**
   * What Redis answers; `undefined` where it does not, and while it is known to be gone. That no call `waits` for it may be
   * because the program ends, and its connection before this limiter: then it is no news that Redis is gone.
   */
  async ask<T>(send: () => Promise<T>, probe: () => Promise<unknown>, waits: boolean): Promise<T | undefined> {
    if (this.#isDown) {
      this.#probe(probe);
      return undefined;
    }
    try {
      return await this.#inTime(send());
    } catch (cause) {
      if (!this.#isDown && waits) {
        this.#isDown = true;
        this.#nextTryAt = this.#time.now() + TRY_AGAIN;
        this.#tell({ type: 'unavailable', cause });
      }
      return undefined;
    }
  }

  /** Beside the calls: none waits for it. */
  #probe(probe: () => Promise<unknown>): void {
    const now = this.#time.now();
    if (now < this.#nextTryAt) return;
    this.#nextTryAt = now + GIVEN_UP;
    const failed = (): void => {
      this.#nextTryAt = this.#time.now() + TRY_AGAIN;
    };
    const back = (): void => {
      if (!this.#isDown) return;
      this.#isDown = false;
      this.#tell({ type: 'available' });
    };
    probe().then(back, failed);
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`Redis did not respond within ${this.#timeout} ms.`));
      let timer = this.#time.setTimer(() => {
        timer = this.#time.setTimer(late, GRACE);
      }, this.#timeout);
      work.then(resolve, reject).finally(() => this.#time.clearTimer(timer));
    });
  }
}
