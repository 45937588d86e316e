import type { Attempt, HeaderSource, RateLimit, ResponseInfo } from '../answer.js';
import type { APIErrorDetails, Area, CallRecord, Sent } from '../errors.js';
import type { Engine, ResponseHead } from '../platform/engine.js';
import type { EventBody } from './events.js';
import type { LiveCalls } from './live-calls.js';
import type { RequestOptions } from './options.js';
import type { RateLimiter } from './pacer.js';
import type { RefusalContext } from './refusal.js';
import type { Endpoint, PreparedRequest } from './request.js';
import type { RetryBudget } from './retry.js';
import type { CallTimeouts, Runtime } from './timeouts.js';
import type { AnySchema, Schema } from './validation.js';

/** What one half of the service adds to a request. */
export interface AreaRules {
  readonly name: Area;
  /** Lower case. */
  readonly credentialHeader: string;
  /** The value of that header, read afresh for each attempt. */
  readonly authorize: () => string | Promise<string>;
  /** How to fix a refusal with this status, for its message. */
  readonly explain: (status: number) => string | undefined;
}

/** What a client and everything derived from it with `withOptions` share. Ends with `close()`. */
export interface Shared {
  readonly engine: Engine;
  readonly limiter: RateLimiter | undefined;
  readonly budget: RetryBudget;
  readonly runtime: Runtime;
  /** Calls that are not over, streams included. */
  readonly live: LiveCalls;
  /** The last known limit of each bucket. */
  readonly rateLimits: Map<string, RateLimit>;
  closed: boolean;
  calls: number;
}

/** One call on its way. */
export interface Call {
  readonly endpoint: Endpoint;
  readonly request: PreparedRequest;
  readonly options: RequestOptions;
  readonly timeouts: CallTimeouts;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  /** Milliseconds it waits for a rate limit at most. */
  readonly maxRetryAfter: number;
  readonly attempts: Attempt[];
  /** Whether the service can have carried out any of them. It only grows. */
  sent: Sent;
  /** Whether the last attempt was refused in a body that could not be read to its end: it may have had a hint. */
  hintMissed: boolean;
  /** The error with which it was not let into a queue that would have taken too long. */
  notQueued: Error | undefined;
  /** The credential that was sent last, and the one that was read to replace it. */
  credential: string | undefined;
  nextCredential: string | undefined;
  /** Whether a refused credential was read again. */
  rotated: boolean;
  readonly bucket: string;
  /** Method and path as the interface writes them. */
  readonly route: string;
  /** The same with the service's id of the last answer's request, for messages. */
  where: string;
  /** Masks the credential in a text of the service's, once there is an answer. */
  clean: (text: string) => string;
  /** Tells the client's listener, if there is one. */
  readonly emit: ((event: EventBody) => void) | undefined;
}

/** How a JSON answer becomes what the method returns. */
export interface AnswerForm<Body, T> {
  readonly schema: Schema<Body>;
  readonly pick: (body: Body) => T;
  /** The answer carries nothing but its success, so that an empty body will do (A16). */
  readonly mayBeEmpty?: boolean;
  /** The interface says nothing of it (A3): the caller may pass a `schema` of its own. */
  readonly undocumented?: boolean;
}

/** A stream's answer, handed over to whoever reads it: from now on the reader ends the call. */
export interface OpenedStream {
  readonly head: ResponseHead;
  readonly response: ResponseInfo;
  readonly timeouts: CallTimeouts;
  readonly runtime: Runtime;
  /** When its attempt began, on the runtime's clock. */
  readonly startedAt: number;
  /** Milliseconds it may stay silent. */
  readonly idleTimeout: number;
  /** The call it belongs to, as its errors have it. */
  readonly call: CallRecord;
  /** What an error event says, as details for a typed error. */
  readonly refuse: (body: unknown) => APIErrorDetails;
  /** Tells the client's listener that the stream has ended badly. */
  readonly failed: (error: Error) => void;
  /** Checks a part of the answer: `false` where it is wrong and `validation` has it all the same. @throws {ResponseValidationError} */
  readonly check: (schema: AnySchema, value: unknown) => boolean;
}

/** What came with the data. Headers are turned into the platform's own only for those who ask. */
export class Answered implements ResponseInfo {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly attempts: readonly Attempt[];
  readonly #headers: HeaderSource;

  constructor(head: ResponseHead, attempts: readonly Attempt[], { requestId, rateLimit }: RefusalContext) {
    this.status = head.status;
    this.requestId = requestId;
    this.rateLimit = rateLimit;
    this.attempts = attempts;
    this.#headers = head.headers;
  }

  get headers(): Headers {
    return this.#headers.toHeaders();
  }
}
