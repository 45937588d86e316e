import type { Attempt, RateLimit } from '../api-promise.js';
import type { Area } from '../errors/api.js';
import type { CallRecord } from '../errors/call.js';
import type { Sent } from '../errors/connection.js';
import type { Engine, ResponseHead } from '../platform/engine.js';
import type { Listener } from './events.js';
import type { LiveCalls } from './live-calls.js';
import type { RequestOptions } from './options.js';
import type { RateLimiter } from './pacer.js';
import type { CallReporter } from './reporter.js';
import type { PreparedRequest } from './request.js';
import type { RetryBudget } from './retry.js';
import type { CallTimeouts, Runtime } from './timeouts.js';

/** What one half of the service adds to a request. */
export interface AreaRules {
  readonly name: Area;
  /** Lower case. */
  readonly credentialHeader: string;
  /** The value of that header, read afresh for each attempt. */
  readonly authorize: () => string | Promise<string>;
  /** How to fix a refusal with this status of this route, for its message. */
  readonly explain: (status: number, route: string) => string | undefined;
}

/** What a client and everything derived from it with `withOptions` share. Ends with `close()`. */
export interface Shared {
  readonly engine: Engine;
  readonly limiter: RateLimiter | undefined;
  readonly budget: RetryBudget;
  readonly runtime: Runtime;
  /** Calls that are not over, streams included. */
  readonly live: LiveCalls;
  /** Of `client.subscribe`. */
  readonly listeners: Set<Listener>;
  /** The last known limit of each bucket. */
  readonly rateLimits: Map<string, RateLimit>;
  closed: boolean;
  calls: number;
}

/** What an answer and its errors need to know of the call they belong to: also of a call that a server made and relays. */
export interface CallFacts extends CallRecord {
  readonly area: Pick<AreaRules, 'name' | 'explain'>;
  /** What was sent, where that is known. */
  readonly request?: Pick<PreparedRequest, 'method' | 'address'>;
  readonly attempts: Attempt[];
  /** Whether the service can have carried out an attempt. It only grows. */
  sent: Sent;
  /** Method and path as the interface writes them, and the service's id of the last answer's request. */
  where: string;
  /** Masks the credential in a text of the service's, once there is an answer. */
  clean: (text: string) => string;
  /** The credential that was sent last: should the service repeat it, it is masked. */
  credential: string;
  /** When the last attempt began, on the runtime's clock. */
  startedAt: number;
  readonly timeouts: CallTimeouts;
  readonly runtime: Runtime;
  /** Milliseconds a stream may stay silent. */
  readonly idleTimeout: number;
  /** Whether an answer that is not as documented is reported to the listener instead of thrown. */
  readonly reports: boolean;
  /** Tells the client's listeners, if there are any. */
  readonly reporter: CallReporter | undefined;
}

/** What is known of the answer to one attempt. */
export interface AnswerFacts {
  readonly head: ResponseHead;
  readonly call: CallFacts;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** The service's clock, in ms since 1970. */
  readonly serverTime: number;
}

/** One call on its way. */
export interface Call extends CallFacts {
  readonly request: PreparedRequest;
  readonly options: RequestOptions;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  readonly maxRetries: number;
  /** Milliseconds it waits for a rate limit at most. */
  readonly maxRetryAfter: number;
  readonly bucket: string;
  readonly route: string;
  /** Whether the last attempt was refused in a body that could not be read to its end: it may have had a hint. */
  hintMissed: boolean;
  /** The error with which it was not let into a queue that would have taken too long. */
  notQueued: Error | undefined;
  /** The credential that was read to replace the refused one, once a call. */
  nextCredential: string | undefined;
  rotated: boolean;
}
