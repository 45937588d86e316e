import { expect, test } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);

const world = emulatedService(
  {},
  {
    setup: ({ conversations, workspaces }) => {
      workspaces.create({ id: 'ours' });
      workspaces.create({ id: 'theirs', members: ['somebody-else'] });
      conversations.create({
        id: 'talk',
        stylePreferences: { tone: 'short' },
        messages: [
          { id: 'req', role: 'user', content: 'Every export must be finished by six in the morning.' },
          { id: 'dec', role: 'user', content: 'We decided to write Parquet because finance loads it directly.' },
          ...Array.from({ length: 14 }, (_, n) => ({
            id: `small${n}`,
            role: 'user' as const,
            content: `Thanks, that was helpful; the weather on day ${n} is quite nice and lunch is ready.`,
          })),
        ],
      });
      for (const [id, workspaceId] of Object.entries({ foreign: 'theirs', shared: 'ours' }))
        conversations.create({ id, workspaceId, messages: [{ id: 'm', role: 'user', content: 'Hi.' }] });
    },
  },
);

test('GET /api/context returns rollingSummary, pinnedMemory and metadata', async () => {
  const context = world.context();
  const pinned = await context.pin('talk', 'req', { category: 'requirement' });

  const answer = await context.retrieve('talk');

  expect(answer).toEqual({
    rollingSummary: await context.summary('talk'),
    pinnedMemory: [pinned],
    metadata: expect.objectContaining({ totalTokens: expect.any(Number), lastCompactionAt: null }),
  });
  expect(answer.rollingSummary.stylePreferences).toEqual({ tone: 'short' });
  expect(world.last).toMatchObject({ method: 'GET', path: '/api/context/summary?conversationId=talk' });
});

test.each(['light', 'deep', 'aggressive', undefined] as const)(
  'POST /api/context/compact accepts the level %s',
  async (level) => {
    const context = world.context();

    const result = await context.compact('talk', { level });

    expect(JSON.parse(world.last.body ?? '')).toEqual({ conversationId: 'talk', level });
    expect(result).toEqual({
      success: true,
      previousTokenCount: expect.any(Number),
      newTokenCount: expect.any(Number),
      tokensRemoved: result.previousTokenCount - result.newTokenCount,
      summaryUpdated: expect.any(Boolean),
    });
    expect((await context.retrieve('talk')).metadata.lastCompactionAt).toEqual(TIME);
  },
);

test.each(['decision', 'requirement', 'reference', 'other', undefined] as const)(
  'POST /api/context/pin/{conversationId} returns the pinned item, with the category %s',
  async (category) => {
    const item = await world.context().pin('talk', 'dec', { category });

    expect(item).toEqual({
      id: expect.any(String),
      messageId: 'dec',
      content: 'We decided to write Parquet because finance loads it directly.',
      category: category ?? 'other',
      pinnedAt: TIME,
    });
    expect(world.last).toMatchObject({ method: 'POST', path: '/api/context/pin/talk' });
    expect(JSON.parse(world.last.body ?? '')).toEqual({ messageId: 'dec', category });
  },
);

test('DELETE /api/context/pin/{conversationId} sends the message id in the query, and unpins', async () => {
  const context = world.context();
  await context.pin('talk', 'dec');

  expect(await context.unpin('talk', 'dec')).toBeUndefined();

  expect(world.last).toMatchObject({ method: 'DELETE', path: '/api/context/pin/talk?messageId=dec', body: '' });
  expect((await context.retrieve('talk')).pinnedMemory).toEqual([]);
});

test('PATCH /api/context/exclude/{conversationId}/{messageId} excludes and includes a message', async () => {
  const context = world.context();
  await context.compact('talk', { level: 'deep' });

  expect(JSON.stringify(await context.summary('talk'))).toContain('Parquet');
  expect(await context.exclude('talk', 'dec')).toBeUndefined();
  expect(world.last).toMatchObject({ method: 'PATCH', path: '/api/context/exclude/talk/dec' });
  expect(JSON.parse(world.last.body ?? '')).toEqual({ exclude: true });
  expect(JSON.stringify(await context.summary('talk'))).not.toContain('Parquet');

  expect(await context.include('talk', 'dec')).toBeUndefined();
  expect(JSON.parse(world.last.body ?? '')).toEqual({ exclude: false });
});

test.each(['preference', 'fact', 'constraint', 'definition'] as const)(
  'POST /api/memory stores a %s and returns the item',
  async (type) => {
    const item = await world.context().memory.create({ type, key: 'editor', content: 'Uses vim.' });

    expect(item).toEqual({ id: expect.any(String), type, key: 'editor', content: 'Uses vim.', isActive: true });
    expect(JSON.parse(world.last.body ?? '')).toEqual({ type, key: 'editor', content: 'Uses vim.' });
  },
);

test('GET /api/memory lists the items of a workspace, or of a type, with id, type, key and content', async () => {
  const { memory } = world.context();
  const fact = await memory.create({ type: 'fact', key: 'k', content: 'c' });
  const ours = await memory.create({ type: 'preference', key: 'p', content: 'c', workspaceId: 'ours' });

  expect(ours.workspaceId).toBe('ours');
  expect((await memory.list({ workspaceId: 'ours' })).map(({ id }) => id)).toEqual([ours.id]);
  expect(await memory.list({ type: 'fact' })).toEqual([{ id: fact.id, type: 'fact', key: 'k', content: 'c' }]);
  expect(world.last.path).toBe('/api/memory?type=fact');
});

test('PATCH /api/memory/{memoryId} changes the content, and DELETE deletes the item and sends no body', async () => {
  const { memory } = world.context();
  const { id } = await memory.create({ type: 'fact', key: 'k', content: 'before' });

  expect(await memory.update(id, { content: 'after' })).toMatchObject({ content: 'after', isActive: true });
  const inactive = { id, content: 'after', isActive: false };
  expect(await memory.update(id, { content: 'after', isActive: false })).toMatchObject(inactive);
  expect(world.last).toMatchObject({ method: 'PATCH', path: `/api/memory/${id}` });
  expect(await memory.list()).toHaveLength(1);

  expect(await memory.delete(id)).toBeUndefined();
  expect(world.last).toMatchObject({ method: 'DELETE', path: `/api/memory/${id}`, body: '' });
  expect(await memory.list()).toEqual([]);
});

test('a member of a workspace sees its conversations, and others get a PermissionDeniedError', async () => {
  const context = world.context();

  expect((await context.retrieve('shared')).metadata.totalTokens).toBeGreaterThan(0);
  expect(await failureOf(context.retrieve('foreign'))).toMatchObject({ name: 'PermissionDeniedError', status: 403 });
});

test.each(['..a', 'a/b\\', '//evil', '?#&;@:', '%zz%2f', 'é漢👩‍👩‍👧e\u0301\u202e', ' a b ', '__proto__', '../x'])(
  'the id %j arrives unchanged as one path segment',
  async (id) => {
    world.emulator.conversations.create({ id, messages: [{ id, role: 'user', content: 'Hello.' }] });
    const context = world.context();

    expect((await context.pin(id, id)).messageId).toBe(id);
    expect(world.last.path.split('/')).toHaveLength(5);
    await context.exclude(id, id);
    expect(world.last.path.split('/')).toHaveLength(6);
    expect((await context.retrieve(id)).pinnedMemory).toMatchObject([{ messageId: id }]);
  },
);

test('the tests above call every endpoint of /api with the session token as a bearer token', async () => {
  expect(await world.uncalled('/api', 'Bearer session_local_***'), 'endpoints that need a test here').toEqual([]);
});
