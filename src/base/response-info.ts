/** The outcome of one request of a call. */
export interface Attempt {
  /** The status of the response, if one came. */
  readonly status?: number;
  /** The name of the error, if no usable response came. */
  readonly error?: string;
  /** Milliseconds waited before this attempt: backoff and pacing. */
  readonly delay: number;
  /** Milliseconds from its start to the response or failure. */
  readonly duration: number;
}

/** The rate limit that a response reported (`X-RateLimit-*`). A field is `undefined` if its header is absent or unreadable. */
export interface RateLimit {
  /** Requests allowed in one window. */
  readonly limit: number | undefined;
  /** Requests left in the window. */
  readonly remaining: number | undefined;
  /** When the window ends, by the service's clock. */
  readonly resetAt: Date | undefined;
  /** Milliseconds from this response to the end of the window, whatever the local clock shows. */
  readonly resetAfter: number | undefined;
  /** The three headers as received. */
  readonly raw: {
    readonly limit: string | undefined;
    readonly remaining: string | undefined;
    readonly reset: string | undefined;
  };
}

/** The headers of a response, as an engine keeps them: copied only on request. */
export interface HeaderSource {
  get(name: string): string | undefined;
  toHeaders(): Headers;
}

/** Everything about a response except its data: `(await call.withResponse()).response`. */
export interface ResponseInfo {
  readonly status: number;
  readonly headers: Headers;
  /** The service's id of the request (`x-request-id`), if it sent one. */
  readonly requestId: string | undefined;
  /** The rate limit that this response reported, if any. */
  readonly rateLimit: RateLimit | undefined;
  /** All attempts of the call, in order; the last one is this response. */
  readonly attempts: readonly Attempt[];
  /** Of a list: the fields that the response has beside it, such as `has_more` or a cursor. The API documents none. */
  readonly rest?: Readonly<Record<string, unknown>>;
  /** @internal See `asResponse` of `APIPromise`. */
  toResponse(): Response;
}

/** The data of a response, and its status, headers and attempts. */
export type WithResponse<T> = {
  readonly data: T;
  readonly response: ResponseInfo;
};
