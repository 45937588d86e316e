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

/** The code for an error whose response has none. */
export function defaultCode(status: number): string {
  return DEFAULT_CODES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
}

export const DEFAULT_CODES: Readonly<Record<number, string>> = {
  404: 'not_found',
  429: 'rate_limit_error',
  499: 'aborted',
  503: 'service_unavailable',
  504: 'timeout',
};
