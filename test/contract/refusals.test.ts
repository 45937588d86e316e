import { AuthenticationError, type ContextClient, PermissionDeniedError } from 'context-gateway';
import { afterEach, expect, test, vi } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';

const world = emulatedService(
  {},
  {
    limits: { gateway: 4, context: 3, compact: 1 },
    setup: ({ conversations }) => {
      conversations.create({ id: 'talk', messages: [{ id: 'm1', role: 'user', content: 'Hello there.' }] });
    },
  },
);

afterEach(() => vi.restoreAllMocks());

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

test('the key type is detected by the prefix', () => {
  const keyTypes = ['svc_sk_abc', 'svc_pk_abc', 'other_abc'].map((apiKey) => world.gateway({ apiKey }).keyType);

  expect(keyTypes).toEqual(['secret', 'publishable', 'unknown']);
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

test.each<[string, (context: ContextClient) => PromiseLike<unknown>]>([
  ['conversation', (context) => context.retrieve('nowhere')],
  ['conversation', (context) => context.compact('nowhere')],
  ['message', (context) => context.pin('talk', 'nowhere')],
  ['message', (context) => context.unpin('talk', 'm1')],
  ['message', (context) => context.exclude('talk', 'nowhere')],
  ['memory item', (context) => context.memory.update('nowhere', { content: 'a' })],
  ['memory item', (context) => context.memory.delete('nowhere')],
])('Context 404: the %s does not exist (%#)', async (_, call) => {
  expect(await failureOf(call(world.context()))).toMatchObject({
    ...{ name: 'NotFoundError', status: 404, area: 'context', requestId: expect.any(String) },
    body: { success: false, error: expect.any(String) },
  });
});

test('compact has a limit and a bucket of its own, which delays no other Context calls', async () => {
  const context = world.context({ maxRetryAfter: 0 });
  await context.compact('talk');

  expect(await failureOf(context.compact('talk'))).toMatchObject({ name: 'RateLimitError' });
  expect((await context.retrieve('talk')).metadata).toBeDefined();
});

/** A call whose response has this status. */
const failing = (status: number, call: () => PromiseLike<unknown>) => () => {
  world.emulator.faults.add({ respond: { status } });
  return call();
};
/** A call after so many that use up the limit. */
const last = (times: number, call: () => PromiseLike<unknown>) => async () => {
  for (let n = 1; n < times; n += 1) await call();
  return call();
};
const gateway = world.gateway;
const context = world.context;
const list = () => gateway().presets.list();
const contextForm = { success: false, error: expect.any(String) };

test.each<[is: string, call: () => PromiseLike<unknown>, name: string, error: object]>([
  [
    'Context 400: invalid parameters',
    () => context().request({ method: 'POST', path: '/api/context/compact', body: { level: 'max' } }),
    'BadRequestError',
    { status: 400, area: 'context', body: contextForm },
  ],
  [
    'Context 401: invalid authentication',
    () => context({ sessionToken: 'wrong' }).retrieve('talk'),
    'AuthenticationError',
    { status: 401, area: 'context', message: expect.stringMatching(/Check sessionToken/) },
  ],
  [
    'Context 429: rate limit exceeded',
    last(4, () => context({ pacing: false }).memory.list()),
    'RateLimitError',
    { status: 429, area: 'context', retryAfter: 60_000 },
  ],
  [
    'Context 500: internal server error',
    failing(500, () => context().retrieve('talk')),
    'InternalServerError',
    { status: 500, area: 'context', body: contextForm },
  ],
  ['Gateway 400: bad input', () => gateway().presets.list({ limit: 101 }), 'BadRequestError', { param: 'limit' }],
  [
    'Gateway 401: missing or invalid Authorization header',
    failing(401, list),
    'AuthenticationError',
    { status: 401, area: 'gateway', type: 'authentication_error', message: expect.stringMatching(/Check apiKey/) },
  ],
  [
    'Gateway 403: the key is invalid or expired',
    () => gateway({ apiKey: 'svc_sk_local_wrong' }).presets.list(),
    'PermissionDeniedError',
    { status: 403, area: 'gateway', type: 'permission_error', code: 'invalid_api_key' },
  ],
  [
    'Gateway 404: model_not_found',
    () => gateway().chat.completions.create({ ...chatParams, model: 'no-such-model' }),
    'NotFoundError',
    { status: 404, type: 'invalid_request_error', code: 'model_not_found', param: 'model' },
  ],
  [
    'Gateway 404: unknown integration',
    () => gateway().integrations.execute('none', { action: 'a' }),
    'NotFoundError',
    {},
  ],
  [
    'Gateway 429: body error with rate_limit_error and retry_after in seconds',
    last(5, () => gateway({ pacing: false }).presets.list()),
    'RateLimitError',
    { status: 429, type: 'rate_limit_error', retryAfter: 60_000, rateLimit: { limit: 4, remaining: 0 } },
  ],
  ['Gateway 503: temporary issue', failing(503, list), 'ServiceUnavailableError', { status: 503, retryable: true }],
])('%s', async (_, call, name, error) => {
  expect(await failureOf(call())).toMatchObject({ name, ...error });
});

test.each([{ status: 503 }, { status: 429, retryAfter: 0 }])('Gateway: %o is retried with backoff', async (respond) => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  world.emulator.faults.add({ respond });
  const gateway = world.gateway({ maxRetries: 1 });

  const { response } = await gateway.chat.completions.create(chatParams).withResponse();

  expect(response.attempts.map(({ status }) => status)).toEqual([respond.status, 200]);
});
