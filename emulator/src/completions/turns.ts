import { nextTurn, now, setImmediate } from '../base/real-timers.js';

/**
 * Keeps many simultaneous requests from delaying the streams in progress: when a turn of the event loop has lasted too
 * long, the next request waits for another turn.
 */
export class Turns {
  #startedAt: number | undefined;

  constructor(private readonly clock = now) {}

  /** Resolves at once, unless the current turn has lasted too long. */
  async wait(): Promise<void> {
    while (this.#startedAt !== undefined && this.clock() - this.#startedAt > LONGEST_TURN) await nextTurn();
    if (this.#startedAt !== undefined) return;
    this.#startedAt = this.clock();
    setImmediate(() => {
      this.#startedAt = undefined;
    });
  }
}

/** Milliseconds. */
const LONGEST_TURN = 8;
