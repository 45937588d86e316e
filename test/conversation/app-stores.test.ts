import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import {
  ConversationConflictError,
  type ConversationState,
  type ConversationStore,
  createConversation,
  memoryStore,
  type StoredMessage,
  wordsOf,
} from 'context-gateway/conversation';
import { testStore } from 'context-gateway/conversation/testing';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresStore, TABLES } from '../../examples/apps/support-chat/postgres-store.js';
import { sqliteStore } from '../../examples/apps/support-chat/sqlite-store.js';
import { chatWorld } from './world.js';

const sqlite = new Database(':memory:');
const postgres = new PGlite();
afterAll(async () => {
  sqlite.close();
  await postgres.close();
});

const stores: [string, () => Promise<Required<ConversationStore>>][] = [
  ['memory', async () => memoryStore()],
  ['SQLite', async () => sqliteStore(sqlite)],
  [
    'PostgreSQL',
    async () => {
      await postgres.exec(TABLES);
      return postgresStore(postgres);
    },
  ],
];

describe.each(stores)('a store in %s', (name, open) => {
  test('keeps every rule', async () => testStore(await open()));

  test('keeps a conversation: turns, an edit, another reply, and its state, for an object per request', async () => {
    const world = chatWorld();
    const store = await open();
    const options = { gateway: world.gateway, model: 'atlas-small', conversationId: `it's a talk in ${name}`, store };
    const talk = () => createConversation(options);
    world.emulator.chat.on('harbour', 'At six.');
    world.emulator.chat.on('ferry', 'At nine.');

    const { messages } = await talk().send('When does the harbour open?');
    await talk().send('Thanks!');
    await talk().edit(String(messages[0]?.id), 'When does the ferry leave?').final();
    world.emulator.chat.on('ferry', 'At ten.');
    await talk().regenerate().final();

    const loaded = await store.load(`it's a talk in ${name}`);
    expect(loaded?.messages.map(({ content }) => content)).toEqual(['When does the ferry leave?', 'At ten.']);
    expect(Number(loaded?.edits)).toBe(2);
  });
});

describe.each(stores.slice(1))('the words of a store in %s', (_, open) => {
  const lamp = {
    id: 'lamp',
    role: 'user',
    content: 'The pier gets a red lamp.',
    createdAt: '2026-05-03T09:00:00.000Z',
  };
  const nothing = { newest: 0, ids: [], positions: [] };
  const words = wordsOf({ content: 'red lamp' });

  test('find no message of another conversation, whatever that says', async () => {
    const store = await open();
    const [ours, theirs] = [`ours ${crypto.randomUUID()}`, crypto.randomUUID()];
    const hex = Buffer.from(ours).toString('hex');
    await store.append(ours, [lamp], { edits: 0 });
    const content = `${hex} talk${hex} talk red lamp pier`;
    await store.append(theirs, [{ ...lamp, content }], { edits: 0 });

    const found = await store.load(ours, { ...nothing, words: [...words, hex, 'talk'] });

    expect(found?.messages.map((row) => row.content)).toEqual([lamp.content]);
  });

  test('take words of any length and form', async () => {
    const store = await open();
    const id = crypto.randomUUID();
    const content = `${'0123456789abcdef'.repeat(500)} ${'1'.repeat(9000)} "' OR () * ^ - : ; NEAR AND`;
    await store.append(id, [{ ...lamp, content }], { edits: 0 });

    const found = await store.load(id, { ...nothing, words: wordsOf({ content }) });

    expect(found?.messages).toHaveLength(1);
  });
});

describe.each(stores)('a store in %s', (_, open) => {
  const message = (content: string): StoredMessage => ({
    ...{ id: content, role: 'user', content, createdAt: '2026-05-03T09:00:00.000Z' },
  });

  test('gives each of many messages that are added at once a place', async () => {
    const store = await open();
    const id = crypto.randomUUID();
    const texts = Array.from({ length: 30 }, (_, at) => `Text ${at}`);

    await Promise.all(texts.map((text) => store.append(id, [message(text)], { edits: 0 })));

    const { messages = [] } = (await store.load(id)) ?? {};
    expect(messages.map(({ content }) => content).sort()).toEqual(texts.sort());
  });

  test('removes the oldest messages of a conversation, whose words no search finds then', async () => {
    const store = await open();
    const id = crypto.randomUUID();
    await store.append(id, ['Red lamp', 'Green lamp', 'Blue lamp'].map(message), { edits: 0 });
    await store.setExcluded(id, 'Blue lamp', 1);

    await store.append(id, ['Green lamp', 'Blue lamp'].map(message), { edits: 0, after: null });

    const wanted = { newest: 0, ids: [], positions: [], words: wordsOf({ content: 'red lamp' }) };
    const { messages = [], edits } = (await store.load(id, wanted)) ?? {};
    expect(messages).toMatchObject([{ content: 'Green lamp' }, { content: 'Blue lamp', excluded: true }]);
    expect([messages.length, edits]).toEqual([2, 1]);
  });

  test('keeps texts and fields that a database may change', async () => {
    const store = await open();
    const id = crypto.randomUUID();
    const odd = { ...message('a\0b \ud800 e\u0301 \r\n '), id: 'odd', extra: { b: 1.0, a: ['\u2028', null] } };

    await store.append(id, [odd], { edits: 0 });

    expect((await store.load(id))?.messages).toMatchObject([odd]);
  });
});

test('a conversation whose rows an app deletes as the guide says is empty, and a turn that saw it is a conflict', async () => {
  const store = sqliteStore(sqlite);
  const message = { id: 'a', role: 'user', content: 'A lamp.', createdAt: '2026-05-03T09:00:00.000Z' };
  await store.append('deleted', [message], { edits: 0 });
  await store.saveState('deleted', { format: 1 } as ConversationState, 0);

  sqlite.exec(DELETED.replaceAll('$1', "'deleted'"));

  expect(await store.load('deleted')).toEqual({ messages: [], count: 0, edits: 1, state: null, revision: 2 });
  expect(() => store.append('deleted', [message], { edits: 0 })).toThrow(ConversationConflictError);
  const left = 'SELECT count(*) AS rows FROM words WHERE rowid NOT IN (SELECT key FROM messages)';
  expect(sqlite.prepare(left).get()).toMatchObject({ rows: 0 });
});

/** What docs/guides/stores.md says. */
const DELETED =
  readFileSync('docs/guides/stores.md', 'utf8').match(/```sql\n(UPDATE conversations[^`]*)```/)?.[1] ?? '';
