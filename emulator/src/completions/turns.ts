import { nextTurn, now, setImmediate, timersAreFake } from '../base/real-timers.js';

/**
 * Keeps many simultaneous requests from delaying the streams in progress: when a turn of the event loop has lasted too
 * long, the next request waits for another turn.
 */
export class Turns {
  #startedAt: number | undefined;

  constructor(private readonly clock = now) {}

  /** Resolves at once, unless the current turn has lasted too long. */
  async wait(): Promise<void> {
    while (this.#isLate && !timersAreFake()) await nextTurn();
    if (this.#startedAt !== undefined) return;
    this.#startedAt = this.clock();
    setImmediate(() => {
      this.#startedAt = undefined;
    });
  }

  get #isLate(): boolean {
    return this.#startedAt !== undefined && this.clock() - this.#startedAt > LONGEST_TURN;
  }
}

/** Milliseconds. */
const LONGEST_TURN = 8;
