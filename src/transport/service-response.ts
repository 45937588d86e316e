import { boundIssues } from '../base/issues.js';
import type { RateLimitObservation } from '../base/rate-limiter.js';
import type { Attempt, HeaderSource, RateLimit, ResponseInfo } from '../base/response-info.js';
import type { AnySchema, Schema } from '../base/schema-issues.js';
import { type APIErrorDetails, apiError } from '../errors/api.js';
import type { ResponseHead } from '../platform/engine.js';
import { MAX_JSON_BYTES, parseJson, readText, reportsError } from './body.js';
import type { CallFacts, ResponseFacts } from './call.js';
import { errorDetails, requestIdOf } from './error-details.js';
import type { CompletionFacts } from './events.js';
import { parseRateLimit, resetAfter, type ServerClock } from './rate-limit/headers.js';
import { quoted, withoutSecrets } from './secrets.js';
import { findIssues, unexpectedResponse } from './validation.js';

/** How a JSON response becomes the method's return value. */
export interface ResponseForm<Body, T> {
  readonly schema: Schema<Body>;
  readonly pick: (body: Body) => T;
  /** The response holds only its success, so an empty body is accepted. */
  readonly mayBeEmpty?: boolean;
  /** The facts of a completion. */
  readonly facts?: (body: Body) => CompletionFacts;
  /** Not documented: the caller may pass a `schema`. */
  readonly undocumented?: boolean;
}

/** The response to one attempt. */
export class ServiceResponse implements ResponseFacts {
  readonly head: ResponseHead;
  readonly call: CallFacts;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly serverTime: number;

  constructor(head: ResponseHead, call: CallFacts, clock: ServerClock) {
    this.head = head;
    this.call = call;
    this.serverTime = clock.read(head.headers, call.runtime.wallClock());
    this.rateLimit = parseRateLimit(head.headers, this.serverTime, (text) => withoutSecrets(text, call.credential));
    this.requestId = requestIdOf(head, call.credential);
  }

  /** The part that users see. */
  get info(): ResponseInfo {
    return new Response(this);
  }

  /** For the limiter. */
  get observation(): RateLimitObservation {
    if (this.rateLimit === undefined) return { rejected: false };
    const { limit, remaining } = this.rateLimit;
    return { limit, remaining, resetAfter: resetAfter(this.rateLimit, this.serverTime), rejected: false };
  }

  /** The same response with another body, for one that was partly read. */
  with(head: ResponseHead): ServiceResponse {
    return Object.assign(Object.create(ServiceResponse.prototype), this, { head });
  }

  /** The details for a typed error, from an error in the body. */
  errorDetails(body: unknown): APIErrorDetails {
    return errorDetails(this, body);
  }

  /** Reads the JSON value, which may report an error despite a success status. */
  async json(mayBeEmpty = false): Promise<unknown> {
    const text = await readText(this.head, MAX_JSON_BYTES);
    if (text === '' && mayBeEmpty) return { success: true };
    const body = parseJson(text, this.head.headers);
    if (reportsError(body)) throw apiError(this.head.status, this.errorDetails(body));
    return body;
  }

  /**
   * Validates a part of the response. Returns `false` if it is invalid and only reported.
   * @throws {ResponseValidationError}
   */
  check(schema: AnySchema, value: unknown): boolean {
    const found = findIssues(schema, value);
    if (found === undefined) return true;
    const { reports, reporter } = this.call;
    // A path can contain text from the service, such as model names.
    const cleaned = (key: string | number) => (typeof key === 'string' ? quoted(key, this.call) : key);
    const issues = boundIssues(found.map(({ path, message }) => ({ path: path.map(cleaned), message })));
    // `null` has no fields to return.
    if (!reports || value === null) throw unexpectedResponse(issues, value);
    reporter?.emit({ type: 'validation', issues });
    return false;
  }
}

/** Headers are converted to the platform's `Headers` only on request. */
class Response implements ResponseInfo {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly attempts: readonly Attempt[];
  readonly #headers: HeaderSource;

  constructor({ head, requestId, rateLimit, call }: ServiceResponse) {
    this.status = head.status;
    this.requestId = requestId;
    this.rateLimit = rateLimit;
    this.attempts = call.attempts;
    this.#headers = head.headers;
  }

  get headers(): Headers {
    return this.#headers.toHeaders();
  }
}
