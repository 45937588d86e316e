import type { RateLimiter } from '../base/rate-limiter.js';
import type { Attempt, RateLimit } from '../base/response-info.js';
import type { Runtime } from '../base/runtime.js';
import type { Area } from '../errors/api.js';
import type { CallRecord } from '../errors/call.js';
import type { Sent } from '../errors/connection.js';
import type { Engine, ResponseHead } from '../platform/engine.js';
import type { Listener } from './events.js';
import type { LiveCalls } from './live-calls.js';
import type { RequestOptions } from './options.js';
import type { CallReporter } from './reporter.js';
import type { PreparedRequest } from './request.js';
import type { RetryBudget } from './retry.js';
import type { CallTimeouts } from './timeouts.js';

/** The parts of a request that depend on the API. */
export interface AreaRules {
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
  closed: boolean;
  calls: number;
}

/** The facts of a call that a response and its errors need. Also used for a stream that a server relays. */
export interface CallFacts extends CallRecord {
  readonly area: Pick<AreaRules, 'name' | 'explain'>;
  /** The request, if known. */
  readonly request?: Pick<PreparedRequest, 'method' | 'address' | 'body'>;
  readonly attempts: Attempt[];
  /** Whether the service may have carried out an attempt. Never falls back from `maybe` or `yes`. */
  sent: Sent;
  /** The method, the path as documented, and the request id of the last response. */
  where: string;
  /** Masks the credential in a text from the service, once a response has arrived. */
  clean: (text: string) => string;
  /** The credential that was sent last, which is masked if the service repeats it. */
  credential: string;
  /** When the last attempt started, on the runtime's clock. */
  startedAt: number;
  readonly timeouts: CallTimeouts;
  readonly runtime: Runtime;
  /** The idle timeout of a stream, in milliseconds. */
  readonly idleTimeout: number;
  /** Whether an undocumented response is reported instead of thrown. */
  readonly reports: boolean;
  /** Emits events to the client's listeners, if there are any. */
  readonly reporter: CallReporter | undefined;
}

/** The facts of the response to one attempt. */
export interface ResponseFacts {
  readonly head: ResponseHead;
  readonly call: CallFacts;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** The service's clock, in ms since 1970. */
  readonly serverTime: number;
}

/** One call in flight. */
export interface Call extends CallFacts {
  readonly area: AreaRules;
  readonly request: PreparedRequest;
  readonly options: RequestOptions;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  /** One more once a rejected credential was read again. */
  maxRetries: number;
  /** The longest wait for a rate limit, in milliseconds. */
  readonly maxRetryAfter: number;
  readonly bucket: string;
  readonly route: string;
  /** Whether the body of the last error could not be read to its end; it may have contained a wait. */
  hintMissed: boolean;
  /** The credential that replaces a rejected one. Read once per call. */
  nextCredential: string | undefined;
  rotated: boolean;
}
