import { describe, expect, test } from 'vitest';
import { type Emulator, type EmulatorState, systemClock } from '../src/index.js';
import { callsTo, openStream, PROJECT_TALK, testEmulator } from './support.js';

/** An emulator with state of every kind. */
async function usedEmulator() {
  const emulator = testEmulator();
  const { context, upload } = callsTo(emulator);
  emulator.workspaces.create({ id: 'team', name: 'Team' });
  emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK, stylePreferences: { tone: 'dry' } });
  await context('POST', '/api/context/pin/talk', { messageId: 'req', category: 'requirement' });
  await context('POST', '/api/context/compact', { conversationId: 'talk', level: 'light' });
  await context('PATCH', '/api/context/exclude/talk/dec', { exclude: true });
  await context('POST', '/api/context/compact', { conversationId: 'talk', level: 'deep' });
  await context('POST', '/api/memory', { type: 'fact', key: 'a', content: 'b', workspaceId: 'team' });
  await upload(new File([new Uint8Array([0, 255, 1, 254])], 'x.bin', { type: 'application/x-test' }));
  await post(emulator);
  await (await openStream(emulator, 'How tall is the tower?')).text();
  emulator.presets.create({ id: 'mine', name: 'Mine', template: '{{input}}' });
  emulator.apiKeys.create('secret', { name: 'extra', expiresAt: '2026-02-01' });
  emulator.account.setPlan('enterprise');
  return emulator;
}

const post = (emulator: Emulator) => {
  const message = { action: 'post_message', channel: '#a', text: 'b' };
  const headers = { 'idempotency-key': 'once' };
  return callsTo(emulator).gateway('POST', '/v1/integrations/team-chat/execute', message, headers);
};

const plane = (emulator: Emulator) => callsTo(emulator).control;

