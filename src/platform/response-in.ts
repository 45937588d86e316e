import { causesOf } from '../errors/cause.js';

/** An error of undici's `responseError` interceptor, or of its `RetryAgent`. */
interface UndiciError {
  readonly statusCode?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
}

/**
 * The response that an error carries, if a dispatcher or a `fetch` turns responses into errors: undici's `responseError` and
 * `RetryAgent`, and libraries whose errors have a `response`, such as ky and ofetch.
 */
export function responseIn(failure: unknown, origin: string): Response | undefined {
  try {
    for (const error of causesOf(failure)) {
      const { statusCode, headers, body } = error as UndiciError;
      if (isError(statusCode) && headers instanceof Object) return responseOf(statusCode, headers, body);
      const { response, data } = error as { response?: Partial<Response>; data?: unknown };
      // One of another address would be that of a call that this `fetch` has made before.
      if (!isError(response?.status) || typeof response.headers?.get !== 'function') continue;
      if (response.url && new URL(response.url).origin !== origin) continue;
      if (!response.bodyUsed) return response as Response; // as checked
      return responseOf(response.status, Object.fromEntries(response.headers), data);
    }
  } catch {
    // A field that cannot be read, or no header of HTTP: then the error itself is reported.
  }
  return undefined;
}

function isError(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;
}

function responseOf(status: number, fields: object, body: unknown): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) headers.append(name, one);
  const isEncoded = headers.has('content-encoding') && typeof body === 'string';
  const text = typeof body === 'string' || body == null ? body : JSON.stringify(body);
  return new Response(isEncoded ? undefined : text, { status, headers });
}
