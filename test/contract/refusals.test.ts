import { PermissionDeniedError } from 'context-gateway';
import { expect, test } from 'vitest';
import { chatParams } from '../helpers/samples.js';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';

const world = emulatedService(
  {},
  {
    limits: { gateway: 4, context: 3 },
    setup: ({ conversations }) => {
      conversations.create({ id: 'talk', messages: [{ id: 'm1', role: 'user', content: 'Hello there.' }] });
    },
  },
);

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
/** The API does not accept this level. */
const compaction = { method: 'POST', path: '/api/context/compact', body: { level: 'max' } } as const;
const ask = (model: string) => gateway().chat.completions.create({ ...chatParams, model });
const checks = (option: string) => expect.stringContaining(`Check ${option}`);
const isUsedUp = { type: 'rate_limit_error', retryAfter: 60_000, rateLimit: { limit: 4, remaining: 0 } };

test.each<[is: string, call: () => PromiseLike<unknown>, name: string, error: object]>([
  ['Context 400', () => context().request(compaction), 'BadRequestError', { area: 'context' }],
  [
    'Context 401',
    () => context({ sessionToken: 'no' }).retrieve('c'),
    'AuthenticationError',
    { message: checks('sessionToken') },
  ],
  [
    'Context 404',
    () => context().unpin('talk', 'm1'),
    'NotFoundError',
    { area: 'context', requestId: expect.any(String) },
  ],
  ['Context 429', last(4, () => context({ pacing: false }).memory.list()), 'RateLimitError', { retryAfter: 60_000 }],
  ['Context 500', failing(500, () => context().retrieve('talk')), 'InternalServerError', { area: 'context' }],
  ['Gateway 400', () => gateway().presets.list({ limit: 101 }), 'BadRequestError', { param: 'limit' }],
  ['Gateway 401', failing(401, list), 'AuthenticationError', { area: 'gateway', message: checks('apiKey') }],
  [
    'Gateway 403',
    () => gateway({ apiKey: 'svc_sk_local_no' }).presets.list(),
    'PermissionDeniedError',
    { code: 'invalid_api_key' },
  ],
  ['Gateway 404', () => ask('no-such-model'), 'NotFoundError', { code: 'model_not_found', param: 'model' }],
  ['Gateway 404', () => gateway().integrations.execute('none', { action: 'a' }), 'NotFoundError', {}],
  ['Gateway 429', last(5, () => gateway({ pacing: false }).presets.list()), 'RateLimitError', isUsedUp],
  ['Gateway 503', failing(503, list), 'ServiceUnavailableError', { retryable: true }],
])('%s is an error of its class, with what the service said (%#)', async (_, call, name, error) => {
  expect(await failureOf(call())).toMatchObject({ name, ...error });
});
