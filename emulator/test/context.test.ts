import { describe, expect, test } from 'vitest';
import { callsTo, PROJECT_TALK, testEmulator } from './support.js';

const talk = (messages = PROJECT_TALK) => {
  const emulator = testEmulator();
  const calls = callsTo(emulator);
  const { id } = emulator.conversations.create({ messages });
  const context = async () => (await calls.context('GET', `/api/context?conversationId=${id}`)).body.context;
  const pin = async (messageId: string, category?: string) =>
    (await calls.context('POST', `/api/context/pin/${id}`, { messageId, category })).body.pinnedItem;
  const compact = async (level?: string) =>
    (await calls.context('POST', '/api/context/compact', { conversationId: id, ...(level && { level }) })).body.result;
  return { emulator, calls, id, context, pin, compact };
};

describe('the context of a conversation', () => {
  test('has a preservation ratio of at most 1, also when every summarized message is pinned', async () => {
    const { context, pin, compact } = talk();
    await compact('light');
    for (const { id = '' } of PROJECT_TALK) await pin(id);

    const { metadata } = await context();

    expect(metadata.compressedTokens).toBeGreaterThan(metadata.totalTokens);
    expect(metadata.preservationRatio).toBe(1);
  });

  test('has four tokens for each message besides those of its text', async () => {
    const { context } = talk(['one', 'two'].map((id) => ({ id, role: 'user', content: 'Hello' })));

    expect((await context()).metadata.totalTokens).toBe(10);
  });

  test('has an empty summary and all tokens before any compaction', async () => {
    const { context } = talk();

    const { rollingSummary, pinnedMemory, metadata } = await context();

    expect(rollingSummary).toEqual({
      goals: [],
      decisions: [],
      requirements: [],
      currentPlan: [],
      openQuestions: [],
      definitions: {},
      importantReferences: [],
      stylePreferences: {},
      lastUpdated: '2026-01-15T10:00:00.000Z',
      version: 0,
    });
    expect(pinnedMemory).toEqual([]);
    expect(metadata).toMatchObject({ lastCompactionAt: null, preservationRatio: 1, recentMessageCount: 20 });
    expect(metadata.compressedTokens).toBe(metadata.totalTokens);
  });

  test('returns the summary of a compaction in every later read', async () => {
    const { calls, id, context, compact } = talk();

    const result = await compact('light');

    const { rollingSummary, metadata } = await context();
    expect(result).toMatchObject({ success: true, summaryUpdated: true });
    expect(rollingSummary.version).toBe(1);
    const decision = { id: expect.stringMatching(/^dec_/), decision: 'We decided to write Parquet files.' };
    const reason = 'the finance team loads them directly';
    expect(rollingSummary.decisions).toEqual([{ ...decision, reason, timestamp: '2026-01-15T10:00:00.000Z' }]);
    expect(rollingSummary.goals).toEqual([PROJECT_TALK[0]?.content]);
    expect(rollingSummary.requirements).toEqual([PROJECT_TALK[3]?.content]);
    expect(metadata.lastCompactionAt).toBe('2026-01-15T10:00:00.000Z');
    expect(metadata.preservationRatio).toBe(metadata.compressedTokens / metadata.totalTokens);
    const { body } = await calls.context('GET', `/api/context/summary?conversationId=${id}`);
    expect(body).toEqual({ success: true, summary: rollingSummary });
  });

  test('is compacted lightly when no level is given', async () => {
    expect(await talk().compact()).toEqual(await talk().compact('light'));
  });

  test('does not change on a repeated compaction or a milder one', async () => {
    const { context, compact } = talk();
    await compact('deep');
    const before = await context();

    const again = [await compact('deep'), await compact('light')];

    for (const result of again) expect(result).toMatchObject({ tokensRemoved: 0, summaryUpdated: false });
    expect(await context()).toEqual(before);
  });
});

describe('pins', () => {
  test('keep a message byte for byte at every level', async () => {
    const content = '  We *must* keep\tthis — exactly  ✂\u200d️\n\n```js\nconst a = 1;\n```  ';
    const { context, pin, compact } = talk([{ id: 'pin', role: 'user', content }, ...PROJECT_TALK]);
    await pin('pin');

    for (const level of ['light', 'deep', 'aggressive']) {
      await compact(level);
      expect((await context()).pinnedMemory).toEqual([expect.objectContaining({ content })]);
    }
  });

  test('have the category other by default, and change it when pinned again', async () => {
    const { context, pin } = talk();

    const first = await pin('dec');
    const second = await pin('dec', 'decision');

    expect(first.category).toBe('other');
    expect(second).toEqual({ ...first, category: 'decision' });
    expect((await context()).pinnedMemory).toEqual([second]);
  });

  test('leave a message in the context verbatim when it is unpinned after a compaction', async () => {
    const { calls, id, context, pin, compact } = talk();
    await pin('dec');
    await compact('deep');
    const pinned = (await context()).metadata;

    await calls.context('DELETE', `/api/context/pin/${id}?messageId=dec`);

    const unpinned = (await context()).metadata;
    expect(unpinned.compressedTokens).toBe(pinned.compressedTokens);
    expect(unpinned.recentMessageCount).toBe(pinned.recentMessageCount + 1);
    await compact('deep');
    expect((await context()).rollingSummary.decisions).toHaveLength(1);
  });
});

describe('an excluded message', () => {
  test('is ignored by a compaction, and summarized by the next one after it is included again', async () => {
    const { calls, id, context, compact } = talk();
    await calls.context('PATCH', `/api/context/exclude/${id}/dec`, { exclude: true });
    await compact('light');
    const excluded = (await context()).rollingSummary;

    await calls.context('PATCH', `/api/context/exclude/${id}/dec`, { exclude: false });
    const included = (await context()).rollingSummary;
    await compact('light');

    expect(JSON.stringify(excluded)).not.toContain('Parquet');
    expect(included).toEqual(excluded);
    expect((await context()).rollingSummary.decisions[0].decision).toContain('Parquet');
  });
});

describe('user memory', () => {
  test('is listed by type and by workspace', async () => {
    const { emulator, calls } = talk();
    const workspaceId = emulator.workspaces.create().id;
    await calls.context('POST', '/api/memory', { type: 'fact', key: 'a', content: 'own fact' });
    await calls.context('POST', '/api/memory', { type: 'constraint', key: 'b', content: 'own constraint' });
    await calls.context('POST', '/api/memory', { type: 'fact', key: 'c', content: 'shared fact', workspaceId });

    const keys = async (query: string) =>
      (await calls.context('GET', `/api/memory${query}`)).body.memories.map((item: { key: string }) => item.key);

    expect(await keys('')).toEqual(['a', 'b']);
    expect(await keys('?type=fact')).toEqual(['a']);
    expect(await keys(`?workspaceId=${workspaceId}`)).toEqual(['c']);
    expect(await keys(`?workspaceId=${workspaceId}&type=constraint`)).toEqual([]);
  });

  test('of one user is invisible to another', async () => {
    const { emulator, calls } = talk();
    const { id } = (await calls.context('POST', '/api/memory', { type: 'fact', key: 'a', content: 'own' })).body.memory;
    const { token } = emulator.sessions.create();

    expect((await calls.context('GET', '/api/memory', undefined, token)).body.memories).toEqual([]);
    expect((await calls.context('DELETE', `/api/memory/${id}`, undefined, token)).status).toBe(404);
  });
});
