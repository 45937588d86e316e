import { AuthenticationError, ContextClient, GatewayClient, PermissionDeniedError } from 'context-gateway';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { engines } from '../helpers/engines.js';
import { chatParams } from '../helpers/samples.js';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';

describe.each(engines)('authentication and errors through $engine', ({ options }) => {
  const world = emulatedService(options, {
    limits: { gateway: 40, context: 30, compact: 2 },
    setup: ({ conversations }) => {
      conversations.create({ id: 'talk', messages: [{ id: 'm1', role: 'user', content: 'Hello there.' }] });
    },
  });

  afterEach(() => vi.restoreAllMocks());

  // Authentication

  test('sessionHeader names the header of the session token, which then has no scheme', async () => {
    const { createEmulator } = await import('context-gateway-emulator');
    const emulator = createEmulator({ sessionHeader: { name: 'X-Session-Token', scheme: '' } });
    const { url, close } = await emulator.listen({ port: 0 });
    const context = world.context({
      baseURL: url,
      sessionToken: emulator.sessionToken,
      sessionHeader: { name: 'X-Session-Token' },
    });

    expect(await context.memory.list()).toEqual([]);
    expect(emulator.requests[0]?.headers).not.toHaveProperty('authorization');
    await close();
  });

  test('a session token function is called for each call, so that the token can be renewed', async () => {
    let token = world.emulator.sessionToken;
    const context = world.context({ sessionToken: async () => token });
    await context.memory.list();
    const renewed = world.emulator.sessions.create({ userId: world.emulator.userId });
    world.emulator.sessions.expire(token);

    await expect(context.memory.list()).rejects.toBeInstanceOf(AuthenticationError);
    token = renewed.token;
    expect(await context.memory.list()).toEqual([]);
  });

  test('an API key can be rotated without downtime: create, switch, delete', async () => {
    let key = world.emulator.apiKeys.secret;
    const gateway = world.gateway({ apiKey: () => key });
    await gateway.integrations.list();
    const old = key;
    key = world.emulator.apiKeys.create('secret');
    await gateway.integrations.list();
    world.emulator.apiKeys.delete(old);

    await gateway.integrations.list();
    key = old;
    await expect(gateway.integrations.list()).rejects.toBeInstanceOf(PermissionDeniedError);
  });

  test('both clients reject http: for a remote host', () => {
    const baseURL = 'http://service.test';

    expect(() => new GatewayClient({ baseURL, apiKey: 'svc_sk_a' })).toThrow(/begin with https:/);
    expect(() => new ContextClient({ baseURL, sessionToken: 'a' })).toThrow(/begin with https:/);
  });

  test.each([
    ['secret', 'svc_sk_abc'],
    ['publishable', 'svc_pk_abc'],
    ['unknown', 'other_abc'],
  ])('the key type %s is detected by the prefix', (keyType, apiKey) => {
    expect(world.gateway({ apiKey }).keyType).toBe(keyType);
  });

  test('the errors for a key with an unknown prefix and for an unknown conversation say what to check', async () => {
    const stranger = world.gateway({ apiKey: 'sk-proj-0123456789abcdef' });

    expect(String(await failureOf(stranger.presets.list()))).toMatch(/begins with neither svc_sk_ nor svc_pk_/);
    expect(String(await failureOf(world.context().retrieve('no-such')))).toMatch(/404 .*this API creates none/);
    const item = world.context().memory.delete('no-such');
    expect(String(await failureOf(item))).not.toMatch(/this API creates none/);
  });

  test('a publishable key can list integrations, but usage is a PermissionDeniedError that says why', async () => {
    const gateway = world.gateway({ apiKey: world.emulator.apiKeys.publishable });

    expect(await gateway.integrations.list()).toHaveLength(2);
    const error = await failureOf(gateway.usage.retrieve());
    expect(error).toBeInstanceOf(PermissionDeniedError);
    expect(String(error)).toMatch(/does not accept publishable keys: call it from your server, with a secret key/);
  });

  // Errors, Context API

  test('Context 400: invalid parameters', async () => {
    const call = world.context().request({ method: 'POST', path: '/api/context/compact', body: { level: 'max' } });

    await expect(call).rejects.toMatchObject({ name: 'BadRequestError', status: 400, area: 'context' });
  });

  test('Context 401: missing or invalid authentication', async () => {
    const error = await failureOf(world.context({ sessionToken: 'wrong' }).retrieve('talk'));

    expect(error).toMatchObject({ name: 'AuthenticationError', status: 401, area: 'context', retryable: false });
    expect(String(error)).toMatch(/Check sessionToken/);
  });

  test.each([
    ['conversation', (context: ContextClient) => context.retrieve('nowhere')],
    ['conversation', (context: ContextClient) => context.summary('nowhere')],
    ['conversation', (context: ContextClient) => context.compact('nowhere')],
    ['conversation', (context: ContextClient) => context.pin('nowhere', 'm1')],
    ['message', (context: ContextClient) => context.pin('talk', 'nowhere')],
    ['message', (context: ContextClient) => context.unpin('talk', 'm1')],
    ['message', (context: ContextClient) => context.exclude('talk', 'nowhere')],
    ['message', (context: ContextClient) => context.include('talk', 'nowhere')],
    ['memory item', (context: ContextClient) => context.memory.update('nowhere', { content: 'a' })],
    ['memory item', (context: ContextClient) => context.memory.delete('nowhere')],
  ])('Context 404: the %s does not exist (%#)', async (_, call) => {
    await expect(call(world.context())).rejects.toMatchObject({
      name: 'NotFoundError',
      status: 404,
      area: 'context',
      requestId: expect.any(String),
      body: { success: false, error: expect.any(String) },
    });
  });

  test('Context 429: rate limit exceeded', async () => {
    const context = world.context({ pacing: false });
    for (let n = 0; n < 30; n += 1) await context.memory.list();

    await expect(context.memory.list()).rejects.toMatchObject({
      name: 'RateLimitError',
      status: 429,
      area: 'context',
      retryable: true,
      retryAfter: 60_000,
    });
  });

  test('compact has a stricter limit than the other Context calls, and its own bucket', async () => {
    const context = world.context({ pacing: false });
    await context.compact('talk');
    await context.compact('talk');

    await expect(context.compact('talk')).rejects.toMatchObject({ name: 'RateLimitError' });
    expect((await context.retrieve('talk')).metadata).toBeDefined();
  });

  test('a throttled compact does not delay other Context calls', async () => {
    const context = world.context({ deadline: 5_000 });
    await context.compact('talk');
    await context.compact('talk');
    await failureOf(context.compact('talk'));

    expect((await context.retrieve('talk')).metadata).toBeDefined();
  });

  test('Context 500: internal server error', async () => {
    world.emulator.faults.add({ respond: { status: 500 } });

    await expect(world.context().retrieve('talk')).rejects.toMatchObject({
      name: 'InternalServerError',
      status: 500,
      area: 'context',
      retryable: true,
      body: { success: false, error: expect.any(String) },
    });
  });

  // Errors, Gateway API

  test('Gateway 401: missing or invalid Authorization header', async () => {
    world.emulator.faults.add({ respond: { status: 401 } });

    const error = await failureOf(world.gateway().presets.list());

    expect(error).toMatchObject({
      name: 'AuthenticationError',
      status: 401,
      area: 'gateway',
      type: 'authentication_error',
    });
    expect(String(error)).toMatch(/Check apiKey/);
  });

  test('Gateway 403: the key is invalid or expired', async () => {
    const error = await failureOf(world.gateway({ apiKey: 'svc_sk_local_wrong' }).presets.list());

    expect(error).toMatchObject({
      name: 'PermissionDeniedError',
      status: 403,
      area: 'gateway',
      type: 'permission_error',
      code: 'invalid_api_key',
    });
  });

  test('Gateway errors have message, type, param and code: model_not_found', async () => {
    const error = await failureOf(world.gateway().chat.completions.create({ ...chatParams, model: 'no-such-model' }));

    expect(error).toMatchObject({
      name: 'NotFoundError',
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
    });
    expect(String(error)).toContain('POST /v1/chat/completions');
  });

  test('Gateway 400: bad input', async () => {
    const call = world.gateway().presets.list({ limit: 101 });

    await expect(call).rejects.toMatchObject({ name: 'BadRequestError', status: 400, param: 'limit' });
  });

  test.each([
    ['preset', (gateway: GatewayClient) => gateway.presets.execute('none', { input: 'a', model: 'atlas-small' })],
    ['integration', (gateway: GatewayClient) => gateway.integrations.execute('none', { action: 'a' })],
    ['integration', (gateway: GatewayClient) => gateway.integrations.execute('__proto__', { action: 'a' })],
  ])('Gateway 404: unknown %s', async (_, call) => {
    await expect(call(world.gateway())).rejects.toMatchObject({ name: 'NotFoundError', area: 'gateway' });
  });

  test('Gateway 429: body error with rate_limit_error and retry_after in seconds', async () => {
    const gateway = world.gateway({ pacing: false });
    for (let n = 0; n < 40; n += 1) await gateway.integrations.list();

    await expect(gateway.integrations.list()).rejects.toMatchObject({
      name: 'RateLimitError',
      status: 429,
      type: 'rate_limit_error',
      retryAfter: 60_000,
      rateLimit: { limit: 40, remaining: 0 },
    });
  });

  test('Gateway 503: temporary issue, retried with backoff', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    world.emulator.faults.add({ respond: { status: 503 } });
    const gateway = world.gateway({ maxRetries: 1 });

    const { response } = await gateway.chat.completions.create(chatParams).withResponse();

    expect(response.attempts.map(({ status }) => status)).toEqual([503, 200]);
  });

  test('Gateway 503 without retries is a ServiceUnavailableError', async () => {
    world.emulator.faults.add({ respond: { status: 503 } });

    await expect(world.gateway().integrations.list()).rejects.toMatchObject({
      name: 'ServiceUnavailableError',
      status: 503,
      retryable: true,
    });
  });

  test('Gateway 429 is retried after its retry_after', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    world.emulator.faults.add({ respond: { status: 429, retryAfter: 0 } });
    const gateway = world.gateway({ maxRetries: 1 });

    const { response } = await gateway.chat.completions.create(chatParams).withResponse();

    expect(response.attempts.map(({ status }) => status)).toEqual([429, 200]);
  });
});
