import type { RateLimiter } from '../../base/rate-limiter.js';
import type { Attempt, RateLimit } from '../../base/response-info.js';
import type { Runtime } from '../../base/runtime.js';
import type { Area } from '../../errors/api.js';
import type { Sent } from '../../errors/connection.js';
import type { Engine } from '../../platform/engine.js';
import type { PreparedRequest } from '../arguments/request.js';
import type { RequestOptions } from '../arguments/request-options.js';
import type { Listener } from '../events/events.js';
import type { CallReporter } from '../events/reporter.js';
import type { LiveCalls } from './live-calls.js';
import type { RetryBudget } from './retry.js';
import type { CallTimeouts } from './timeouts.js';

/** The parts of a request that depend on the API. */
export interface ApiArea {
  readonly name: Area;
  /** Lower case. */
  readonly credentialHeader: string;
  /** The value of that header, read again for each attempt. */
  readonly authorize: () => string | Promise<string>;
  /** How to fix an error with this status on this route, for the message. */
  readonly explain: (status: number, route: string) => string | undefined;
}

/** The state that a client shares with those derived from it by `withOptions`. Ends with `close()`. */
export interface Shared {
  readonly engine: Engine;
  readonly limiter: RateLimiter | undefined;
  readonly budget: RetryBudget;
  readonly runtime: Runtime;
  /** Calls in flight, including streams. */
  readonly live: LiveCalls;
  /** Listeners of `client.subscribe`. */
  readonly listeners: Set<Listener>;
  /** The last known limit of each bucket. */
  readonly rateLimits: Map<string, RateLimit>;
}

/** One call in flight. Constant, except for the last two fields, which grow with each attempt. */
export interface Call {
  readonly area: ApiArea;
  readonly request: PreparedRequest;
  readonly options: RequestOptions;
  readonly bucket: string;
  /** The method and the path as documented. */
  readonly route: string;
  readonly runtime: Runtime;
  readonly timeouts: CallTimeouts;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  /** The idle timeout of a stream, in milliseconds. */
  readonly idleTimeout: number;
  readonly maxRetries: number;
  /** The longest wait for a rate limit, in milliseconds. */
  readonly maxRetryAfter: number;
  /** Whether an undocumented response is reported instead of thrown. */
  readonly reportsInvalid: boolean;
  /** Emits events to the client's listeners, if there are any. */
  readonly reporter: CallReporter | undefined;
  readonly attempts: Attempt[];
  /** Whether the service may have carried out an attempt. Never changes from `yes` or `maybe` to a lesser one. */
  sent: Sent;
}
