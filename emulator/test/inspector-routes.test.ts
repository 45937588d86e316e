import { describe, expect, test } from 'vitest';
import { callsTo, PROJECT_TALK, testEmulator } from './support.js';

const routes = () => {
  const emulator = testEmulator();
  emulator.conversations.create({ id: 'talk', messages: PROJECT_TALK });
  return { emulator, call: callsTo(emulator).control };
};

const TALK = '/conversations/talk';

describe('the actions of the inspector', () => {
  test('pins, changes the category, and unpins', async () => {
    const { emulator, call } = routes();

    const pinned = await call('PUT', `${TALK}/pins/dec`, { category: 'decision' });
    const changed = await call('PUT', `${TALK}/pins/dec`, { category: 'requirement' });

    expect(pinned.body).toMatchObject({ messageId: 'dec', category: 'decision' });
    expect(changed.body).toMatchObject({ id: pinned.body.id, category: 'requirement' });
    expect((await call('DELETE', `${TALK}/pins/dec`)).status).toBe(200);
    expect((await emulator.inspect('talk'))?.pinnedMemory).toEqual([]);
    expect((await call('DELETE', `${TALK}/pins/dec`)).status).toBe(404);
  });

  test('excludes a message and includes it again', async () => {
    const { emulator, call } = routes();
    const status = async () => (await emulator.inspect('talk'))?.messages.find(({ id }) => id === 'dec')?.status;

    await call('PATCH', `${TALK}/messages/dec`, { excluded: true });
    expect(await status()).toBe('excluded');
    await call('PATCH', `${TALK}/messages/dec`, { excluded: false });
    expect(await status()).toBe('recent');
  });

  test('deletes a conversation and everything that belongs to it', async () => {
    const { emulator, call } = routes();
    await emulator.compact('talk', 'aggressive');

    expect((await call('DELETE', TALK)).status).toBe(200);

    expect(emulator.state().conversations).toEqual([]);
    expect((await call('GET', `${TALK}/context`)).status).toBe(404);
    // A new conversation under the same ids, to show that nothing of the old one was cached.
    const message = { id: 'dec', role: 'user' as const, content: 'We decided to use paper because it is patient.' };
    emulator.conversations.create({ id: 'talk', messages: [message, ...PROJECT_TALK.slice(10)] });
    await emulator.compact('talk', 'deep');
    expect(JSON.stringify((await emulator.inspect('talk'))?.rollingSummary)).not.toContain('Parquet');
  });

  test.each([
    { method: 'PUT', path: '/conversations/none/pins/dec', status: 404, error: 'no such conversation' },
    { method: 'PUT', path: `${TALK}/pins/none`, status: 404, error: 'message does not exist' },
    { method: 'PUT', path: `${TALK}/pins/dec`, body: { category: 'x' }, status: 400, error: 'category' },
    { method: 'PATCH', path: `${TALK}/messages/none`, body: { excluded: true }, status: 404, error: 'message' },
    { method: 'DELETE', path: '/conversations/none', status: 404, error: 'no such conversation' },
    { method: 'PATCH', path: '/memory/none', body: {}, status: 404, error: 'no such memory' },
    { method: 'DELETE', path: '/memory/none', status: 404, error: 'no such memory' },
    { method: 'GET', path: '/requests/none', status: 404, error: 'no such request' },
  ])('responds to $method $path with a $status that says why', async ({ method, path, body, status, error }) => {
    const answer = await routes().call(method, path, body);

    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(error);
  });

  test('changes the content of a memory item and whether it is active', async () => {
    const { emulator, call } = routes();
    const { id } = (await call('POST', '/memory', { type: 'fact', key: 'city', content: 'Oslo' })).body;

    await call('PATCH', `/memory/${id}`, { isActive: false });
    await call('PATCH', `/memory/${id}`, { content: 'Bergen' });

    expect((await call('GET', '/memory')).body).toEqual([
      { id, type: 'fact', key: 'city', content: 'Bergen', isActive: false },
    ]);
    await call('DELETE', `/memory/${id}`);
    expect(emulator.memory.all()).toEqual([]);
  });

  test('finds conversations by id and by a message, newest first', async () => {
    const { emulator, call } = routes();
    emulator.conversations.create({ id: 'other', messages: [{ role: 'user', content: 'About the HARBOUR.' }] });
    const found = async (search: string) => (await call('GET', `/search/conversations?q=${search}`)).body;

    expect(await found('')).toMatchObject({ conversations: [{ id: 'other' }, { id: 'talk' }] });
    expect(await found('harbour')).toMatchObject({ conversations: [{ id: 'other' }] });
    expect(await found('TAL')).toMatchObject({ conversations: [{ id: 'talk' }] });
    expect(await found('nothing')).toMatchObject({ conversations: [], all: 2 });
  });

  test('lists the statements of messages, also one that a later one revokes, without excluded ones', async () => {
    const { emulator, call } = routes();
    const states = async () => JSON.stringify((await call('GET', `${TALK}/context`)).body.statements);
    const content = 'Actually, we decided to write CSV files instead of Parquet files because the finance team asked.';

    const requirement = { section: 'requirements', messageId: 'req' };
    expect(JSON.parse(await states())).toContainEqual(expect.objectContaining(requirement));
    await call('PATCH', `${TALK}/messages/req`, { excluded: true });
    expect(await states()).not.toContain('six in the morning');
    emulator.conversations.append('talk', [{ role: 'user', content }]);
    expect(await states()).toMatch(/We decided to write Parquet files.*Actually, we decided to write CSV files/);
  });
});
