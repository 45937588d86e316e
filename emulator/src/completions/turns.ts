/**
 * Keeps work from many requests at once from holding up the streams that are being written: when a turn of the event
 * loop has lasted a while, the next piece of work waits for another one.
 */
export class Turns {
  #startedAt: number | undefined;

  /** Resolves at once while the turn is young. */
  async wait(): Promise<void> {
    while (this.#startedAt !== undefined && performance.now() - this.#startedAt > LONGEST_TURN) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (this.#startedAt !== undefined) return;
    this.#startedAt = performance.now();
    setImmediate(() => {
      this.#startedAt = undefined;
    });
  }
}

/** Milliseconds. */
const LONGEST_TURN = 8;
