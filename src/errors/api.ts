import type { HeaderSource, RateLimit } from '../base/response-info.js';
import { ContextGatewayError } from './base.js';
import type { Sent } from './connection.js';

/** The two APIs of the service: the Context API (`/api`) and the Gateway API (`/v1`). */
export type Area = 'context' | 'gateway';

/** The fields of an `APIError`. */
export interface APIErrorDetails {
  readonly message: string;
  /** The service's own part of the message, if the body was a documented error. */
  readonly serviceMessage?: string | undefined;
  readonly area: Area;
  readonly sent: Sent;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly rateLimit?: RateLimit | undefined;
  readonly headers: HeaderSource;
  readonly body: unknown;
  /** The body as JSON without the credential, if it is an object. */
  readonly written?: () => string | undefined;
}

const TEMPORARY = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530]);

/** Whether the same call may succeed after a response with this status. */
export function isTemporary(status: number): boolean {
  return TEMPORARY.has(status);
}

/** The service responded with an error. Subclasses cover the common statuses. */
export class APIError extends ContextGatewayError {
  static override readonly errorName: string = 'APIError';

  /** The HTTP status; 200 for an error inside a successful response. */
  readonly status: number;
  /** Which API responded. */
  readonly area: Area;
  /** Whether the service may have carried out the call, in any of its attempts. */
  readonly sent: Sent;
  /** The kind of error, such as `rate_limit_error`. Gateway only. */
  readonly type: string | undefined;
  /** The error's code, such as `model_not_found`. Gateway only. */
  readonly code: string | undefined;
  /** The invalid parameter, such as `model`. Gateway only. */
  readonly param: string | undefined;
  /** The service's id of this request, if it sent one. */
  readonly requestId: string | undefined;
  /** Milliseconds that the service asks you to wait before the next attempt, if it says so. */
  readonly retryAfter: number | undefined;
  /** The rate limit that this response reported, if any. */
  readonly rateLimit: RateLimit | undefined;
  readonly #details: APIErrorDetails;

  constructor(status: number, details: APIErrorDetails) {
    super(details.message, { retryable: isTemporary(status) });
    this.status = status;
    this.area = details.area;
    this.sent = details.sent;
    this.type = details.type;
    this.code = details.code;
    this.param = details.param;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.rateLimit = details.rateLimit;
    this.#details = details;
  }

  /** The headers of the response. Never printed. */
  get headers(): Headers {
    return this.#details.headers.toHeaders();
  }

  /** The body of the response: parsed JSON, or text. Never printed. */
  get body(): unknown {
    return this.#details.body;
  }

  /** @internal The service's own message of an error, without our additions; `undefined` for a proxy's page. */
  static serviceMessageOf(error: APIError): string | undefined {
    return #details in error ? error.#details.serviceMessage : undefined; // an error of another copy of the package has none
  }

  /** @internal The body of an error for another client. */
  static bodyOf(error: APIError): string | undefined {
    return #details in error ? error.#details.written?.() : undefined;
  }

  protected override facts(): Record<string, unknown> {
    const { status, area, sent, type, code, param, requestId, retryAfter, rateLimit } = this;
    return { status, area, sent, type, code, param, requestId, retryAfter, rateLimit };
  }
}

/** 400: the service rejects the arguments. */
export class BadRequestError extends APIError {
  static override readonly errorName: string = 'BadRequestError';
}

/** 401: the credential is missing, wrong or expired. */
export class AuthenticationError extends APIError {
  static override readonly errorName: string = 'AuthenticationError';
}

/** 403: the credential may not do this. */
export class PermissionDeniedError extends APIError {
  static override readonly errorName: string = 'PermissionDeniedError';
}

/** 404: the conversation, message, model, preset or integration does not exist. */
export class NotFoundError extends APIError {
  static override readonly errorName: string = 'NotFoundError';
}

/** 409: the request conflicts with another, such as one with the same `idempotencyKey` that is still being processed. */
export class ConflictError extends APIError {
  static override readonly errorName: string = 'ConflictError';
}

/** 413: the body is too large, such as a file above the service's limit. */
export class RequestTooLargeError extends APIError {
  static override readonly errorName: string = 'RequestTooLargeError';
}

/** 422: the service can read the arguments, and rejects what they say. */
export class UnprocessableEntityError extends APIError {
  static override readonly errorName: string = 'UnprocessableEntityError';
}

/** 429: too many requests. `retryAfter` is the wait in milliseconds. */
export class RateLimitError extends APIError {
  static override readonly errorName: string = 'RateLimitError';
}

/**
 * The request was not sent, because its wait in the queue would exceed `maxRetryAfter`. Users see a `RateLimitError`.
 *
 * @internal
 */
export class QueueTimeoutError extends RateLimitError {}

/** 5xx: the service failed. */
export class InternalServerError extends APIError {
  static override readonly errorName: string = 'InternalServerError';
}

/** 503: the service is temporarily unavailable. */
export class ServiceUnavailableError extends InternalServerError {
  static override readonly errorName: string = 'ServiceUnavailableError';
}

/** Error classes with a status of their own; the other 5xx are `InternalServerError`. */
const ERROR_BY_STATUS: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  413: RequestTooLargeError,
  422: UnprocessableEntityError,
  429: RateLimitError,
  503: ServiceUnavailableError,
};

/** The only place that picks a class by status. */
export function apiError(status: number, details: APIErrorDetails): APIError {
  const ErrorClass = ERROR_BY_STATUS[status] ?? (status >= 500 ? InternalServerError : APIError);
  return new ErrorClass(status, details);
}
