/** An error as a visitor of your app may see it: no key, address or text of your server. Plain JSON. */
export interface ErrorData {
  /** An HTTP status. A problem of your own server is 500. */
  status: number;
  /** The service's code or type of the error, or one for the status, such as `rate_limit_error`. */
  code: string;
  /** One or two sentences for a visitor. */
  message: string;
  /** Milliseconds to wait before the next attempt, if the service says so. */
  retryAfter?: number | undefined;
}

/** An error of another entry of the package, which knows its own data. */
export interface HasErrorData {
  /** @internal */
  readonly errorData: ErrorData;
}
