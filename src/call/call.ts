import { ignoreErrors } from '../base/ignore-errors.js';
import type { ReadMemo, ServiceTimes } from '../base/read-memo.js';
import type { Attempt, RateLimit } from '../base/response-info.js';
import type { Runtime } from '../base/runtime.js';
import type { Area } from '../errors/api.js';
import type { Sent } from '../errors/connection.js';
import { Redactor } from '../errors/redactor.js';
import type { CallReporter } from '../events/reporter.js';
import type { Engine } from '../platform/engine.js';
import type { Permit, RateLimiter, RateLimitObservation } from '../rate-limit/rate-limiter.js';
import type { PreparedRequest } from '../request/request.js';
import type { RequestOptions } from '../request/request-options.js';
import type { CallTimeouts, LiveCalls } from '../request/timeouts.js';
import type { ResponseSource } from '../response/service-response.js';
import type { RetryBudget } from './retry-budget.js';

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
export interface ClientState {
  readonly engine: Engine;
  readonly limiter: RateLimiter | undefined;
  readonly retryBudget: RetryBudget;
  readonly runtime: Runtime;
  /** Random; tells the calls of one client from those of others. Undefined in browsers. */
  readonly tag: string | undefined;
  /** Calls in flight, including streams. */
  readonly live: LiveCalls;
  /** The last known limit of each bucket. */
  readonly rateLimits: Map<string, RateLimit>;
  readonly times: ServiceTimes;
  /** The reads of conversations. Set by the first of them. */
  reads?: ReadMemo | undefined;
  /** Whether the client was made by `forUser`. */
  readonly isOfUser?: true;
}

/** One call in flight. Constant, except for the last four fields, which change with each attempt. */
export interface Call {
  readonly area: ApiArea;
  readonly request: PreparedRequest;
  readonly options: RequestOptions;
  readonly bucket: string;
  /** The method and the path as documented. */
  readonly route: string;
  /** The conversation that it is about. */
  readonly conversationId: string | undefined;
  /** With it a retry says, in the header `x-call-attempt`, which call it belongs to. Undefined in browsers. */
  readonly id: string | undefined;
  readonly timeouts: CallTimeouts;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  readonly maxRetries: number;
  /** The longest wait for a rate limit, in milliseconds. */
  readonly maxRetryAfter: number;
  /** Whether an undocumented response is reported instead of thrown. */
  readonly reportsInvalid: boolean;
  /** Emits events to the client's listeners, if there are any. */
  readonly reporter: CallReporter | undefined;
  readonly attempts: Attempt[];
  /** The latest attempt. None before the first. */
  attempt: CallAttempt | undefined;
  /** What its retries have cost, of the retry budget. */
  spent: number;
  /** Whether the service may have carried out an attempt. Never changes from `yes` or `maybe` to a lesser one. */
  sent: Sent;
}

/** One attempt of a call: what is known of it alone. */
export class CallAttempt implements ResponseSource {
  readonly timeouts: CallTimeouts;
  /** What users see of it. */
  readonly record: { -readonly [Key in keyof Attempt]: Attempt[Key] };
  /** What the limiter gave for it, until it has ended. */
  permit: Permit | undefined;
  credential = '';
  #redactor: Redactor | undefined;
  startedAt = 0;
  /** The id that its response had. */
  requestId: string | undefined;

  constructor(
    readonly call: Call,
    delay = 0,
  ) {
    this.timeouts = call.timeouts;
    this.record = { delay, duration: 0 };
  }

  get description(): string {
    return this.requestId === undefined ? this.call.route : `${this.call.route}, request ${this.requestId}`;
  }

  get redactor(): Redactor {
    this.#redactor ??= new Redactor(this.credential, this.call.request.body);
    return this.#redactor;
  }

  /** Milliseconds since it started. */
  get duration(): number {
    return this.timeouts.runtime.now() - this.startedAt;
  }

  /** Ends its permit, whatever the limiter does. Only the first call counts. */
  release(observed?: RateLimitObservation): void {
    const { permit } = this;
    this.permit = undefined;
    ignoreErrors(() => permit?.release(observed));
  }
}
