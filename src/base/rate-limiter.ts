/**
 * Decides when a request may be sent. A bucket is a separate rate limit: `gateway`, `context` or `compact`. Your own
 * limiter is called once for each request, and each permit is released once.
 */
export interface RateLimiter {
  /** A permit for one request. A limiter that has to ask elsewhere may return a promise, which should resolve soon. */
  acquire(bucket: string): Permit | Promise<Permit>;
}

/** The permit for one request, or its place in the queue. */
export interface Permit {
  /** Resolves when the request may be sent. Without it, the request is sent at once. */
  readonly ready?: Promise<void> | undefined;
  /** The minimum wait in milliseconds, if known. A call that may not wait that long fails at once. */
  readonly expectedWait?: number | undefined;
  /** Called when the response has arrived, the request has failed, or the call has left the queue. */
  release(observed?: RateLimitObservation): void;
  /**
   * Optional. Called before `release` if the response is a 429 whose body, which may contain the wait, has not arrived
   * yet. Send nothing until `release`.
   */
  hold?(): void;
}

/** What a response says about its rate limit. Times are milliseconds from now. */
export interface RateLimitObservation {
  /** Requests allowed in one window. */
  readonly limit?: number | undefined;
  /** Requests that remain in the window. */
  readonly remaining?: number | undefined;
  /** When the window ends. */
  readonly resetAfter?: number | undefined;
  /** Whether the request was rejected because the limit is used up (429). */
  readonly rejected?: boolean | undefined;
  /** How long nothing may be sent, from a 429. */
  readonly retryAfter?: number | undefined;
}
