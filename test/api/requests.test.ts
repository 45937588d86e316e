import type { ClientEvent } from 'context-gateway';
import { HttpResponse, http } from 'msw';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { chatParams, completion, contextAnswer, usageReport } from '../helpers/samples.js';
import { BASE, cannedService, contextAt, failureOf, gatewayAt, json, KEY, TOKEN, text } from '../helpers/service.js';

const { answers, requests, bodies, server } = cannedService();

afterEach(() => vi.restoreAllMocks());

const headersOf = (request: Request | undefined) => Object.fromEntries(request?.headers ?? []);

describe('headers of the caller', () => {
  test('headers of a call override those of the client in any case, and undefined removes none', async () => {
    answers(json(usageReport()));
    const gateway = gatewayAt({ defaultHeaders: { 'X-Team': 'default', 'x-env': 'prod', 'X-Skip': undefined } });

    await gateway.usage.retrieve({}, { headers: { 'x-team': 'call', 'X-ENV': undefined } });

    expect(headersOf(requests[0])).toMatchObject({ 'x-team': 'call', 'x-env': 'prod' });
    expect(headersOf(requests[0])).not.toHaveProperty('x-skip');
  });

  test('headers of the client are kept by withOptions', async () => {
    answers(json(usageReport()));
    const gateway = gatewayAt({ defaultHeaders: { 'x-team': 'one' } }).withOptions({ idempotencyHeader: 'X-Once' });

    await gateway.usage.retrieve({}, { idempotencyKey: 'k1' });

    expect(headersOf(requests[0])).toMatchObject({ 'x-team': 'one', 'x-once': 'k1' });
  });

  test('include an idempotency key on every attempt, but only if the caller passes one', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    answers(text('', { status: 429 }), json(completion()));
    const gateway = gatewayAt({ maxRetries: 1 });

    await gateway.chat.completions.create(chatParams, { idempotencyKey: 'once-1' });
    await gateway.chat.completions.create(chatParams);

    expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['once-1', 'once-1', null]);
  });

  test('sessionHeader names the header and the scheme of the session token', async () => {
    answers(json(contextAnswer()));
    await contextAt({ sessionHeader: { name: 'X-Session-Token' } }).retrieve('c');
    await contextAt({ sessionHeader: { name: 'X-Auth', scheme: 'Token' } }).retrieve('c');

    expect(requests[0]?.headers.get('x-session-token')).toBe(TOKEN);
    expect(requests[0]?.headers.get('authorization')).toBeNull();
    expect(requests[1]?.headers.get('x-auth')).toBe(`Token ${TOKEN}`);
  });
});

describe('withResponse', () => {
  test('returns status, headers, request id, rate limit and attempts with the data, and sends once', async () => {
    answers(
      json(usageReport(), {
        headers: {
          'x-request-id': 'req-1',
          'x-ratelimit-limit': '1000',
          'x-ratelimit-remaining': '7',
          'x-ratelimit-reset': '60',
          date: 'Thu, 15 Jan 2026 10:00:00 GMT',
          'x-other': 'a',
        },
      }),
    );
    const call = gatewayAt().usage.retrieve();

    const { data, response } = await call.withResponse();

    expect(data).toEqual(await call);
    expect(response).toMatchObject({ status: 200, requestId: 'req-1', attempts: [{ status: 200, delay: 0 }] });
    expect(response.headers.get('x-other')).toBe('a');
    expect(response.rateLimit).toEqual({
      limit: 1_000,
      remaining: 7,
      resetAt: new Date('2026-01-15T10:01:00Z'),
      resetAfter: 60_000,
      raw: { limit: '1000', remaining: '7', reset: '60' },
    });
    expect(requests).toHaveLength(1);
  });

  test('reads request-id if there is no x-request-id', async () => {
    answers(json(usageReport(), { headers: { 'request-id': 'r2' } }));

    expect((await gatewayAt().usage.retrieve().withResponse()).response.requestId).toBe('r2');
  });

  test('has no rateLimit without rate limit headers, and undefined fields for invalid ones', async () => {
    answers(json(usageReport()));
    const gateway = gatewayAt();
    expect((await gateway.usage.retrieve().withResponse()).response.rateLimit).toBeUndefined();
    expect(gateway.rateLimit).toEqual({});

    answers(json(usageReport(), { headers: { 'x-ratelimit-limit': '5, 5', 'x-ratelimit-reset': 'soon' } }));
    expect((await gateway.usage.retrieve().withResponse()).response.rateLimit).toEqual({
      limit: undefined,
      remaining: undefined,
      resetAt: undefined,
      resetAfter: undefined,
      raw: { limit: '5, 5', remaining: undefined, reset: 'soon' },
    });
  });

  test('lists every attempt with its status or error, its delay and its duration', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const failing = () => HttpResponse.error();
    answers(text('', { status: 500 }), failing, json(usageReport()));

    const { response } = await gatewayAt({ maxRetries: 2 }).usage.retrieve().withResponse();

    expect(response.attempts).toEqual([
      { status: 500, delay: 0, duration: expect.any(Number) },
      { error: 'APIConnectionError', delay: expect.any(Number), duration: expect.any(Number) },
      { status: 200, delay: expect.any(Number), duration: expect.any(Number) },
    ]);
  });

  test('updates client.rateLimit, which is kept per bucket', async () => {
    const limited = (remaining: number) => ({ headers: { 'x-ratelimit-remaining': String(remaining) } });
    answers(json(contextAnswer(), limited(5)), json({ success: true, result: {} }, limited(1)));
    const context = contextAt({ validation: 'report' });

    await context.retrieve('c');
    await context.compact('c');

    expect(context.rateLimit).toMatchObject({ context: { remaining: 5 }, compact: { remaining: 1 } });
  });
});

