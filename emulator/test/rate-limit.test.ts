import { describe, expect, test } from 'vitest';
import { callsTo, openStream, testEmulator } from './support.js';

const rate = (headers: Headers) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

test('a limit of tokens refuses completions once its window is used, and no other call', async () => {
  const emulator = testEmulator({ limits: { tokens: 30 } });
  const { gateway } = callsTo(emulator);
  const ask = async (stream: boolean) => {
    const response = await openStream(emulator, 'The key is red. What is red?', { stream });
    await response.text();
    return response.status;
  };

  // Each uses 18: 13 of the prompt and 5 of the answer.
  expect([await ask(false), await ask(true), await ask(false)]).toEqual([200, 200, 429]);
  expect((await gateway('GET', '/v1/presets')).status).toBe(200);
  expect(emulator.requests[2]?.limit).toMatchObject({ name: 'tokens', unit: 'tokens', allowed: 30, asked: 36 });
  emulator.clock.advance(60_000);
  expect(await ask(true)).toBe(200);
});

describe('the Gateway limit', () => {
  test('is in the headers of every response, also of errors', async () => {
    const emulator = testEmulator();
    const { gateway, bare } = callsTo(emulator);
    emulator.faults.add({ match: { path: '/v1/usage' }, respond: { status: 503 } });

    const reset = Date.parse('2026-01-15T10:01:00Z') / 1000;
    for (const [method, path, expected, left] of [
      ['GET', '/v1/presets', 200, 999],
      ['GET', '/v1/elsewhere', 404, 998],
      ['POST', '/v1/chat/completions', 400, 997],
      ['DELETE', '/v1/presets', 405, 996],
      ['GET', '/v1/usage', 503, 996],
    ] as const) {
      const { status, headers } = await gateway(method, path);
      expect([status, ...rate(headers)]).toEqual([expected, 1000, left, reset]);
    }
    expect(rate((await bare('GET', '/v1/presets')).headers)).toEqual([1000, 999, reset]);
  });

  test('rejects the next request with retry_after, and resets after that time', async () => {
    const emulator = testEmulator({ limits: { gateway: 2 } });
    const { gateway } = callsTo(emulator);
    await gateway('GET', '/v1/presets');
    emulator.clock.advance(20_500);
    await gateway('GET', '/v1/presets');

    const refused = await gateway('GET', '/v1/presets');

    expect(refused.status).toBe(429);
    const error = { message: 'Rate limit exceeded', type: 'rate_limit_error', retry_after: 40 };
    expect(refused.body).toEqual({ error });
    expect(rate(refused.headers).slice(0, 2)).toEqual([2, 0]);
    emulator.clock.advance(39_499);
    expect((await gateway('GET', '/v1/presets')).status).toBe(429);
    emulator.clock.advance(1);
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
  });

  test('is not used up by callers without a valid key', async () => {
    const { gateway, bare } = callsTo(testEmulator({ limits: { gateway: 1 } }));

    expect((await bare('GET', '/v1/presets')).status).toBe(401);
    expect((await bare('GET', '/v1/presets')).status).toBe(429);
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
  });

  test.each([
    ['epoch-milliseconds', 1768471260000],
    ['delta-seconds', 60],
  ] as const)('can report its reset in %s', async (rateLimitReset, expected) => {
    const { headers } = await callsTo(testEmulator({ rateLimitReset })).gateway('GET', '/v1/presets');

    expect(rate(headers)[2]).toBe(expected);
    expect(headers.get('date')).toBe('Thu, 15 Jan 2026 10:00:00 GMT');
  });
});

describe('the Context limit', () => {
  test('is counted separately for compaction', async () => {
    const emulator = testEmulator({ limits: { context: 3, compact: { requests: 1, windowMs: 10_000 } } });
    const { context } = callsTo(emulator);
    const { id: conversationId } = emulator.conversations.create();
    const compact = () => context('POST', '/api/context/compact', { conversationId });

    expect((await compact()).status).toBe(200);
    const refused = await compact();
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ success: false, error: 'Rate limit exceeded' });
    expect(refused.headers.get('retry-after')).toBe('10');
    for (let i = 0; i < 3; i += 1) expect((await context('GET', '/api/memory')).status).toBe(200);
    expect((await context('GET', '/api/memory')).headers.get('retry-after')).toBe('60');
    emulator.clock.advance(10_000);
    expect((await compact()).status).toBe(200);
  });

  test('counts every encoding of the compaction path', async () => {
    const { context } = callsTo(testEmulator({ limits: { compact: 1 } }));
    const compact = async (at: string) => (await context('POST', at, { conversationId: 'none' })).status;

    expect(await compact('/api/context/comp%61ct')).toBe(404);
    expect(await compact('/%61pi/context/compac%74')).toBe(429);
    expect(await compact('/api//context/compact')).toBe(404);
  });

  test('is 300 requests a minute per user by default, and 20 for compaction', async () => {
    const emulator = testEmulator();
    const { context } = callsTo(emulator);
    const { id } = emulator.conversations.create();

    for (let i = 0; i < 20; i += 1) await context('POST', '/api/context/compact', { conversationId: id });
    for (let i = 0; i < 300; i += 1) await context('GET', '/api/memory');

    expect((await context('POST', '/api/context/compact', { conversationId: id })).status).toBe(429);
    expect((await context('GET', '/api/memory')).status).toBe(429);
    expect((await context('GET', '/api/memory', undefined, emulator.sessions.create().token)).status).toBe(200);
  });
});
