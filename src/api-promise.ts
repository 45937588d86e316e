/** What one request of a call came to, in the order they were sent. */
export interface Attempt {
  /** The status of the response, if one came. */
  readonly status?: number;
  /** The name of the error, if no usable response came. */
  readonly error?: string;
  /** Milliseconds waited before this attempt: backoff and pacing. */
  readonly delay: number;
  /** Milliseconds from its start to its response or failure. */
  readonly duration: number;
}

/** The service's rate limit as of one response (`X-RateLimit-*`). A field is `undefined` where its header is absent or unreadable. */
export interface RateLimit {
  /** Requests allowed in one window. */
  readonly limit: number | undefined;
  /** Requests left in this window. */
  readonly remaining: number | undefined;
  /** When the window ends, by the service's clock. */
  readonly resetAt: Date | undefined;
  /** The three headers as they came. */
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

/** A response besides its data: `(await call.withResponse()).response`. */
export interface ResponseInfo {
  readonly status: number;
  readonly headers: Headers;
  /** The id under which the service knows the request (`x-request-id`), if it sent one. */
  readonly requestId: string | undefined;
  /** The rate limit as of this response, if the service sent one. */
  readonly rateLimit: RateLimit | undefined;
  /** Every attempt of the call; the last one is this response. */
  readonly attempts: readonly Attempt[];
}

/** The data of a response, and its status, headers and attempts. */
export interface WithResponse<T> {
  readonly data: T;
  readonly response: ResponseInfo;
}

/**
 * What every method returns. Await it for the data; call `withResponse()` for status, headers, rate limit and attempts too.
 * The request is sent once, however often it is awaited.
 */
export class APIPromise<T> implements Promise<T> {
  readonly #answer: Promise<WithResponse<T>>;
  /** Made at the first `then`, so that `withResponse()` alone leaves no second promise that could go unhandled. */
  #data: Promise<T> | undefined;

  constructor(answer: Promise<WithResponse<T>>) {
    this.#answer = answer;
  }

  /** The data together with status, headers, rate limit and attempts. */
  withResponse(): Promise<WithResponse<T>> {
    return this.#answer;
  }

  // biome-ignore lint/suspicious/noThenProperty: this class is a promise
  then<A = T, B = never>(
    onFulfilled?: ((data: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#data ??= this.#answer.then(({ data }) => data);
    // The handlers go to a native promise as they are: so the stack of an error leads back to the line that awaits it.
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
