import { MAX_TIMER, type Runtime } from '../base/runtime.js';
import { forwardRuntime } from './forward-runtime.js';
import type { Permit, RateLimiter, RateLimitObservation } from './rate-limiter.js';
import { type PermitQueue, QueuedPermit } from './rate-limiter.js';
import { RateWindow } from './rate-window.js';

/**
 * Holds back requests that the service would reject, and admits them first come, first served. One for each client;
 * ends with it.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly #buckets = new Map<string, MemoryBucket>();
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = forwardRuntime(runtime);
  }

  acquire(bucket: string): Permit {
    let queue = this.#buckets.get(bucket);
    if (queue === undefined) {
      queue = new MemoryBucket(this.#runtime);
      this.#buckets.set(bucket, queue);
    }
    return queue.acquire();
  }
}

class MemoryBucket implements PermitQueue {
  readonly #window = new RateWindow();
  /** Waiting permits, in order of arrival. */
  readonly #waiting = new Set<QueuedPermit>();
  /** 429s whose bodies have not arrived yet, and how long others wait for them. */
  readonly #holding = new Map<QueuedPermit, number>();
  #timer: unknown;

  constructor(private readonly runtime: Runtime) {}

  acquire(): QueuedPermit {
    const now = this.runtime.now();
    const permit = new QueuedPermit(this);
    if (this.#waiting.size === 0 && this.#isOpen(now)) permit.admit(this.#window.admit());
    else {
      permit.wait(this.#window.expectedWait(this.#waiting.size, now));
      this.#waiting.add(permit);
      // Not only the timer: if each arrival only reset it, it would never fire.
      this.#advance();
    }
    return permit;
  }

  hold(permit: QueuedPermit, atMost: number): void {
    this.#holding.set(permit, this.runtime.now() + atMost);
  }

  release(permit: QueuedPermit, observed: RateLimitObservation): void {
    this.#holding.delete(permit);
    this.#waiting.delete(permit);
    if (permit.window !== undefined) this.#window.release(permit.window, observed, this.runtime.now());
    this.#advance();
  }

  #isOpen(now: number): boolean {
    for (const until of this.#holding.values()) if (now < until) return false;
    return this.#window.available(now) >= 1;
  }

  #advance(): void {
    // Reads the clock once: a limit that opens between two readings would neither admit nor arm the timer.
    const now = this.runtime.now();
    for (const permit of this.#waiting) {
      if (!this.#isOpen(now)) break;
      this.#waiting.delete(permit);
      permit.admit(this.#window.admit());
    }
    this.#armTimer(now);
  }

  /** One timer for all waiting calls. None if no call waits, or if a pending response will admit the next one. */
  #armTimer(now: number): void {
    if (this.#timer !== undefined) this.runtime.clearTimer(this.#timer);
    this.#timer = undefined;
    const held = Math.max(0, ...this.#holding.values());
    const opensAt = held > now ? held : this.#window.opensAt(now);
    if (this.#waiting.size === 0 || opensAt === Number.POSITIVE_INFINITY) return;
    const wait = Math.min(Math.max(1, Math.ceil(opensAt - now)), MAX_TIMER);
    this.#timer = this.runtime.setTimer(() => this.#advance(), wait);
  }
}
