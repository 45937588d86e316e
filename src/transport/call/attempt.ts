import type { Attempt, RateLimit } from '../../base/response-info.js';
import type { Runtime } from '../../base/runtime.js';
import type { Area } from '../../errors/api.js';
import type { ResponseHead } from '../../platform/engine.js';
import { Redactor } from '../response/secrets.js';
import type { Call } from './call.js';
import type { CallTimeouts } from './timeouts.js';

/** What reading a response requires, whole or as a stream. A relayed stream has no call. */
export interface ResponseContext {
  readonly area: Area;
  readonly timeouts: CallTimeouts;
  readonly runtime: Runtime;
  /** The idle timeout of a stream, in milliseconds. */
  readonly idleTimeout: number;
  /** When the request started, on the runtime's clock. */
  readonly startedAt: number;
  /** The method, the path as documented, and the service's request id if there is one. */
  readonly description: string;
  readonly redactor: Redactor;
  readonly call?: Call;
}

/** The facts of the response to one attempt. */
export interface ResponseFacts {
  readonly head: ResponseHead;
  readonly context: ResponseContext;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** The service's clock, in ms since 1970. */
  readonly serverTime: number;
}

/** One attempt of a call: what is known of it alone. */
export class CallAttempt implements ResponseContext {
  readonly call: Call;
  readonly area: Area;
  readonly timeouts: CallTimeouts;
  readonly runtime: Runtime;
  readonly idleTimeout: number;
  /** What users see of it. */
  readonly record: { -readonly [Key in keyof Attempt]: Attempt[Key] };
  credential = '';
  #redactor: Redactor | undefined;
  startedAt = 0;
  /** Of its response. */
  requestId: string | undefined;
  /** Whether the body of its error could not be read to its end; it may have contained a wait. */
  missedRetryAfter = false;

  constructor(call: Call, delay: number) {
    this.call = call;
    this.area = call.area.name;
    this.timeouts = call.timeouts;
    this.runtime = call.runtime;
    this.idleTimeout = call.idleTimeout;
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
    return this.runtime.now() - this.startedAt;
  }
}
