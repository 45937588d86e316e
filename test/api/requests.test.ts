import type { ClientEvent } from 'context-gateway';
import { HttpResponse } from 'msw';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { chatParams, completion, contextAnswer, usageReport } from '../helpers/samples.js';
import { BASE, cannedService, contextAt, failureOf, gatewayAt, json, KEY, TOKEN, text } from '../helpers/service.js';

const { answers, requests, bodies, server } = cannedService();

afterEach(() => vi.restoreAllMocks());

describe('headers of the caller', () => {
  test('headers of a call override those of the client in any case, and undefined removes none', async () => {
    answers(json(usageReport()));
    const defaultHeaders = { 'X-Team': 'default', 'x-env': 'prod', 'X-Skip': undefined };
    const gateway = gatewayAt({ defaultHeaders }).withOptions({ idempotencyHeader: 'X-Once' });

    await gateway.usage.retrieve({}, { headers: { 'x-team': 'call', 'X-ENV': undefined }, idempotencyKey: 'k1' });

    const sent = Object.fromEntries(requests[0]?.headers ?? []);
    expect(sent).toMatchObject({ 'x-team': 'call', 'x-env': 'prod', 'x-once': 'k1' });
    expect(sent).not.toHaveProperty('x-skip');
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
    const limits = { 'x-ratelimit-limit': '1000', 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '60' };
    const date = 'Thu, 15 Jan 2026 10:00:00 GMT';
    answers(json(usageReport(), { headers: { ...limits, date, 'x-request-id': 'req-1', 'x-other': 'a' } }));
    const call = gatewayAt().usage.retrieve();

    const { data, response } = await call.withResponse();

    expect(data).toEqual(await call);
    const rateLimit = { limit: 1_000, remaining: 7, resetAfter: 60_000 };
    const attempts = [{ status: 200, delay: 0 }];
    expect(response).toMatchObject({ status: 200, requestId: 'req-1', attempts, rateLimit });
    expect(response.headers.get('x-other')).toBe('a');
    expect(requests).toHaveLength(1);
  });

  test('reads request-id if there is no x-request-id, and has no rateLimit without rate limit headers', async () => {
    answers(json(usageReport(), { headers: { 'request-id': 'r2' } }));
    const gateway = gatewayAt();

    const { response } = await gateway.usage.retrieve().withResponse();

    expect(response).toMatchObject({ requestId: 'r2', rateLimit: undefined });
    expect(gateway.rateLimit).toEqual({});
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

async function expectRejected(request: unknown) {
  answers(json({}));

  expect(await failureOf(gatewayAt().request(request as never))).toMatchObject({ name: 'RequestValidationError' });
  expect(requests).toHaveLength(0);
}

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

  test.each<[unknown, string]>([
    ['/v1/../../admin', 'dot segments'],
    ['/v1/%2e%2e/admin', 'encoded dot segments'],
    ['v1/models', 'no leading slash'],
    ['/v1\\..\\admin', 'backslashes'],
    ['/v1/models?x=1', 'a query in the path'],
    ['/v1/models#x', 'a fragment'],
    ['/v1/{id}', 'a placeholder without its id'],
    ['/v1/a b', 'an unencoded space'],
    [undefined, 'no path'],
  ])('rejects the path %j: %s', async (path) => {
    await expectRejected({ method: 'GET', path });
  });

  test('keeps a path that begins with two slashes on the origin', async () => {
    answers(json({}));

    await gatewayAt().request({ method: 'GET', path: '//evil.test/v1' });

    expect(requests[0]?.url).toBe(`${BASE}//evil.test/v1`);
  });

  const at = { method: 'GET', path: '/v1/models' };
  test.each<[unknown, string]>([
    [undefined, 'nothing'],
    ['GET /v1/models', 'a string'],
    [{ ...at, method: 'get' }, 'a method in lower case'],
    [{ ...at, method: 'CONNECT' }, 'an unsupported method'],
    [{ path: '/v1/models' }, 'no method'],
    [{ ...at, query: 'a=b' }, 'a query as a string'],
    [{ ...at, query: { a: null } }, 'null in the query'],
    [{ ...at, query: { a: Number.NaN } }, 'NaN in the query'],
    [{ ...at, quarry: {} }, 'a misspelt field'],
    [{ ...at, body: {} }, 'a body on a GET'],
    [{ ...at, method: 'POST', body: () => {} }, 'a function as body'],
  ])('rejects %j: %s', async (request) => {
    await expectRejected(request);
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
});
