import { boundIssues } from '../../base/issues.js';
import type { RateLimitObservation } from '../../base/rate-limiter.js';
import type { Attempt, HeaderSource, RateLimit, ResponseInfo } from '../../base/response-info.js';
import { type AnySchema, removeNulls, type Schema } from '../../base/schema-issues.js';
import type { ResponseHead } from '../../platform/engine.js';
import { findIssues, unexpectedResponse } from '../arguments/validation.js';
import type { ResponseContext } from '../call/call.js';
import { parseRateLimit, parseRetryAfter, resetAfter, type ServerClock } from '../rate-limit/headers.js';

/** How a JSON response becomes the method's return value. */
export interface ResponseSpec<Body, T> {
  readonly schema: Schema<Body>;
  readonly unwrap: (body: Body) => T;
  /** The response contains only `success`, so an empty body is accepted. */
  readonly allowEmpty?: boolean;
  /** Not documented: the caller may pass a `schema`. */
  readonly undocumented?: boolean;
  /** The part of a documented response that a caller's `schema` validates, and returns in place of the whole. */
  readonly content?: (body: Body) => unknown;
}

/** The response to one attempt. */
export class ServiceResponse {
  /** Replaced if its body was partly read. */
  head: ResponseHead;
  readonly context: ResponseContext;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** The service's clock, in ms since 1970. */
  readonly serverTime: number;

  constructor(head: ResponseHead, context: ResponseContext, clock: ServerClock) {
    const { redactor, timeouts } = context;
    const id = head.headers.get('x-request-id') ?? head.headers.get('request-id');
    this.head = head;
    this.context = context;
    this.serverTime = clock.read(head.headers, timeouts.runtime.wallClock());
    this.rateLimit = parseRateLimit(head.headers, this.serverTime, redactor);
    this.requestId = id === undefined ? undefined : redactor.mask(id);
  }

  /** The part that users see. */
  get info(): ResponseInfo {
    return new VisibleResponse(this);
  }

  /** The wait that its headers ask for. */
  get retryAfter(): number | undefined {
    return parseRetryAfter(this.head.headers, undefined, this.rateLimit, this.serverTime);
  }

  /** For the limiter. */
  get observation(): RateLimitObservation {
    if (this.rateLimit === undefined) return { rejected: false };
    const { limit, remaining } = this.rateLimit;
    return { limit, remaining, resetAfter: resetAfter(this.rateLimit, this.serverTime), rejected: false };
  }

  /**
   * Validates a part of the response. Returns `false` if it is invalid and only reported. In an optional field, `null`
   * counts as absent, and is removed.
   * @throws {ResponseValidationError}
   */
  check(schema: AnySchema, value: unknown): boolean {
    let found = findIssues(schema, value);
    if (found !== undefined && removeNulls(schema, value)) found = findIssues(schema, value);
    if (found === undefined) return true;
    const { redactor, call } = this.context;
    // A path can contain text from the service, such as model names.
    const quoted = (key: string | number) => (typeof key === 'string' ? redactor.quote(key) : key);
    const issues = boundIssues(found.map(({ path, message }) => ({ path: path.map(quoted), message })));
    // `null` has no fields to return.
    if (!call?.reportsInvalid || value === null) throw unexpectedResponse(issues, value);
    call.reporter?.emit({ type: 'validation', issues });
    return false;
  }
}

/** Headers are converted to the platform's `Headers` only on request. (A literal with a getter takes 1.5 µs.) */
class VisibleResponse implements ResponseInfo {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly attempts: readonly Attempt[];
  readonly #headers: HeaderSource;

  constructor({ head, requestId, rateLimit, context }: ServiceResponse) {
    this.status = head.status;
    this.requestId = requestId;
    this.rateLimit = rateLimit;
    this.attempts = context.call?.attempts ?? [];
    this.#headers = head.headers;
  }

  get headers(): Headers {
    return this.#headers.toHeaders();
  }
}