describe('the state', () => {
  test('is identical after a move to another emulator', async () => {
    const one = await usedEmulator();
    const other = testEmulator({ seed: 'other' });
    const state = (await plane(one)('GET', '/state')).body;

    const put = await plane(other)('PUT', '/state', state);

    expect(put.status).toBe(200);
    expect((await plane(other)('GET', '/state')).body).toEqual(state);
    expect(other.apiKeys.secret).toBe(one.apiKeys.secret);
    expect(other.conversations.receipts('talk')).toHaveLength(2);
    expect(other.conversations.receipts('talk')).toEqual(one.conversations.receipts('talk'));
    expect([...(other.files.content(one.files.list()[0]?.id ?? '') ?? [])]).toEqual([0, 255, 1, 254]);
    const next = (emulator: typeof one) => callsTo(emulator).context('POST', '/api/memory', MEMORY);
    expect((await next(other)).body).toEqual((await next(one)).body);
    const again = await post(other);
    expect(other.integrations.executions().map(({ id }) => id)).toEqual([again.body.id]);
  });

  test('may have what a former version did not check: no summary to read, odd times, empty ids', async () => {
    const one = await usedEmulator();
    const state = JSON.parse(JSON.stringify(one.state()));
    const conversation = state.conversations.find(({ id }: { id: string }) => id === 'talk');
    Object.assign(conversation, { workspaceId: null, rollingSummary: 'x' });
    Object.assign(conversation.messages[0], { createdAt: 'yesterday' });
    Object.assign(conversation.pinnedMemory[0], { id: '', pinnedAt: '' });
    Object.assign(conversation.receipts[0], { at: '' });
    Object.assign(conversation.summaryVersions[0].summary, { lastUpdated: '' });
    Object.assign(state.integrationExecutions[0], { id: '', executedAt: '' });
    state.conversations.push({ ...conversation, id: 'other', rollingSummary: undefined });
    const file = { format: 'context-gateway-emulator/case', version: 1, requests: [], replies: [], faults: [] };
    const fault = { id: '', match: {}, remaining: 1, respond: { status: 503 } };
    const given = { ...file, faults: [fault], replies: [{ id: '', match: 'x', reply: 'y' }] };

    const put = await plane(testEmulator())('PUT', '/state', state);
    const opened = await plane(testEmulator())('POST', '/case', { ...given, state });

    expect(put).toMatchObject({ status: 200 });
    expect(opened).toMatchObject({ status: 200, body: { faults: 1, replies: 1, state: true } });
  });

  test('holds its clock, which a restore puts back, and a reset returns to the start', async () => {
    const emulator = testEmulator({ limits: { gateway: 1 } });
    const { gateway } = callsTo(emulator);
    emulator.clock.advance(60_000);
    const state = emulator.state();
    emulator.clock.advance(86_400_000);
    await gateway('GET', '/v1/presets');

    emulator.restore(JSON.parse(JSON.stringify(state)));
    expect(new Date(emulator.clock.now()).toISOString()).toBe('2026-01-15T10:01:00.000Z');
    // A window that would begin in the future does not count.
    expect((await gateway('GET', '/v1/presets')).status).toBe(200);
    emulator.reset();
    expect(new Date(emulator.clock.now()).toISOString()).toBe('2026-01-15T10:00:00.000Z');
  });

  test('of a clock that runs holds how far it was advanced', () => {
    const clock = systemClock();
    const emulator = testEmulator({ clock, now: undefined });
    const shift = () => emulator.state().clock?.advanced;
    clock.advance(5000);
    const state = emulator.state();
    clock.advance(1000);

    expect(shift()).toBe(6000);
    emulator.restore(state);
    expect(shift()).toBe(5000);
    emulator.reset();
    expect(shift()).toBe(0);
  });

  test('can be kept under a name, and restored, also after a reset', async () => {
    const emulator = await usedEmulator();
    const call = plane(emulator);
    const before = emulator.state();
    expect((await call('PUT', '/snapshots/before the move')).body).toMatchObject({ name: 'before the move' });
    emulator.reset();

    expect((await call('POST', '/snapshots/before the move/restore')).status).toBe(200);
    expect(emulator.state()).toEqual(before);
    expect((await call('POST', '/snapshots/none/restore')).status).toBe(404);
    for (let i = 0; i < 49; i += 1) await call('PUT', `/snapshots/${i}`);
    expect((await call('PUT', '/snapshots/one more')).status).toBe(400);
    expect((await call('DELETE', '/snapshots/0')).status).toBe(200);
    expect((await call('GET', '/snapshots')).body).toHaveLength(49);
  });

  test('can be what an emulator starts with, and what a reset returns to', async () => {
    const state = (await usedEmulator()).state();
    const emulator = testEmulator({ seed: 'other', state });

    expect(emulator.state()).toEqual(state);
    emulator.memory.create({ type: 'fact', key: 'later', content: 'x' });
    emulator.reset();
    expect(emulator.state()).toEqual(state);
  });

  test.each<{ what: string; spoil: (state: EmulatorState) => void }>([
    { what: 'no API keys', spoil: (state) => remove(state, 'apiKeys') },
    { what: 'a preset without a name', spoil: ({ presets: [one] }) => remove(one, 'name') },
    { what: 'a plan without a price', spoil: ({ plan }) => remove(plan, 'pricePerMonth') },
    { what: 'a memory item of another type', spoil: ({ memory: [one] }) => set(one, 'type', 'rumour') },
    { what: 'a message of another role', spoil: ({ conversations: [one] }) => set(one?.messages[0], 'role', 'x') },
    { what: 'a pin without a category', spoil: ({ conversations: [one] }) => remove(one?.pinnedMemory[0], 'category') },
    { what: 'an invalid time', spoil: ({ conversations: [one] }) => set(one, 'lastUpdated', 'x') },
    { what: 'a stored response without headers', spoil: ({ idempotency: [one] }) => remove(one?.answer, 'headers') },
    { what: 'a file without a name', spoil: ({ files: [one] }) => remove(one, 'filename') },
  ])('is rejected with $what', async ({ spoil }) => {
    const emulator = await usedEmulator();
    const before = emulator.state();
    const state = structuredClone(before);
    spoil(state);

    expect((await plane(emulator)('PUT', '/state', state)).status).toBe(400);
    expect(emulator.state()).toEqual(before);
  });
});

describe('the versions of a summary', () => {
  test('record their cause and their token counts', async () => {
    const emulator = await usedEmulator();

    const versions = emulator.conversations.summaryVersions('talk');

    expect(versions).toMatchObject([
      { cause: 'light', summary: { version: 1 } },
      { cause: 'exclude', summary: { version: 2 } },
      { cause: 'deep', summary: { version: 3 } },
    ]);
    for (const { compressedTokens, previousTokens } of versions)
      expect(compressedTokens).toBeLessThanOrEqual(previousTokens);
    const current = (await callsTo(emulator).context('GET', '/api/context/summary?conversationId=talk')).body.summary;
    expect(versions.at(-1)?.summary).toEqual(current);
  });
});

const MEMORY = { type: 'fact', key: 'next', content: 'one' };

function set(record: object | undefined, name: string, value: unknown): void {
  if (record === undefined) throw new Error('there is no such record to spoil');
  Object.assign(record, { [name]: value });
}

function remove(record: object | undefined, name: string): void {
  set(record, name, undefined);
}
