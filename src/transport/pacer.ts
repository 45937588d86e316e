import { quietly } from './quietly.js';
import { LONGEST_TIMER, type Runtime } from './timeouts.js';

/** A place in the queue of a bucket. */
export interface Admission {
  /** Resolves when the request may be sent. */
  readonly ready: Promise<void>;
  /** Gives the place up. */
  cancel(): void;
}

/** What an answer said about its bucket. All fields are absent where no answer came. */
export interface Observation {
  /** Requests a window allows. */
  readonly limit?: number | undefined;
  /** Requests left in the window. */
  readonly remaining?: number | undefined;
  /** Milliseconds until the window ends. */
  readonly untilReset?: number | undefined;
  /** Milliseconds for which nothing may be sent: the hint of a 429. */
  readonly blockedFor?: number | undefined;
}

/**
 * Decides when a request may be sent. Every `admit` that lets one go is followed by one `release`.
 * A bucket is a limit of its own: `gateway`, `context`, `compact`.
 */
export interface RateLimiter {
  /** `undefined`: send now. */
  admit(bucket: string): Admission | undefined;
  /** The request is answered, or has failed. */
  release(bucket: string, observed: Observation): void;
}

/** A window longer than this is a misunderstanding: nobody is held back for it. */
const LONGEST_WINDOW = 300_000;

/**
 * Holds calls back where the service would refuse them. Before a bucket's first rate headers nothing is held back; from then
 * on a call goes while fewer are in flight than the window has left, and when it is empty all wait for its end, first come
 * first served. A 429 with a hint stops the whole bucket once, not each caller by itself. One for each client; ends with it.
 */
export class Pacer implements RateLimiter {
  readonly #runtime: Runtime;
  readonly #buckets = new Map<string, Bucket>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  admit(bucket: string): Admission | undefined {
    return this.#bucket(bucket).admit();
  }

  release(bucket: string, observed: Observation): void {
    this.#bucket(bucket).release(observed);
  }

  #bucket(name: string): Bucket {
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      bucket = new Bucket(this.#runtime);
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }
}

class Bucket {
  readonly #runtime: Runtime;
  /** Waiting callers in the order they came. */
  readonly #queue = new Set<() => void>();
  #inFlight = 0;
  #limit = Number.POSITIVE_INFINITY;
  #remaining = Number.POSITIVE_INFINITY;
  /** When the window ends, by our monotonic clock. */
  #resetAt = Number.POSITIVE_INFINITY;
  #blockedUntil = 0;
  #timer: unknown;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  admit(): Admission | undefined {
    if (this.#queue.size === 0 && this.#open()) {
      this.#inFlight += 1;
      return undefined;
    }
    let go!: () => void;
    const ready = new Promise<void>((resolve) => {
      go = resolve;
    });
    this.#queue.add(go);
    // Not only the timer is set: were it set afresh by one arrival after the other, it would never fire.
    this.#advance();
    const cancel = () => {
      // Whoever was let go at the very moment it gave up hands its turn back.
      if (!this.#queue.delete(go)) this.#inFlight -= 1;
      this.#advance();
    };
    return { ready, cancel };
  }

  release(observed: Observation): void {
    this.#inFlight -= 1;
    this.#observe(observed);
    this.#advance();
  }

  #observe({ limit, remaining, untilReset, blockedFor }: Observation): void {
    const now = this.#runtime.now();
    if (blockedFor !== undefined)
      this.#blockedUntil = Math.max(this.#blockedUntil, now + Math.min(blockedFor, LONGEST_WINDOW));
    if (remaining === undefined || untilReset === undefined || untilReset <= 0 || untilReset > LONGEST_WINDOW) return;
    const resetAt = now + untilReset;
    // Dates have whole seconds, so estimates of one window's end scatter by one: a later one is a new window only beyond that.
    const sameWindow = now < this.#resetAt && Math.abs(resetAt - this.#resetAt) <= 1_500;
    // Answers overtake each other: in one window the lowest figure is the latest.
    this.#remaining = sameWindow ? Math.min(this.#remaining, remaining) : remaining;
    this.#resetAt = sameWindow ? Math.min(this.#resetAt, resetAt) : resetAt;
    this.#limit = Math.max(limit ?? remaining, 1);
  }

  /** Whether one more request may go now. */
  #open(): boolean {
    const now = this.#runtime.now();
    if (now < this.#blockedUntil) return false;
    if (now >= this.#resetAt) {
      // A new window has begun that no answer has told of yet: it holds what the last one did.
      this.#remaining = this.#limit;
      this.#resetAt = Number.POSITIVE_INFINITY;
    }
    return this.#inFlight < this.#remaining;
  }

  #advance(): void {
    for (const go of this.#queue) {
      if (!this.#open()) break;
      this.#queue.delete(go);
      this.#inFlight += 1;
      go();
    }
    this.#armTimer();
  }

  /** One timer for all who wait; none when nobody does, or when an answer under way will let the next one go. */
  #armTimer(): void {
    if (this.#timer !== undefined) this.#runtime.clearTimer(this.#timer);
    this.#timer = undefined;
    if (this.#queue.size === 0) return;
    const now = this.#runtime.now();
    const opensAt = now < this.#blockedUntil ? this.#blockedUntil : this.#resetAt;
    if (opensAt === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#runtime.setTimer(
      () => this.#advance(),
      Math.min(Math.max(1, Math.ceil(opensAt - now)), LONGEST_TIMER),
    );
  }
}

/** The limiter's leave to send one request, given back once: with what the answer said, or without an answer. */
export class Ticket {
  #limiter: RateLimiter | undefined;
  readonly #bucket: string;

  constructor(limiter: RateLimiter | undefined, bucket: string) {
    this.#limiter = limiter;
    this.#bucket = bucket;
  }

  release(observed: Observation): void {
    const limiter = this.#limiter;
    this.#limiter = undefined;
    quietly(() => limiter?.release(this.#bucket, observed));
  }
}
