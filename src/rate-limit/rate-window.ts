import type { RateLimitObservation } from './rate-limiter.js';

/** A reset further away than this is treated as malformed (ms). */
export const MAX_WINDOW = 300_000;
/** A wait of more than a day is malformed too, for example an epoch time. The client tries again after a day (ms). */
export const MAX_BLOCK = 86_400_000;
/** The first own wait after a 429. It doubles with each further one, until a request is accepted (ms). */
const FIRST_BACKOFF = 500;
const MAX_BACKOFF = 8_000;
/** Resets and dates are in whole seconds, so the reported ends of one window differ by up to this (ms). */
const MAX_SCATTER = 1_500;
/** Requests in the first second after a block. The number doubles each second. */
const FIRST_SECOND = 15;

/**
 * What is known about one rate limit, and how many requests may be sent now. Has no timers: callers pass the time, by a
 * monotonic clock.
 *
 * Nothing is held back before the first rate-limit headers. After that, the requests in flight are at most as many as
 * the window has remaining. A 429 blocks all requests for as long as it says, and at least for a short time that grows
 * while nothing is accepted. Then requests start slowly. What is `protected` is for a limiter that several processes
 * share.
 */
export class RateWindow {
  protected limit = Number.POSITIVE_INFINITY;
  protected remaining = Number.POSITIVE_INFINITY;
  protected resetAt = Number.POSITIVE_INFINITY;
  /** Whether `resetAt` is assumed, because the window has no response yet. */
  protected isEstimate = true;
  /** The known length of the last window, and when it ended. */
  #length = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  /** Which window this is. A request counts as in flight only in the window in which it was admitted. */
  protected index = 1;
  protected inFlight = 0;
  protected blockedUntil = 0;
  #backoff = FIRST_BACKOFF;
  #slowStart: SlowStart | undefined;

  /** How many more requests may be sent now. */
  available(now: number): number {
    if (now < this.blockedUntil) return 0;
    if (now >= this.resetAt) this.startNext(now);
    const allowed = this.#slowStart?.available(now - this.blockedUntil) ?? Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(allowed, this.remaining - this.inFlight));
  }

  /** Counts a request as sent. Returns its window, for `release`. */
  admit(): number {
    this.inFlight += 1;
    if (this.#slowStart !== undefined) this.#slowStart.sent += 1;
    return this.index;
  }

  /** The request has ended, with this response if there was one. */
  release(index: number, observed: RateLimitObservation, now: number): void {
    if (index === this.index) this.inFlight -= 1;
    this.#observe(observed, now);
  }

  /** When a request may be sent, if no response arrives before. Infinite if only a response can tell. */
  opensAt(now: number): number {
    const opensAt = this.blockedUntil + (this.#slowStart?.next ?? 0);
    return now < opensAt ? opensAt : this.resetAt;
  }

  /** The minimum wait of a request with so many before it in the queue, by the service's figures. */
  expectedWait(position: number, now: number): number {
    const isFull = this.inFlight >= this.remaining && !this.isEstimate;
    const untilOpen = Math.max(0, this.blockedUntil - now, isFull ? this.resetAt - now : 0);
    return untilOpen + Math.floor(position / this.limit) * this.#length;
  }

  #observe({ limit, remaining, resetAfter = 0, rejected, retryAfter }: RateLimitObservation, now: number): void {
    if (remaining !== undefined && resetAfter > 0 && resetAfter <= MAX_WINDOW)
      this.read(limit ?? remaining, remaining, resetAfter, now);
    if (rejected) this.#block(retryAfter, now);
    if (rejected !== false) return;
    if (now >= this.blockedUntil) this.#backoff = FIRST_BACKOFF;
    else if (this.#slowStart !== undefined) this.#slowStart.accepted += 1;
  }

  protected read(limit: number, remaining: number, resetAfter: number, now: number): void {
    const resetAt = now + resetAfter;
    const scatter = Math.min(MAX_SCATTER, Math.max(this.#length, resetAfter) / 2);
    if (resetAt <= this.#endedAt + scatter) return; // a late response from the last window
    const isSame = !this.isEstimate && now < this.resetAt && Math.abs(resetAt - this.resetAt) <= scatter;
    // Responses may arrive out of order: within a window, the lowest value is the latest.
    this.remaining = isSame ? Math.min(this.remaining, remaining) : remaining;
    this.resetAt = isSame ? Math.min(this.resetAt, resetAt) : resetAt;
    this.#length = isSame ? Math.max(this.#length, resetAfter) : resetAfter;
    this.limit = Math.max(limit, 1);
    this.isEstimate = false;
  }

  #block(retryAfter = 0, now: number): void {
    // While requests are blocked, another 429 belongs to the same burst.
    const least = now < this.blockedUntil ? 0 : this.#backoff;
    this.blockUntil(now + Math.min(Math.max(retryAfter, least), MAX_BLOCK), now);
  }

  protected blockUntil(time: number, now: number): void {
    if (now >= this.blockedUntil) {
      this.#backoff = Math.min(2 * this.#backoff, MAX_BACKOFF);
      this.#slowStart = new SlowStart();
    }
    this.blockedUntil = Math.max(this.blockedUntil, time);
  }

  /** A new window has begun, without a response yet: assumes the limit and length of the last one. */
  protected startNext(now: number): void {
    this.index += 1;
    this.inFlight = 0;
    this.remaining = this.limit;
    this.#endedAt = this.isEstimate ? this.#endedAt : this.resetAt;
    this.resetAt = now + 2 * this.#length;
    this.isEstimate = true;
  }
}

/**
 * After a block, requests start one by one, and then faster and faster. If requests were accepted during the block, as
 * many start at once: the cause may not have been a limit, but one overloaded model.
 */
class SlowStart {
  /** Requests that were accepted during the block, and requests that were sent since. */
  accepted = 0;
  sent = 0;

  /** How many more requests may be sent so many ms after the block. */
  available(elapsed: number): number {
    const allowed = (FIRST_SECOND + this.accepted) * 2 ** (elapsed / 1_000) - FIRST_SECOND;
    return Math.floor(allowed + 1e-6) + 1 - this.sent; // `next` is rounded
  }

  /** When the next request may be sent, in ms after the block. */
  get next(): number {
    return 1_000 * Math.max(0, Math.log2((FIRST_SECOND + this.sent) / (FIRST_SECOND + this.accepted)));
  }
}
