import { RateWindow } from '../rate-limit/rate-window.js';

/** A block that ends later by less than this is the same block, seen by another process (ms). */
const SAME_BLOCK = 100;

/** What processes that share a limit tell each other. Times are milliseconds from now. A limit of 0 is unknown. */
export interface WindowState {
  readonly window: number;
  readonly inFlight: number;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfter: number;
  readonly retryAfter: number;
}

/** What this process knows of a window that it shares with others, and its share of it while it cannot ask them. */
export class SharedWindow extends RateWindow {
  /** How many processes use the limit without asking each other, and how much of its share this one has left. */
  #processes = 1;
  #share = Number.POSITIVE_INFINITY;

  override available(now: number): number {
    const available = super.available(now); // may start the next window, and with it the next share
    if (this.#processes === 1) return available;
    // Only a few at a time: their responses show how much the other processes have used.
    const share = Math.min(this.#share, Math.ceil(this.#shareOf(this.limit) / 4) - this.inFlight);
    return Math.max(0, Math.min(available, share));
  }

  override admit(): number {
    this.#share -= 1;
    return super.admit();
  }

  /**
   * Restricts requests to an equal share of this window and the next ones, while so many processes cannot ask each
   * other. 1 lifts the restriction.
   */
  split(processes: number): void {
    if (processes === this.#processes) return;
    this.#processes = processes;
    this.#share = this.#shareOf(this.remaining) - this.inFlight;
  }

  state(now: number): WindowState {
    const { index: window, inFlight, isEstimate, resetAt } = this;
    const known = { limit: this.limit, remaining: this.remaining, resetAfter: resetAt - now };
    const facts = isEstimate || now >= resetAt ? { limit: 0, remaining: 0, resetAfter: 0 } : known;
    return { window, inFlight, ...facts, retryAfter: Math.max(0, this.blockedUntil - now) };
  }

  /** Follows what the other processes know. */
  sync({ window, limit, remaining, resetAfter, retryAfter }: Omit<WindowState, 'inFlight'>, now: number): void {
    if (window !== this.index) this.inFlight = 0;
    this.index = window;
    if (resetAfter > 0) this.read(limit, remaining, resetAfter, now);
    if (retryAfter > 0 && now + retryAfter > this.blockedUntil + SAME_BLOCK) this.blockUntil(now + retryAfter, now);
  }

  protected override read(limit: number, remaining: number, resetAfter: number, now: number): void {
    super.read(limit, remaining, resetAfter, now);
    if (this.#share === Number.POSITIVE_INFINITY) this.#share = this.#shareOf(remaining); // the first known limit
  }

  protected override startNext(now: number): void {
    super.startNext(now);
    this.#share = this.#shareOf(this.limit);
  }

  #shareOf(requests: number): number {
    return this.#processes === 1 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(requests / this.#processes));
  }
}
