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
}

/** The data of a response, and its status, headers and attempts. */
export interface WithResponse<T> {
  readonly data: T;
  readonly response: ResponseInfo;
}

/**
 * The return value of every method. Await it for the data; call `withResponse()` for status, headers, rate limit and attempts too.
 * Awaiting it several times sends the request once.
 */
export class APIPromise<T> implements Promise<T> {
  readonly #result: Promise<WithResponse<T>>;
  /** Created by the first `then`, so that `withResponse()` alone leaves no second promise whose rejection could go unhandled. */
  #data: Promise<T> | undefined;

  constructor(result: Promise<WithResponse<T>>) {
    this.#result = result;
  }

  /** The data together with status, headers, rate limit and attempts. */
  withResponse(): Promise<WithResponse<T>> {
    return this.#result;
  }

  // biome-ignore lint/suspicious/noThenProperty: this class is a promise
  then<A = T, B = never>(
    onFulfilled?: ((data: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#data ??= this.#result.then(({ data }) => data);
    // The handlers are passed to a native promise unchanged, so that an error's stack leads back to the line that awaits it.
    return this.#data.then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }

  /** @internal A loop over a call that was not awaited: TypeScript refuses it, plain JavaScript is told. */
  [Symbol.asyncIterator](): never {
    throw new TypeError('Await the call first: for await (const chunk of await create(…)).');
  }

  get [Symbol.toStringTag](): string {
    return 'APIPromise';
  }
}