describe('client.request', () => {
  test('sends any method to any path, and returns the parsed body unchanged', async () => {
    answers(json({ anything: ['goes'] }));

    const body = await gatewayAt().request({
      method: 'PUT',
      path: '/v1/models/m%2F1',
      query: { a: 'x y', n: 5, yes: true, none: undefined },
      body: { deep: [1] },
    });

    expect(body).toEqual({ anything: ['goes'] });
    expect(requests[0]).toMatchObject({ method: 'PUT', url: `${BASE}/v1/models/m%2F1?a=x%20y&n=5&yes=true` });
    expect(bodies[0]).toBe('{"deep":[1]}');
    expect(requests[0]?.headers.get('authorization')).toBe(`Bearer ${KEY}`);
  });

  test('keeps ids out of events if the path has placeholders', async () => {
    answers(json({}));
    const events: ClientEvent[] = [];

    await gatewayAt({ onEvent: (event) => events.push(event) }).request({
      method: 'GET',
      path: '/v1/users/{user}/keys/{key}',
      ids: { user: 'Ann/canary', key: 'k 1' },
    });

    expect(requests[0]?.url).toBe(`${BASE}/v1/users/Ann%2Fcanary/keys/k%201`);
    expect(new Set(events.map(({ path }) => path))).toEqual(new Set(['/v1/users/{user}/keys/{key}']));
    const missing = { method: 'GET', path: '/v1/users/{user}', ids: {} } as const;
    expect(await failureOf(gatewayAt().request(missing))).toMatchObject({ issues: [{ path: ['user'] }] });
  });

  test('has the same retries and errors as the other calls', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    answers(text('', { status: 500 }), json({ error: { message: 'no', code: 'c' } }, { status: 404 }));

    const error = await failureOf(gatewayAt({ maxRetries: 1 }).request({ method: 'GET', path: '/v1/models' }));

    expect(error).toMatchObject({ name: 'NotFoundError', code: 'c', attempts: [{ status: 500 }, { status: 404 }] });
  });

  test.each<[unknown, string]>([
    ['/v1/../../admin', 'dot segments'],
    ['/v1/%2e%2e/admin', 'encoded dot segments'],
    ['/v1/./x', 'a dot segment'],
    ['v1/models', 'no leading slash'],
    ['https://evil.test/v1', 'an absolute URL'],
    ['@evil.test/', 'user information'],
    ['/v1\\..\\admin', 'backslashes'],
    ['/v1/models?x=1', 'a query in the path'],
    ['/v1/models#x', 'a fragment'],
    ['/v1/{id}', 'a placeholder without its id'],
    ['/v1/a b', 'an unencoded space'],
    ['/v1/ü', 'unencoded Unicode'],
    ['/v1/a\nb', 'a line break'],
    ['', 'nothing'],
    [undefined, 'no path'],
    [5, 'a number'],
  ])('rejects the path %j: %s', async (path) => {
    answers(json({}));

    const error = await failureOf(gatewayAt().request({ method: 'GET', path: path as string }));

    expect(error).toMatchObject({ name: 'RequestValidationError' });
    expect(requests).toHaveLength(0);
  });

  test('keeps a path that begins with two slashes on the origin', async () => {
    answers(json({}));

    await gatewayAt().request({ method: 'GET', path: '//evil.test/v1' });

    expect(requests[0]?.url).toBe(`${BASE}//evil.test/v1`);
  });

  test.each<[unknown, string]>([
    [undefined, 'nothing'],
    [null, 'null'],
    ['GET /v1/models', 'a string'],
    [{ method: 'get', path: '/v1/models' }, 'a method in lower case'],
    [{ method: 'GET\r\nX: y', path: '/v1/models' }, 'a method with a line break'],
    [{ method: 'CONNECT', path: '/v1/models' }, 'an unsupported method'],
    [{ path: '/v1/models' }, 'no method'],
    [{ method: 'GET', path: '/v1/models', query: 'a=b' }, 'a query as a string'],
    [{ method: 'GET', path: '/v1/models', query: { a: null } }, 'null in the query'],
    [{ method: 'GET', path: '/v1/models', query: { a: { b: 1 } } }, 'an object in the query'],
    [{ method: 'GET', path: '/v1/models', query: { a: Number.NaN } }, 'NaN in the query'],
    [{ method: 'GET', path: '/v1/models', quarry: {} }, 'a misspelt field'],
    [{ method: 'GET', path: '/v1/models', body: {} }, 'a body on a GET'],
    [{ method: 'POST', path: '/v1/models', body: () => {} }, 'a function as body'],
  ])('rejects %j: %s', async (request) => {
    answers(json({}));

    const error = await failureOf(gatewayAt().request(request as never));

    expect(error).toMatchObject({ name: 'RequestValidationError' });
    expect(requests).toHaveLength(0);
  });
});

