import { describe, expect, test } from 'vitest';
import { callsTo, testEmulator } from './support.js';

const plane = (emulator = testEmulator()) => {
  const calls = callsTo(emulator);
  const withKey = (key: string) => calls.bare('GET', '/v1/presets', undefined, { authorization: `Bearer ${key}` });
  return { emulator, ...calls, call: calls.control, withKey };
};

describe('a plan', () => {
  test('without Gateway access rejects every Gateway call with 403, and does not affect the Context API', async () => {
    const { ask, gateway, context } = plane(testEmulator({ plan: 'starter' }));

    const answers = [await gateway('GET', '/v1/presets'), await ask('x'), await gateway('GET', '/v1/elsewhere')];

    const message = 'The starter plan has no Gateway access; it comes with the Agency plan';
    const error = { type: 'permission_error', code: 'plan_without_gateway', message };
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { error } });
    expect((await context('GET', '/api/memory')).status).toBe(200);
  });

  test('takes effect at once, with its limits, included tokens and price', async () => {
    const { emulator, ask, call, gateway } = plane(testEmulator({ plan: 'starter' }));

    const { body } = await call('PUT', '/account', { plan: 'enterprise' });

    expect(body.plan).toMatchObject({ id: 'enterprise', gatewayAccess: true });
    const answer = await gateway('GET', '/v1/usage');
    expect(answer.headers.get('x-ratelimit-limit')).toBe('5000');
    expect(answer.body).toMatchObject({ tokens_included: 100_000_000, overage_tokens: 0 });
    emulator.account.setPlan({ ...emulator.account.plan, id: 'ours', includedTokens: 3, overagePricePerMillion: 1e6 });
    await ask('x', { model: 'birch-small' });
    const report = (await gateway('GET', '/v1/usage')).body;
    expect(report.overage_tokens).toBe(report.tokens_used - 3);
    expect(report.estimated_overage_cost).toBe(report.overage_tokens);
    expect(report.breakdown_by_model).toEqual({ 'birch-small': report.tokens_used });
  });

  test('gives way to explicit limits, and is rejected if it is unknown', async () => {
    const { call, gateway } = plane(testEmulator({ plan: 'enterprise', limits: { gateway: 7 } }));

    expect((await gateway('GET', '/v1/presets')).headers.get('x-ratelimit-limit')).toBe('7');
    expect((await call('PUT', '/account', { plan: 'gold' })).status).toBe(400);
  });
});

describe('API keys', () => {
  test('can be rotated: both keys work until the old one is deleted, which then fails at once', async () => {
    const { emulator, call, withKey } = plane();
    const [old] = (await call('GET', '/keys')).body;

    const created = await call('POST', '/keys', { kind: 'secret', name: 'production, second quarter' });
    const both = [await withKey(emulator.apiKeys.secret), await withKey(created.body.key)];
    await call('DELETE', `/keys/${old.id}`);

    expect(created.status).toBe(201);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect((await withKey(emulator.apiKeys.secret)).body.error.code).toBe('invalid_api_key');
    expect((await withKey(created.body.key)).status).toBe(200);
    expect((await call('DELETE', `/keys/${old.id}`)).status).toBe(404);
  });

  test('are shown in full once, and then only by their prefix', async () => {
    const { emulator, call } = plane();
    const { key, ...info } = (await call('POST', '/keys', { kind: 'publishable' })).body;

    const listed = await call('GET', '/keys');

    expect(listed.body).toHaveLength(3);
    expect(listed.body.at(-1)).toEqual(info);
    expect(key.startsWith(info.prefix)).toBe(true);
    const everything = JSON.stringify([listed.body, emulator.state(), emulator.requests]);
    const { apiKeys, sessionToken } = emulator;
    for (const one of [key, apiKeys.secret, apiKeys.publishable, sessionToken]) expect(everything).not.toContain(one);
  });

  test('stop working when they expire', async () => {
    const { emulator, call, withKey } = plane();
    const { key } = (await call('POST', '/keys', { kind: 'secret', expiresAt: '2026-01-15T10:00:30Z' })).body;

    expect((await withKey(key)).status).toBe(200);
    emulator.clock.advance(30_000);

    const refused = await withKey(key);
    expect(refused.status).toBe(403);
    expect(refused.body.error).toMatchObject({ message: 'The API key has expired', code: 'expired_api_key' });
    expect((await call('POST', '/keys', { kind: 'secret', expiresAt: 'soon' })).status).toBe(400);
    const misspelt = await call('POST', '/keys', { kind: 'secret', expireAt: '2026-01-15T10:00:30Z' });
    expect(misspelt).toMatchObject({ status: 400, body: { error: 'expireAt is not a documented field' } });
  });
});

describe('a workspace', () => {
  test('is open to its members, until they are removed', async () => {
    const { emulator, call, context } = plane();
    const guest = emulator.sessions.create();
    const { id } = (await call('POST', '/workspaces', { name: 'Team' })).body;
    const path = `/api/memory?workspaceId=${id}`;
    const ask = () => context('GET', path, undefined, guest.token);

    expect((await ask()).status).toBe(403);
    await call('PUT', `/workspaces/${id}/members/${guest.userId}`);
    expect((await ask()).status).toBe(200);
    expect((await call('GET', '/workspaces')).body[0].members).toEqual([emulator.userId, guest.userId]);
    await call('DELETE', `/workspaces/${id}/members/${guest.userId}`);
    expect((await ask()).status).toBe(403);
    expect((await call('PUT', '/workspaces/none/members/x')).status).toBe(404);
  });
});
