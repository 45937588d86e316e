import type { Step, Turn } from './script.js';

/** Maximum difference between the reported ends of one window (ms). Reset headers are in whole seconds. */
export const SCATTER = 1_500;
/** How often to check again while a call waits for the responses to others (ms). */
const POLL = 100;
const DEFAULT_LENGTH = 60_000;

/** Limits a process while Redis is unavailable: an equal share of each window. */
export class OwnShare {
  readonly #now: () => number;
  #window = 0;
  #limit = 0;
  /** Requests left in the service's window, and in this process's share. */
  #remaining = 0;
  #own = 0;
  #endsAt = 0;
  #lastEndedAt = Number.NEGATIVE_INFINITY;
  #isGuess = true;
  #length = DEFAULT_LENGTH;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Continues from the last step of Redis. */
  takeOver({ window, known, length, processes }: Turn): void {
    const now = this.#now();
    this.#window = window;
    this.#length = length;
    this.#isGuess = known === undefined;
    this.#limit = known?.limit ?? 0;
    this.#remaining = known?.remaining ?? 0;
    this.#endsAt = now + (known?.untilReset ?? 2 * length);
    this.#own = Math.floor(this.#remaining / processes);
  }

  step({ wanted, inFlight, window, observed: known, remembered, processes }: Step): Turn {
    const { blockedFor } = remembered;
    const now = this.#now();
    const share = (): number => Math.max(1, Math.floor(this.#limit / processes));
    if (now >= this.#endsAt) {
      this.#window += 1;
      this.#lastEndedAt = this.#endsAt;
      this.#remaining = this.#limit;
      this.#own = share();
      this.#endsAt = now + 2 * this.#length;
      this.#isGuess = true;
    }
    const endsAt = now + (known?.untilReset ?? 0);
    // Ignores a response from a window that has ended.
    if (known !== undefined && endsAt > Math.max(now, this.#lastEndedAt + SCATTER)) {
      const first = this.#limit === 0;
      const same = !this.#isGuess && Math.abs(endsAt - this.#endsAt) <= SCATTER;
      this.#limit = known.limit;
      this.#remaining = first || !same ? known.remaining : Math.min(this.#remaining, known.remaining);
      if (first) this.#own = Math.max(1, Math.floor(known.remaining / processes));
      this.#endsAt = same ? Math.min(this.#endsAt, endsAt) : endsAt;
      this.#length = same ? Math.max(this.#length, known.untilReset) : known.untilReset;
      this.#isGuess = false;
    }
    const flying = window === this.#window ? inFlight : 0;
    // Only a few at a time: their responses show how much the processes that can reach Redis have used.
    const together = Math.ceil(share() / 4);
    const free = this.#limit === 0 ? wanted : Math.min(this.#own, this.#remaining - flying, together - flying);
    const granted = blockedFor > 0 ? 0 : Math.max(0, Math.min(wanted, free));
    this.#own -= granted;
    const usedUp = this.#own <= 0 || this.#remaining <= 0;
    const again = blockedFor > 0 ? blockedFor : usedUp ? this.#endsAt - now : POLL;
    return {
      granted,
      again: granted < wanted ? Math.max(1, again) : 0,
      window: this.#window,
      known: this.#isGuess
        ? undefined
        : { limit: this.#limit, remaining: this.#remaining, untilReset: this.#endsAt - now },
      length: this.#length,
      blockedFor,
      processes,
    };
  }
}