describe('globalThis.fetch', () => {
  test('is intercepted by a mock for a client that was created before it', async () => {
    server.close();
    const gateway = gatewayAt();
    server.listen({ onUnhandledRequest: 'error' });
    answers(json(usageReport()));

    expect(await gateway.usage.retrieve()).toEqual(usageReport());
    expect(requests).toHaveLength(1);
  });

  test('is intercepted by a mock for a client that was created after it', async () => {
    server.use(http.get(`${BASE}/v1/usage`, () => HttpResponse.json(usageReport())));

    expect(await gatewayAt().usage.retrieve()).toEqual(usageReport());
  });

  test('a stub of globalThis.fetch is used until it is removed', async () => {
    const gateway = gatewayAt();
    const seen: unknown[] = [];
    const stub = vi.spyOn(globalThis, 'fetch').mockImplementation(async (url) => {
      seen.push(url);
      return Response.json(usageReport());
    });

    expect(await gateway.usage.retrieve()).toEqual(usageReport());
    expect(seen).toEqual([`${BASE}/v1/usage`]);

    stub.mockRestore();
    answers(json({ ...usageReport(), tokens_used: 5 }));
    expect((await gateway.usage.retrieve()).tokens_used).toBe(5);
    expect(seen).toHaveLength(1);
  });

  test('is not called if the client has its own fetch', async () => {
    const global = vi.spyOn(globalThis, 'fetch');
    const own = vi.fn(async () => Response.json(usageReport()));

    await gatewayAt({ fetch: own }).usage.retrieve();

    expect(own).toHaveBeenCalledOnce();
    expect(global).not.toHaveBeenCalled();
  });

  test.each([
    { returns: () => undefined, result: 'undefined' },
    { returns: () => ({}), result: 'an object that is not a Response' },
    { returns: () => Promise.reject(new TypeError('fetch failed')), result: 'a rejection' },
    {
      returns: () => {
        throw new Error('sync');
      },
      result: 'an exception',
    },
  ])(
    'globalThis.fetch can be replaced by a fetch that fails with $result: the error is an APIConnectionError',
    async ({ returns }) => {
      const error = await failureOf(gatewayAt({ fetch: returns as never }).chat.completions.create(chatParams));

      expect(error).toMatchObject({ name: 'APIConnectionError', sent: 'maybe', phase: 'headers' });
    },
  );

  test('globalThis.fetch can be replaced by a fetch that never responds: the timeout ends the call', async () => {
    const fetch = () => new Promise<Response>(() => {});

    const error = await failureOf(gatewayAt({ fetch, timeout: 20 }).chat.completions.create(chatParams));

    expect(error).toMatchObject({ name: 'APITimeoutError', kind: 'attempt', sent: 'maybe' });
  });
});
