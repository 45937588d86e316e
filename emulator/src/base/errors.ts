import * as z from 'zod/mini';
import { described, label, namedObject } from './fields.js';
import { redacted } from './redact.js';

/** The two API areas of the service. Each has its own error body. */
export type Area = 'context' | 'gateway';

/** The other fields of an error response. */
export interface ErrorDetails {
  type?: string | undefined;
  /** The offending parameter. */
  param?: string | undefined;
  code?: string | undefined;
  /** Whole seconds, on a 429. */
  retryAfter?: number | undefined;
}

/** An error response. Routes throw it, and the request path writes it as the error body of the API area. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly status: number,
    message: string,
    readonly details: ErrorDetails = {},
  ) {
    super(message);
  }
}

/** A 400 that names the offending parameter. */
export function badRequest(param: string, message: string, code = 'invalid_value'): HttpError {
  return new HttpError(400, message, { param, code });
}

/** A 404 that names what was not found. */
export function notFound(param: string, message: string, code: string): HttpError {
  return new HttpError(404, message, { param, code });
}

export const contextError = namedObject('ContextError', { success: z.literal(false), error: z.string() });
export const gatewayError = namedObject('GatewayError', {
  error: z.object({
    message: z.string(),
    type: label,
    param: z.optional(label),
    code: z.optional(label),
    retry_after: z.optional(described('Whole seconds, on a 429.', z.int())),
  }),
});

/** The documented error body of an area, without keys. */
export function errorBody(area: Area, status: number, message: string, details: ErrorDetails = {}): object {
  return redacted(bodyOf(area, status, message, details));
}

function bodyOf(area: Area, status: number, message: string, details: ErrorDetails): object {
  if (area === 'context') return { success: false, error: message };
  const type = details.type ?? TYPE_BY_STATUS[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  if (status === 429) return { error: { message, type, retry_after: details.retryAfter ?? 1 } };
  return { error: { message, type, param: details.param ?? '', code: details.code ?? CODE_BY_STATUS[status] ?? type } };
}

/** The generic message for a status. */
export function defaultMessage(status: number): string {
  return MESSAGE_BY_STATUS[status] ?? (status >= 500 ? 'Internal server error' : 'The request was rejected');
}

// A29: the Gateway's error types by status. A10: the codes.
const TYPE_BY_STATUS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'invalid_request_error',
  429: 'rate_limit_error',
  503: 'service_unavailable',
};

const CODE_BY_STATUS: Record<number, string> = {
  400: 'invalid_request',
  401: 'missing_authorization',
  403: 'insufficient_permissions',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'request_too_large',
  500: 'internal_error',
  503: 'service_unavailable',
};

const MESSAGE_BY_STATUS: Record<number, string> = {
  400: 'Invalid parameters',
  401: 'Missing or invalid authentication',
  403: 'Access denied',
  404: 'Not found',
  429: 'Rate limit exceeded',
  500: 'Internal server error',
  503: 'The service is temporarily unavailable',
};
