import { ignoreErrors } from '../base/ignore-errors.js';
import { LONGEST_TIMER, type Runtime } from '../base/runtime.js';

/** A place in the queue of a rate limit. */
export interface Admission {
  /** Resolves when the request may be sent. */
  readonly ready: Promise<void>;
  /** The minimum wait in milliseconds, if known. A call that may not wait that long fails at once. */
  readonly expected?: number | undefined;
  /** Leaves the queue. */
  cancel(): void;
}

/** What a response reported about its rate limit. All fields are absent if no response arrived. */
export interface Observation {
  /** Requests allowed in one window. */
  readonly limit?: number | undefined;
  /** Requests left in the window. */
  readonly remaining?: number | undefined;
  /** Milliseconds until the window ends. */
  readonly untilReset?: number | undefined;
  /** Whether the request was rejected because the limit is used up (429). */
  readonly refused?: boolean | undefined;
  /** Milliseconds for which nothing may be sent, from a 429. */
  readonly blockedFor?: number | undefined;
}

/**
 * Decides when a request may be sent. Each admitted request is followed by one `release`.
 * A bucket is a separate rate limit: `gateway`, `context` or `compact`.
 */
export interface RateLimiter {
  /**
   * Returns `undefined` to send now, or a place in the queue. A limiter that has to ask elsewhere may return a promise,
   * which should resolve soon.
   */
  admit(bucket: string): Admission | undefined | Promise<Admission | undefined>;
  /** Called when the response has arrived, or the request has failed. */
  release(bucket: string, observed: Observation): void;
  /**
   * Optional. Called when a request was rejected (429) and its body, which may contain the wait, has not arrived yet.
   * Send nothing until the returned function is called.
   */
  hold?(bucket: string): () => void;
}

/** A reset further away than this is treated as malformed (ms). */
const LONGEST_WINDOW = 300_000;
/** A wait of more than a day is malformed too, for example an epoch time. The client tries again after a day (ms). */
const LONGEST_BLOCK = 86_400_000;
/** Calls in the first second after a 429 without a limit. The number doubles each second. */
const FIRST_SECOND = 15;

/**
 * Holds back calls that the service would reject. Before a bucket's first rate-limit headers, nothing is held back.
 * After that, a call is sent while the calls in flight are fewer than the window has left. If the window is used up,
 * calls wait for its end, first come, first served. A 429 with a wait stops the whole bucket once, not each caller
 * separately. After a 429 without a limit, the bucket restarts slowly and learns the limit by counting. One for each
 * client; ends with it.
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

  hold(bucket: string): () => void {
    return this.#bucket(bucket).hold();
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

/** Counts after a 429 that no rate-limit headers explain. */
interface Count {
  /** When its last block ends; the calls sent since; the calls rejected and served during it. */
  openedAt: number;
  sent: number;
  refused: number;
  served: number;
  /** Without a limit in headers: the start of the window, the calls served in it, and how much the next limit grows. */
  windowFrom: number;
  passed: number;
  growth: number;
}

