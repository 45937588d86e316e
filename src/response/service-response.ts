import { boundIssues } from '../base/issues.js';
import { isObject } from '../base/objects.js';
import type { Attempt, HeaderSource, RateLimit, ResponseInfo } from '../base/response-info.js';
import type { Area } from '../errors/api.js';
import type { CallDetails } from '../errors/call.js';
import type { CallReporter } from '../events/reporter.js';
import type { ResponseHead } from '../platform/engine.js';
import { longestWait, parseRateLimit, parseRetryAfter, parseWait, serverTime } from '../rate-limit/headers.js';
import type { CallTimeouts } from '../request/timeouts.js';
import { type AnySchema, findIssues, repair, type Schema } from '../validation/schema-issues.js';
import { unexpectedResponse } from '../validation/validate.js';

/** How a JSON response becomes the method's return value. */
export interface ResponseSpec<Body, T> {
  readonly schema: Schema<Body>;
  /** Changes the body before it is checked. */
  readonly tidy?: (body: Body) => void;
  /** `parsed` is what a caller's `schema` made of its `content`. */
  readonly unwrap: (body: Body, parsed?: unknown) => T;
  /** The response contains only `success`, so an empty body is accepted. */
  readonly allowEmpty?: boolean;
  /** Not documented: the caller may pass a `schema`. */
  readonly undocumented?: boolean;
  /** The part of a documented response that a caller's `schema` validates, or `undefined` if there is none. */
  readonly content?: (body: Body) => unknown;
}

/** What reading a response requires, whole or as a stream. A relayed stream has no call. */
export interface ResponseSource extends CallDetails {
  readonly timeouts: CallTimeouts;
  /** When the request started, on the runtime's clock. */
  readonly startedAt: number;
  readonly call?: CallFacts;
}

/** What the reader of a response must know about its call. */
interface CallFacts extends NonNullable<CallDetails['call']> {
  readonly area: { readonly name: Area; readonly explain: (status: number, route: string) => string | undefined };
  readonly request: { readonly address: string };
  readonly reporter: CallReporter | undefined;
  readonly reportsInvalid: boolean;
}

/** The response to one attempt. */
export class ServiceResponse {
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** The wait that its header asks for. */
  readonly #retryAfter: number | undefined;
  /** When it was sent, by the service's clock. */
  readonly #time: number;
  #head: ResponseHead;

  constructor(
    head: ResponseHead,
    readonly source: ResponseSource,
  ) {
    this.#head = head;
    const { redactor, timeouts } = source;
    const id = head.headers.get('x-request-id') ?? head.headers.get('request-id');
    this.#time = serverTime(head.headers, timeouts.runtime.wallClock());
    this.rateLimit = parseRateLimit(head.headers, this.#time, redactor);
    this.#retryAfter = parseRetryAfter(head.headers, this.#time);
    this.requestId = id === undefined ? undefined : redactor.mask(id);
  }

  get head(): ResponseHead {
    return this.#head;
  }

  /** Puts another body in the place of one that was partly read. */
  replaceBody(body: ResponseHead['body']): void {
    this.#head = { ...this.#head, body };
  }

  /** The part that users see. */
  get info(): ResponseInfo {
    return new VisibleResponse(this);
  }

  /** The wait that it asks for, in milliseconds. `inBody` is what its error says, in seconds. */
  retryAfter(inBody?: unknown): number | undefined {
    const { status } = this.head;
    // With other statuses, an empty window is not the reason, so its end is not the time to retry.
    const limit = status === 429 || status === 503 ? this.rateLimit : undefined;
    return longestWait(this.#retryAfter, parseWait(inBody, this.#time), limit);
  }

  /**
   * Validates a part of the response. Returns `false` if it is invalid and only reported. In an optional field, `null`
   * counts as absent, and is removed.
   * @throws {ResponseValidationError}
   */
  check(schema: AnySchema, value: unknown, tidy?: (value: unknown) => void): boolean {
    const found = findIssues(schema, value);
    if (found === undefined) return true;
    const received = JSON.stringify(value);
    tidy?.(value);
    const isChanged = repair(schema, value) || tidy !== undefined;
    if (isChanged && findIssues(schema, value) === undefined) return true;
    if (isChanged) restore(value, received);
    const { redactor, call } = this.source;
    // A path can contain text from the service, such as model names.
    const quoted = (key: string | number) => (typeof key === 'string' ? redactor.quote(key) : key);
    const issues = boundIssues(found.map(({ path, message }) => ({ path: path.map(quoted), message })));
    // `null` has no fields to return.
    if (!call?.reportsInvalid || value === null) throw unexpectedResponse(issues, value);
    call.reporter?.emit({ type: 'validation', issues });
    return false;
  }
}

/** Gives a value back the fields that it had. */
function restore(value: unknown, received: string): void {
  if (isObject(value)) Object.assign(value, JSON.parse(received));
}

/** Headers are converted to the platform's `Headers` only on request. (A literal with a getter takes 1.5 µs.) */
class VisibleResponse implements ResponseInfo {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly attempts: readonly Attempt[];
  readonly #headers: HeaderSource;

  constructor({ head, requestId, rateLimit, source }: ServiceResponse) {
    this.status = head.status;
    this.requestId = requestId;
    this.rateLimit = rateLimit;
    this.attempts = source.call?.attempts ?? [];
    this.#headers = head.headers;
  }

  get headers(): Headers {
    return this.#headers.toHeaders();
  }
}
