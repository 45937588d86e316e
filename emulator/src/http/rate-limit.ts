import * as z from 'zod/mini';
import { count, exact, label, time } from '../base/fields.js';
import type { RateLimit } from '../store/account.js';

/** The state of a bucket after a request. */
export interface RateState {
  limit: number;
  remaining: number;
  /** The end of the window, in milliseconds since the epoch. */
  resetAt: number;
  allowed: boolean;
  /** The requests of the window, with those that were refused. */
  asked: number;
  windowMs: number;
}

/** The limit that refused a request. */
export interface ReachedLimit {
  /** The bucket: `gateway`, `gateway without key`, `gateway playground`, `tokens`, or `context` or `compact` with a user. */
  name: string;
  /** What it counts. */
  unit: 'requests' | 'tokens';
  /** How many it allows in a window. */
  allowed: number;
  /** The number of this request in the window, or the tokens used before it. */
  asked: number;
  windowMs: number;
  /** ISO 8601. */
  endsAt: string;
}

export const reachedLimit = exact<ReachedLimit>()(
  z.object({
    name: label,
    unit: z.enum(['requests', 'tokens']),
    allowed: z.number(),
    asked: count,
    windowMs: z.number(),
    endsAt: time,
  }),
);

/** Counts requests in fixed windows. A window starts with the first request of its bucket. */
export class RateLimiter {
  readonly #windows = new Map<string, Window>();

  constructor(private readonly now: () => number) {}

  /** Counts one request. */
  take(bucket: string, rule: RateLimit): RateState {
    const window = this.#window(bucket, rule);
    const allowed = window.used < rule.requests;
    if (allowed) window.used += 1;
    else window.refused += 1;
    return { ...this.#state(window, rule), allowed };
  }

  /** Counts what was used by a request that was allowed, such as tokens. It may exceed the limit. */
  spend(bucket: string, rule: RateLimit, amount: number): void {
    this.#window(bucket, rule).used += amount;
  }

  /** The state of the bucket, without counting a request. */
  peek(bucket: string, rule: RateLimit): RateState {
    return this.#state(this.#window(bucket, rule), rule);
  }

  /** Whole seconds until the window ends, at least one. */
  retryAfter(state: RateState): number {
    return Math.max(1, Math.ceil((state.resetAt - this.now()) / 1000));
  }

  /** The state of all used buckets. */
  buckets(
    ruleOf: (bucket: string) => RateLimit,
  ): { name: string; limit: number; remaining: number; resetAt: number }[] {
    return [...this.#windows.keys()].map((name) => {
      const { limit, remaining, resetAt } = this.peek(name, ruleOf(name));
      return { name, limit, remaining, resetAt };
    });
  }

  reset(): void {
    this.#windows.clear();
  }

  #state({ startedAt, used, refused }: Window, { requests, windowMs }: RateLimit): RateState {
    const remaining = Math.max(0, requests - used);
    const resetAt = startedAt + windowMs;
    return { limit: requests, remaining, resetAt, allowed: remaining > 0, asked: used + refused, windowMs };
  }

  #window(bucket: string, rule: RateLimit): Window {
    const now = this.now();
    let window = this.#windows.get(bucket);
    if (window === undefined || now >= window.startedAt + rule.windowMs) {
      window = { startedAt: now, used: 0, refused: 0 };
      this.#windows.set(bucket, window);
    }
    return window;
  }
}

interface Window {
  startedAt: number;
  used: number;
  refused: number;
}