class Bucket {
  readonly #runtime: Runtime;
  /** Waiting callers, in order of arrival. */
  readonly #queue = new Set<() => void>();
  #inFlight = 0;
  #limit = Number.POSITIVE_INFINITY;
  #remaining = Number.POSITIVE_INFINITY;
  /** When the window ends, by our monotonic clock. */
  #resetAt = Number.POSITIVE_INFINITY;
  /** The known length of the last window (ms). */
  #window = 0;
  /** Whether headers give the limit. Otherwise it is a guess, which slows calls down and rejects none. */
  #named = false;
  /** Calls in flight that the service counted in an earlier window. */
  #earlier = 0;
  #blockedUntil = 0;
  /** 429s whose bodies have not arrived yet. */
  #holds = 0;
  #count: Count | undefined;
  #timer: unknown;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  admit(): Admission | undefined {
    if (this.#queue.size === 0 && this.#open(this.#runtime.now())) {
      this.#go();
      return undefined;
    }
    let go!: () => void;
    const ready = new Promise<void>((resolve) => {
      go = resolve;
    });
    const expected = this.#expectedWait();
    this.#queue.add(go);
    // Not only the timer: if each arrival only reset it, it would never fire.
    this.#advance();
    const cancel = () => {
      // A caller that was admitted just as it gave up returns its turn.
      if (!this.#queue.delete(go)) this.#inFlight -= 1;
      this.#advance();
    };
    return { ready, expected, cancel };
  }

  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.#advance();
    };
  }

  release(observed: Observation): void {
    this.#inFlight -= 1;
    this.#earlier = Math.max(0, this.#earlier - 1);
    this.#observe(observed);
    this.#advance();
  }

  #observe({ limit, remaining, untilReset, refused, blockedFor }: Observation): void {
    const now = this.#runtime.now();
    if (blockedFor !== undefined) {
      const until = now + Math.min(blockedFor, LONGEST_BLOCK);
      this.#blockedUntil = Math.max(this.#blockedUntil, until);
    }
    const named = remaining !== undefined && untilReset !== undefined && untilReset > 0 && untilReset <= LONGEST_WINDOW;
    if (named) {
      this.#named = true;
      const resetAt = now + untilReset;
      // Dates are in whole seconds, so estimates of one window's end vary by a second. Only a larger difference is
      // a new window.
      const sameWindow = now < this.#resetAt && Math.abs(resetAt - this.#resetAt) <= 1_500;
      // Responses may arrive out of order: within a window, the lowest value is the latest.
      this.#remaining = sameWindow ? Math.min(this.#remaining, remaining) : remaining;
      this.#resetAt = sameWindow ? Math.min(this.#resetAt, resetAt) : resetAt;
      this.#limit = Math.max(limit ?? remaining, 1);
      this.#window = sameWindow ? Math.max(this.#window, untilReset) : untilReset;
      if (refused && remaining === 0) this.#count = undefined; // the headers explain the 429
    }
    if (refused === false) this.#served(now);
    else if (refused && blockedFor !== undefined && !(named && remaining === 0)) this.#refused(now);
  }

  /** A 429 that no headers explain. The best guess of the limit is the number served since the window began. */
  #refused(now: number): void {
    const count = this.#count;
    const opensAt = this.#blockedUntil;
    if (count !== undefined && now < count.openedAt) {
      // One more of the same burst.
      count.refused += 1;
      if (count.windowFrom === count.openedAt) count.windowFrom = opensAt;
      count.openedAt = opensAt;
    } else {
      if (!this.#named && count !== undefined && count.passed > 0) this.#learn(count, opensAt);
      this.#count = { openedAt: opensAt, sent: 0, windowFrom: opensAt, passed: 0, refused: 1, served: 0, growth: 1 };
    }
    if (!this.#named && this.#window > 0) this.#startWindow(opensAt);
  }

  #learn({ windowFrom, openedAt, passed }: Count, opensAt: number): void {
    const inStep = windowFrom === openedAt; // our window began with the service's, so its length is known too
    const window = inStep ? opensAt - windowFrom : this.#window;
    const known = window <= LONGEST_WINDOW;
    this.#window = known ? window : 0;
    this.#limit = !known ? Number.POSITIVE_INFINITY : inStep ? passed : Math.max(passed, Math.ceil(this.#limit / 2));
    if (!known) this.#forgetWindow();
  }

  #served(now: number): void {
    const count = this.#count;
    if (count === undefined) return;
    if (now < count.openedAt) count.served += 1;
    else {
      count.passed += 1;
      if (!this.#named) this.#remaining -= 1;
    }
  }

  /** The block is over. If at least as many calls were served meanwhile as rejected, the cause was not a limit. */
  #judge({ refused, served }: Count): void {
    if (served < refused) return;
    this.#count = undefined;
    if (!this.#named) this.#forgetWindow();
  }

  #forgetWindow(): void {
    this.#limit = this.#remaining = this.#resetAt = Number.POSITIVE_INFINITY;
    this.#window = 0;
  }

  #startWindow(at: number): void {
    this.#remaining = this.#limit;
    this.#resetAt = at + this.#window;
  }

  /** Whether one more request may go now. */
  #open(now: number): boolean {
    if (this.#count !== undefined && now >= this.#count.openedAt) this.#judge(this.#count);
    if (now >= this.#resetAt) this.#nextWindow(now);
    return this.#holds === 0 && now >= this.#opensAt() && this.#inFlight - this.#earlier < this.#remaining;
  }

  /** A new window has begun, without a response yet: assumes the limit of the last one. */
  #nextWindow(now: number): void {
    this.#earlier = this.#inFlight;
    const count = this.#count;
    if (this.#named || count === undefined) {
      this.#remaining = this.#limit;
      this.#resetAt = Number.POSITIVE_INFINITY;
      return;
    }
    // A window that was used up without a 429 may allow more, so the guess grows, faster each time.
    if (this.#remaining <= 0) {
      this.#limit += count.growth;
      count.growth *= 2;
    }
    Object.assign(count, { windowFrom: now, passed: 0 });
    this.#startWindow(now);
  }

  /** The earliest time for the next call: after a given wait, and slowly after a block with an unknown limit. */
  #opensAt(): number {
    if (this.#count === undefined) return this.#blockedUntil;
    const { openedAt, sent } = this.#count;
    return Math.max(this.#blockedUntil, openedAt + 1_000 * Math.log2(1 + sent / FIRST_SECOND));
  }

  /** The minimum wait of the next caller in the queue, in milliseconds, by the service's figures. */
  #expectedWait(): number {
    const now = this.#runtime.now();
    const blocked = Math.max(0, this.#blockedUntil - now);
    if (!this.#named) return blocked;
    const full = this.#inFlight - this.#earlier >= this.#remaining && this.#resetAt !== Number.POSITIVE_INFINITY;
    const windows = Math.floor(this.#queue.size / this.#limit);
    return Math.max(blocked, full ? this.#resetAt - now : 0) + windows * this.#window;
  }

  #go(): void {
    this.#inFlight += 1;
    if (this.#count !== undefined) this.#count.sent += 1;
  }

  #advance(): void {
    // Reads the clock once: a limit that opens between two readings would neither admit nor arm the timer.
    const now = this.#runtime.now();
    for (const go of this.#queue) {
      if (!this.#open(now)) break;
      this.#queue.delete(go);
      this.#go();
      go();
    }
    this.#armTimer(now);
  }

  /** One timer for all waiting calls. None if no call waits, or if a pending response will admit the next one. */
  #armTimer(now: number): void {
    if (this.#timer !== undefined) this.#runtime.clearTimer(this.#timer);
    this.#timer = undefined;
    if (this.#queue.size === 0) return;
    const opensAt = now < this.#opensAt() ? this.#opensAt() : this.#resetAt;
    if (opensAt === Number.POSITIVE_INFINITY || this.#holds > 0) return;
    this.#timer = this.#runtime.setTimer(
      () => this.#advance(),
      Math.min(Math.max(1, Math.ceil(opensAt - now)), LONGEST_TIMER),
    );
  }
}

/** Returns a place to the limiter, with the facts of the response if there was one. */
export type Release = (observed: Observation) => void;

/** Makes sure that a place is returned only once. */
export function releaseOnce(limiter: RateLimiter | undefined, bucket: string): Release {
  let left = limiter;
  return (observed) => {
    const holder = left;
    left = undefined;
    ignoreErrors(() => holder?.release(bucket, observed));
  };
}

/** Holds a bucket. If a given limiter throws, the 429 is still the call's error. */
export function holdQuietly(limiter: RateLimiter | undefined, bucket: string): (() => void) | undefined {
  let free: (() => void) | undefined;
  ignoreErrors(() => {
    free = limiter?.hold?.(bucket);
  });
  return free;
}
