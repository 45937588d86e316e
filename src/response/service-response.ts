import { isObject } from '../base/objects.js';
import type { Attempt, HeaderSource, RateLimit, ResponseInfo } from '../base/response-info.js';
import type { Area } from '../errors/api.js';
import type { CallDetails } from '../errors/call.js';
import type { CallReporter } from '../events/reporter.js';
import type { ResponseHead } from '../platform/engine.js';
import { longestWait, parseRateLimit, parseRetryAfter, parseWait, serverTime } from '../rate-limit/headers.js';
import type { CallTimeouts } from '../request/timeouts.js';
import type { Schema } from '../validation/schema-issues.js';
import { passedHeaders } from './passed-headers.js';

/** Statuses of responses that must not have a body. */
const WITHOUT_BODY = [204, 205, 304];
/** `has_more`, a cursor, or the address of the next page, also within `pagination` or `links`. */
const MORE =
  /"(?:has_?more|next(?:_?(?:page|cursor|token|url|link)\w{0,9})?|cursor)":(?!null|false|"false"|""|0|\[\]|\{\})/i;

/** How a JSON response becomes the method's return value. */
export interface ResponseSpec<Body, T> {
  /** Reads the body. @default as JSON */
  readonly read?: (response: ServiceResponse) => Promise<unknown>;
  readonly schema: Schema<Body>;
  /** Changes the body before it is checked. */
  readonly tidy?: (body: Body) => void;
  /** `parsed` is what a caller's `schema` made of its `content`. */
  readonly unwrap: (body: Body, parsed?: unknown) => T;
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
  /** The fields beside the list that was asked for. */
  rest: Readonly<Record<string, unknown>> | undefined;
  /** Its body as the client has read it, for `asResponse`. */
  body: { readonly type: string; readonly write: () => string | ReadableStream<Uint8Array> } | undefined;

  constructor(
    readonly head: ResponseHead,
    readonly source: ResponseSource,
  ) {
    const { redactor, timeouts } = source;
    const id = head.headers.get('x-request-id') ?? head.headers.get('request-id');
    this.#time = serverTime(head.headers, timeouts.runtime.wallClock());
    this.rateLimit = parseRateLimit(head.headers, this.#time, redactor);
    this.#retryAfter = parseRetryAfter(head.headers, this.#time);
    this.requestId = id === undefined ? undefined : redactor.mask(id);
  }

  /** The part that users see. */
  get info(): ResponseInfo {
    return new VisibleResponse(this);
  }

  /** Keeps what stands beside a list: a cursor, or that there is more, which an event says, too. */
  keepRest(body: unknown, list: readonly unknown[]): void {
    if (!isObject(body)) return;
    const rest = Object.entries(body).filter(([name, value]) => value !== list && name !== 'success');
    if (rest.length === 0) return;
    this.rest = Object.fromEntries(rest);
    const reporter = this.source.call?.reporter;
    if (reporter !== undefined && MORE.test(JSON.stringify(this.rest))) reporter.emit({ type: 'more' });
  }

  /** The wait that it asks for, in milliseconds. `inBody` is what its error says, in seconds. */
  retryAfter(inBody?: unknown): number | undefined {
    const { status } = this.head;
    // With other statuses, an empty window is not the reason, so its end is not the time to retry.
    const limit = status === 429 || status === 503 ? this.rateLimit : undefined;
    return longestWait(this.#retryAfter, parseWait(inBody, this.#time), limit);
  }
}

/** Headers are converted to the platform's `Headers` only on request. (A literal with a getter takes 1.5 µs.) */
class VisibleResponse implements ResponseInfo {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly attempts: readonly Attempt[];
  readonly rest?: Readonly<Record<string, unknown>>;
  readonly #headers: HeaderSource;
  readonly #body: ServiceResponse['body'];

  constructor({ head, requestId, rateLimit, source, rest, body }: ServiceResponse) {
    this.status = head.status;
    this.requestId = requestId;
    this.rateLimit = rateLimit;
    this.attempts = source.call?.attempts ?? [];
    if (rest !== undefined) this.rest = rest;
    this.#headers = head.headers;
    this.#body = body;
  }

  get headers(): Headers {
    return this.#headers.toHeaders();
  }

  toResponse(): Response {
    const { status, headers } = this;
    const body = WITHOUT_BODY.includes(status) ? undefined : this.#body;
    return new Response(body?.write() ?? null, { status, headers: passedHeaders(headers, body?.type) });
  }
}
