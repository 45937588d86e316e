import type { RateLimitObservation } from '../../src/rate-limit/rate-limiter.js';
import type { RateWindow } from '../../src/rate-limit/rate-window.js';

/** A window whose first request gets this response at 0 ms, while so many others are in flight. */
export function afterFirst<Window extends RateWindow>(window: Window, observed: RateLimitObservation, inFlight = 0) {
  const sent = Array.from({ length: inFlight }, () => window.admit());
  const respond = (now: number, response: RateLimitObservation) =>
    window.release(sent.pop() ?? window.admit(), response, now);
  // The first request is the last that was sent.
  sent.push(window.admit());
  respond(0, observed);
  return { window, respond };
}
