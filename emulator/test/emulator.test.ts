import { describe, expect, test } from 'vitest';
import { createEmulator } from '../src/index.js';
import { callsTo, eventsOf, openStream, PROJECT_TALK, testEmulator } from './support.js';

const post = (text: string) => ({ action: 'post_message', channel: '#a', text });
const MESSAGE = { id: 'b', role: 'user' as const, content: 'b' };

/** Makes a call of every kind and returns the results as JSON. */
async function resultsOfEveryCall(emulator: ReturnType<typeof testEmulator>): Promise<string> {
  const { context, gateway, upload } = callsTo(emulator);
  const messages = PROJECT_TALK.map(({ role, content }) => ({ role, content }));
  const conversation = emulator.conversations.create({ messages });
  const conversationId = conversation.id;
  const said = [
    conversation,
    (await context('POST', '/api/context/compact', { conversationId, level: 'deep' })).body,
    (await context('POST', `/api/context/pin/${conversationId}`, { messageId: conversation.messages[0]?.id })).body,
    (await context('GET', `/api/context?conversationId=${conversationId}`)).body,
    (await context('POST', '/api/memory', { type: 'fact', key: 'a', content: 'b' })).body,
    await (await openStream(emulator, 'How tall is the tower?')).text(),
    (await upload(new File(['abc'], 'x'))).body,
    (await gateway('POST', '/v1/integrations/team-chat/execute', post('b'))).body,
    emulator.requests.map(({ requestId, status }) => [requestId, status]),
  ];
  return JSON.stringify(said);
}

describe('an emulator', () => {
  test('returns the same bytes for the same seed, clock and requests', async () => {
    const one = testEmulator({ seed: 7 });
    const other = testEmulator({ seed: '7' });

    expect(await resultsOfEveryCall(one)).toBe(await resultsOfEveryCall(other));
    expect(one.apiKeys.secret).toBe(other.apiKeys.secret);
    const [eight, nine] = [testEmulator({ seed: 8 }), testEmulator({ seed: 9 })];
    expect(await resultsOfEveryCall(eight)).not.toBe(await resultsOfEveryCall(nine));
  });

  test('starts over after a reset and keeps its keys', async () => {
    const emulator = testEmulator({ setup: ({ conversations }) => void conversations.create({ id: 'first' }) });
    const { secret } = emulator.apiKeys;
    const { sessionToken } = emulator;
    const before = await resultsOfEveryCall(emulator);
    emulator.apiKeys.create('secret');
    emulator.faults.add({ respond: { status: 500 } });
    emulator.chat.on('x', 'y');

    emulator.reset();

    expect([emulator.apiKeys.secret, emulator.sessionToken]).toEqual([secret, sessionToken]);
    expect(emulator.state()).toMatchObject({ memory: [], files: [], usage: [], integrationExecutions: [] });
    expect(emulator.conversations.list().map(({ id }) => id)).toEqual(['first']);
    expect([emulator.requests, emulator.faults.list()]).toEqual([[], []]);
    expect(await resultsOfEveryCall(emulator)).toBe(before);
    expect(emulator.apiKeys.create('secret')).not.toBe(secret);
  });

  test('generates random keys without a seed, each marked as local', () => {
    const [one, other] = [createEmulator(), createEmulator()];

    expect(one.apiKeys.secret).toMatch(/^svc_sk_local_[a-z0-9]{24}$/);
    expect(one.apiKeys.publishable).toMatch(/^svc_pk_local_[a-z0-9]{24}$/);
    expect(one.apiKeys.secret).not.toBe(other.apiKeys.secret);
    expect(one.sessionToken).not.toBe(other.sessionToken);
  });

  test('shares no state with another emulator', async () => {
    const [one, other] = [testEmulator(), testEmulator({ seed: 'other' })];
    one.conversations.create({ id: 'mine' });
    one.faults.add({ respond: { status: 500 } });
    one.clock.advance(1000);

    expect(other.conversations.get('mine')).toBeUndefined();
    expect((await callsTo(other).gateway('GET', '/v1/presets')).status).toBe(200);
    const authorization = `Bearer ${one.apiKeys.secret}`;
    expect((await callsTo(other).gateway('GET', '/v1/presets', undefined, { authorization })).status).toBe(403);
    expect(other.clock.now()).toBe(Date.parse('2026-01-15T10:00:00Z'));
  });

  test('gives every message an id, and returns copies of its records', () => {
    const { conversations } = testEmulator();
    const created = conversations.create({ messages: [{ role: 'user', content: 'a' }] });
    const second = { ...MESSAGE, createdAt: '2026-01-01T00:00:00Z' };

    expect(conversations.append(created.id, [second])).toEqual([{ ...second, excluded: false }]);
    if (created.messages[0]) created.messages[0].content = 'changed';

    expect(created.messages[0]?.id).toMatch(/^msg_/);
    const first = { id: created.messages[0]?.id, content: 'a' };
    expect(conversations.get(created.id)?.messages).toMatchObject([first, second]);
  });

  test.each([
    ['an id already in use', { id: 'taken' }],
    ['a duplicate message id', { messages: [MESSAGE, MESSAGE] }],
    ['an unknown role', { messages: [{ ...MESSAGE, role: 'robot' }] }],
    ['an invalid date', { messages: [{ ...MESSAGE, createdAt: 'soon' }] }],
  ])('rejects a conversation with %s', (_, input) => {
    const { conversations } = testEmulator();
    conversations.create({ id: 'taken' });

    expect(() => conversations.create(input as Parameters<typeof conversations.create>[0])).toThrow(RangeError);
    expect(conversations.list()).toHaveLength(1);
  });

  test('delays every response by its latency option', async () => {
    const emulator = testEmulator({ latency: 100 });
    const attempt = callsTo(emulator).gateway('GET', '/v1/presets');

    emulator.clock.advance(100);

    expect((await attempt).status).toBe(200);
    expect(emulator.requests.at(-1)?.duration).toBe(100);
  });

  test('keeps the last 1000 requests, with every key redacted', async () => {
    const emulator = testEmulator({ limits: { gateway: 5000 } });
    const { gateway, context } = callsTo(emulator);
    for (let i = 0; i < 1100; i += 1) await gateway('GET', `/v1/presets?limit=${(i % 50) + 1}`);
    const { secret } = emulator.apiKeys;
    const content = `${secret} ${emulator.sessionToken} svc_sk_elsewhere9`;
    await context('POST', '/api/memory', { type: 'fact', key: 'k', content });
    const headers = { cookie: 'sid=1234', 'x-session-token': 'abcd' };
    await gateway('GET', `/v1/presets?category=${secret}`, undefined, headers);

    const { requests } = emulator;

    expect(requests).toHaveLength(1000);
    expect(requests[0]?.path).toBe(`/v1/presets?limit=${(102 % 50) + 1}`);
    expect(requests.at(-2)).toMatchObject({ method: 'POST', path: '/api/memory', status: 200, outcome: 'answered' });
    expect(requests.at(-2)?.body).toContain('svc_sk_***');
    const redacted = { authorization: 'Bearer svc_sk_***', cookie: '***', 'x-session-token': '***' };
    expect(requests.at(-1)?.headers).toMatchObject(redacted);
    const text = JSON.stringify(requests);
    for (const hidden of [secret, emulator.sessionToken, 'elsewhere9', '1234', 'abcd'])
      expect(text).not.toContain(hidden);
  });

  test('rejects a time after the year 9999', () => {
    expect(() => createEmulator({ now: 8e15 })).toThrow('9999');
  });
});

