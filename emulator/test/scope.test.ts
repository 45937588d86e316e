import { createEmulator, type Emulator } from 'context-gateway-emulator';
import { test as emulated } from 'context-gateway-emulator/vitest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callsTo, testEmulator } from './support.js';

describe('a scope', () => {
  test('has data, log, faults, replies and limits of its own, and the same keys', async () => {
    const emulator = testEmulator({
      limits: { gateway: 1 },
      setup: (one) => void one.conversations.create({ id: 'first' }),
    });
    const { gateway, control } = callsTo(emulator);
    const at = (scope: string) => ({ 'x-emulator-scope': scope });
    await control('POST', '/faults', { respond: { status: 503 } }, at('one'));
    await control('POST', '/conversations', { id: 'mine' }, at('one'));

    const status = async (headers = {}) => (await gateway('GET', '/v1/presets', undefined, headers)).status;

    expect([await status(at('one')), await status(at('two')), await status(at('two'))]).toEqual([503, 200, 429]);
    expect(await status()).toBe(200);
    expect(emulator.requests).toHaveLength(1);
    const ids = (one: Emulator) => one.conversations.list().map(({ id }) => id);
    expect(ids(emulator.scope('one'))).toEqual(['first', 'mine']);
    for (const other of [emulator, emulator.scope('two')]) expect(ids(other)).toEqual(['first']);
    expect((await control('GET', '/requests', undefined, at('two'))).body).toHaveLength(2);
    expect((await control('DELETE', '/scopes/one')).status).toBe(200);
    expect((await control('DELETE', '/scopes/one')).status).toBe(404);
    expect(ids(emulator.scope('one'))).toEqual(['first']);
    expect(await status(at('a b'))).toBe(400);
  });

  test('does not put back a shared clock', async () => {
    const emulator = testEmulator();
    emulator.clock.advance(1000);
    emulator.scope('one').reset();

    expect(emulator.clock.now()).toBe(Date.parse('2026-01-15T10:00:01.000Z'));
  });
});

describe('tests that share an emulator', () => {
  let emulator: Emulator;
  let url = '';
  beforeAll(async () => {
    emulator = createEmulator({ seed: 'shared' });
    url = (await emulator.listen()).url;
  });
  afterAll(() => emulator.close());
  const shared = emulated.extend({
    // biome-ignore lint/correctness/noEmptyPattern: Vitest requires the pattern
    scopeOptions: async ({}, use) => {
      const { secret: apiKey } = emulator.apiKeys;
      await use({ url, apiKey, sessionToken: emulator.sessionToken });
    },
  });

  shared.for([1, 2])('see only their own requests and faults (%i)', async (n, { scope }) => {
    await scope.addFault({ respond: { status: 503, retryAfter: 0 } });
    await scope.gateway.presets.list({ limit: n });
    await scope.context.memory.create({ type: 'fact', key: 'k', content: `of test ${n}` });

    const requests = await scope.requests();
    expect(requests).toHaveReceived({ path: `/v1/presets?limit=${n}`, times: 2 });
    expect(requests).toHaveReceived({ path: '/api/memory', body: { content: `of test ${n}` }, times: 1 });
    expect(requests).toHaveLength(3);
    expect(await scope.context.memory.list()).toHaveLength(1);
    expect(emulator.requests).toEqual([]);
  });
});
