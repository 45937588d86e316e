import type { WithResponse } from './response-info.js';

/**
 * For TypeScript, a subtype of `Promise`, so that `no-floating-promises` reports a call that is never awaited. At run time
 * it only implements `Promise`: a subclass would create a promise for each `then` through its own constructor.
 */
export interface APIPromise<T> extends Promise<T> {}

/**
 * The return value of every method. Await it for the data; call `withResponse()` for status, headers, rate limit and attempts too.
 * Awaiting it several times sends the request once.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the class has every member of the interface
export class APIPromise<T> implements Promise<T> {
  readonly #result: Promise<WithResponse<T>>;
  /** Created by the first `then`, so that `withResponse()` alone leaves no second promise whose rejection could go unhandled. */
  #data: Promise<T> | undefined;

  constructor(result: Promise<WithResponse<T>>) {
    this.#result = result;
  }

  /** The data together with status, headers, rate limit and attempts. For a `ParsedReply`, with its completion too. */
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

  /** @internal A loop over a call that was not awaited: TypeScript rejects it; this message is for plain JavaScript. */
  [Symbol.asyncIterator](): never {
    throw new TypeError('Await the call first: for await (const chunk of await create(…)).');
  }

  get [Symbol.toStringTag](): string {
    return 'APIPromise';
  }
}