describe('an idempotency key', () => {
  const send = (emulator: ReturnType<typeof testEmulator>, key: string, content = 'one') =>
    callsTo(emulator).gateway('POST', '/v1/integrations/team-chat/execute', post(content), { 'idempotency-key': key });

  test('returns the same response to the same request, also a concurrent one, and rejects another', async () => {
    const emulator = testEmulator();

    const [first, second] = await Promise.all([send(emulator, 'k'), send(emulator, 'k')]);
    const third = await send(emulator, 'k');

    expect([second.body, third.body]).toEqual([first.body, first.body]);
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(emulator.integrations.postedMessages()).toHaveLength(1);
    expect((await send(emulator, 'other')).body.id).not.toBe(first.body.id);
    const { status, body } = await send(emulator, 'k', 'two');
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ param: 'Idempotency-Key', code: 'idempotency_key_reused' });
  });

  test('covers the path and the query', async () => {
    const emulator = testEmulator();
    emulator.conversations.create({ id: 'talk', messages: [{ ...MESSAGE, id: 'a' }, MESSAGE] });
    const { bare, context } = callsTo(emulator);
    for (const messageId of ['a', 'b']) await context('POST', '/api/context/pin/talk', { messageId });
    const headers = { authorization: `Bearer ${emulator.sessionToken}`, 'idempotency-key': 'k' };
    const unpin = async (path: string) => (await bare('DELETE', `/api/context/pin/${path}`, undefined, headers)).status;

    expect([await unpin('talk?messageId=a'), await unpin('talk?messageId=a')]).toEqual([200, 200]);
    expect([await unpin('talk?messageId=b'), await unpin('other?messageId=a')]).toEqual([400, 400]);
  });

  test('does not store an error response', async () => {
    const emulator = testEmulator();
    const { gateway } = callsTo(emulator);
    const run = { input: 'x', model: 'atlas-small' };
    const create = () => gateway('POST', '/v1/presets/mine/execute', run, { 'idempotency-key': 'k' });

    expect((await create()).status).toBe(404);
    emulator.presets.create({ id: 'mine', name: 'mine', template: '{{input}}' });
    expect((await create()).status).toBe(200);
  });

  test('replays a stream without billing it again', async () => {
    const emulator = testEmulator();
    const authorization = `Bearer ${emulator.apiKeys.secret}`;
    const open = () =>
      openStream(emulator, 'How tall is the tower?', {}, { headers: { authorization, 'idempotency-key': 'k' } });
    const first = await (await open()).text();
    const used = (await callsTo(emulator).gateway('GET', '/v1/usage')).body.tokens_used;

    const second = await open();

    expect(second.headers.get('content-type')).toContain('text/event-stream');
    expect(await second.text()).toBe(first);
    expect(eventsOf(first).at(-1)).toBe('[DONE]');
    expect((await callsTo(emulator).gateway('GET', '/v1/usage')).body.tokens_used).toBe(used);
  });
});
