import { APIError } from '../errors/api.js';
import { codeIn } from '../errors/cause.js';
import { APIConnectionError } from '../errors/connection.js';

/** Points, and the cost of a retry: a hundred retries more than there are successes. */
const POINTS = 500;
const COST = 5;
/** Retries that cost nothing: of connections that are refused for at most so many milliseconds, as while a service restarts. */
const FREE = 100;
const RESTART = 1_000;
/** In the words of the system, and of Bun. */
const REFUSED = ['ECONNREFUSED', 'ConnectionRefused'];

/**
 * Limits retries while the service is failing, when each call would otherwise send two more requests by default.
 * Retries cost points, and successes restore them. First attempts are never held back. One for each client.
 */
export class RetryBudget {
  #points = POINTS;
  #free = FREE;
  /** Since when connections are refused, unless a call has succeeded since. */
  #refusedSince: number | undefined;

  /**
   * Takes the cost of a retry after this error, and returns it; `undefined` if too few points are left. A 429 costs nothing if a
   * limiter holds all calls back.
   */
  take(error: unknown, paced: boolean, now: number): number | undefined {
    if (paced && error instanceof APIError && error.status === 429) return 0;
    if (this.#isRestart(error, now) && this.#free > 0) {
      this.#free -= 1;
      return 0;
    }
    if (this.#points < COST) return undefined;
    this.#points -= COST;
    return COST;
  }

  /** A call succeeded: restores the cost of its retries, or one point if it needed none. */
  refund(spent: number): void {
    this.#points = Math.min(POINTS, this.#points + Math.max(1, spent));
    this.#free = Math.min(FREE, this.#free + 1);
    this.#refusedSince = undefined;
  }

  #isRestart(error: unknown, now: number): boolean {
    if (!(error instanceof APIConnectionError) || !REFUSED.includes(codeIn(error.cause) ?? '')) return false;
    this.#refusedSince ??= now;
    return now - this.#refusedSince < RESTART;
  }
}
