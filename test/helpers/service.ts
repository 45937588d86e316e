import { ContextClient, GatewayClient, type GatewayClientOptions, RequestValidationError } from 'context-gateway';
import { HttpResponse, http, type JsonBodyType } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

/** The URL of the canned service. Nothing listens there. */
export const BASE = 'https://service.test';
export const KEY = 'svc_sk_canary_0123456789abcdef';
export const TOKEN = 'session-canary-0123456789';

/** A service with canned responses for one test file. An unexpected request fails the test. */
export function cannedService() {
  const server = setupServer();
  beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
  afterEach(() => server.resetHandlers());
  afterAll(() => server.close());
  /** The received requests, in order. */
  const requests: Request[] = [];
  const bodies: string[] = [];
  afterEach(() => {
    requests.length = 0;
    bodies.length = 0;
  });

  /** Sends these responses in order. The last one repeats. */
  const answers = (...given: (() => Response | Promise<Response>)[]) => {
    let at = 0;
    server.use(
      http.all(`${BASE}/*`, async ({ request }) => {
        requests.push(request);
        bodies.push(await request.clone().text());
        const answer = given[Math.min(at, given.length - 1)];
        at += 1;
        if (answer === undefined) throw new Error('no answer was given');
        return answer();
      }),
    );
  };
  return { server, requests, bodies, answers };
}

export const json =
  (body: JsonBodyType, init: { status?: number; headers?: Record<string, string> } = {}) =>
  () =>
    HttpResponse.json(body, init);

export const text =
  (body: string | null, init: { status?: number; headers?: Record<string, string> } = {}) =>
  () =>
    new HttpResponse(body, init);

export const gatewayAt = (options: GatewayClientOptions = {}) =>
  new GatewayClient({ baseURL: BASE, apiKey: KEY, maxRetries: 0, ...options });

export const contextAt = (options: ConstructorParameters<typeof ContextClient>[0] = {}) =>
  new ContextClient({ baseURL: BASE, sessionToken: TOKEN, maxRetries: 0, ...options });

/** The error of a call. Throws if the call succeeds. */
export async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call succeeded');
}

/** Expects that a call fails with an issue at this path, and that this `fetch` was never called. */
export const rejectedBefore =
  (fetch: unknown) => async (call: () => PromiseLike<unknown>, path: readonly (string | number)[], hint: RegExp) => {
    const error = await failureOf(call());

    expect(error).toBeInstanceOf(RequestValidationError);
    const { issues, message, attempts } = error as RequestValidationError;
    expect(issues.map((issue) => issue.path)).toContainEqual(path);
    expect(message).toMatch(hint);
    expect(message).toMatch(/^The request was not sent: /);
    expect(attempts).toEqual([]);
    expect(fetch).not.toHaveBeenCalled();
  };
