import { GatewayClient } from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';
import { describe, expect, test } from 'vitest';
import { callsTo, testEmulator } from './support.js';

const prompt = (content: string) => ({ model: 'atlas-small', messages: [{ role: 'user' as const, content }] });

describe('the attempts of one call', () => {
  test('are joined when the SDK retries', async () => {
    const emulator = createEmulator({ seed: 'attempts' });
    emulator.faults.add({ respond: { status: 503, retryAfter: 0 }, times: 2 });
    const { secret: apiKey } = emulator.apiKeys;
    const gateway = new GatewayClient({ baseURL: 'https://emulator.test', apiKey, fetch: emulator.fetch });

    await gateway.chat.completions.create(prompt('Hello?'), { maxRetries: 2 });

    const [first, ...others] = emulator.requests;
    expect(first?.attempt).toBeUndefined();
    expect(others.map(({ status, attempt }) => ({ status, ...attempt }))).toEqual([
      { status: 503, call: first?.requestId, number: 2, by: 'call' },
      { status: 200, call: first?.requestId, number: 3, by: 'call' },
    ]);
    await gateway.close();
    await emulator.close();
  });

  test('are told from polls: fifteen requests that each get a 429 are similar, and no attempts', async () => {
    const emulator = testEmulator({ limits: { gateway: 0 } });
    for (let poll = 0; poll < 15; poll += 1) await callsTo(emulator).gateway('GET', '/v1/usage');

    const [first, ...others] = emulator.requests;
    expect(others.map(({ attempt }) => attempt)).toEqual(others.map(() => undefined));
    expect(others.map(({ similar }) => similar)).toEqual(
      others.map((_, i) => ({ first: first?.requestId, number: i + 2 })),
    );
  });

  test.each([
    ['idempotency-key', 'k1'],
    ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ])('are joined by their %s, however late they are', async (by, value) => {
    const emulator = testEmulator();
    const { ask } = callsTo(emulator);
    emulator.faults.add({ respond: { status: 503 } });
    await ask('Hello?', {}, { [by]: value });
    emulator.clock.advance(3_600_000);
    await ask('Hello?', {}, { [by]: value });

    expect(emulator.requests[1]?.attempt).toEqual({ call: emulator.requests[0]?.requestId, number: 2, by });
  });

  test('are not joined after a success, with another body or key, or a minute after the wait', async () => {
    const emulator = testEmulator({ limits: { gateway: 2 } });
    const { ask } = callsTo(emulator);
    await ask('Hello?');
    await ask('Hello?');
    await ask('Hello?'); // a 429
    await ask('Other?', {}, { authorization: `Bearer ${emulator.apiKeys.create('secret', {})}` });
    emulator.clock.advance(120_001);
    await ask('Hello?');

    expect(emulator.requests.map(({ status }) => status)).toEqual([200, 200, 429, 429, 200]);
    expect(emulator.requests.filter(({ attempt, similar }) => attempt ?? similar)).toEqual([]);
  });
});

describe('a request of the log', () => {
  test('can be sent once more, with its own key, changed or not', async () => {
    const emulator = testEmulator();
    const { ask, control } = callsTo(emulator);
    emulator.faults.add({ respond: { status: 503 } });
    await ask('Hello?', {}, { 'x-team': 'blue' });
    const [{ requestId, headers } = { requestId: '', headers: {} }] = emulator.requests;
    const resend = (body: object) => control('POST', `/requests/${requestId}/resend`, body);

    const same = await resend({});
    const body = JSON.stringify(prompt('Other?'));
    const changed = await resend({ headers: { ...headers, 'x-team': 'red' }, body });

    expect([same.status, changed.status]).toEqual([202, 202]);
    await expect.poll(() => emulator.requests.map(({ status }) => status)).toEqual([503, 200, 200]);
    expect(emulator.requests[1]).toMatchObject({
      requestId: same.body.id,
      caller: 'first secret key',
      body: JSON.stringify(prompt('Hello?')),
      headers: { 'x-team': 'blue', 'x-emulator-resent': requestId },
    });
    expect(emulator.requests[1]?.attempt).toBeUndefined();
    expect(emulator.requests[2]).toMatchObject({ headers: { 'x-team': 'red' }, body });
    expect((await resend({ path: '/_emulator/state' })).status).toBe(400);
    expect((await resend({ method: 'A B' })).status).toBe(400);
    expect((await control('POST', '/requests/none/resend', {})).status).toBe(404);
  });

  test('names the limit that refused it, and the clock can be advanced to the end of its window', async () => {
    const emulator = testEmulator({ limits: { compact: 1 } });
    const { context, control } = callsTo(emulator);
    const { id: conversationId } = emulator.conversations.create({ messages: [{ role: 'user', content: 'x' }] });
    const compact = () => context('POST', '/api/context/compact', { conversationId });
    await compact();
    emulator.clock.advance(10_000);
    await compact();
    await compact();

    const { limit } = emulator.requests[2] ?? {};
    const window = { windowMs: 60_000, endsAt: '2026-01-15T10:01:00.000Z' };
    expect(limit).toEqual({ name: `compact ${emulator.userId}`, unit: 'requests', allowed: 1, asked: 3, ...window });
    expect((await control('POST', '/clock', { to: limit?.endsAt })).body).toEqual({ time: limit?.endsAt });
    expect((await control('POST', '/clock', { to: '2020-01-01' })).body).toEqual({ time: limit?.endsAt });
    expect((await control('POST', '/clock', {})).status).toBe(400);
    expect((await compact()).status).toBe(200);
  });
});
