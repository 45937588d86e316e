import { PGlite } from '@electric-sql/pglite';
import { type ConversationStore, createConversation, memoryStore, wordsOf } from 'context-gateway/conversation';
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
    expect(loaded?.state).toMatchObject({ format: 1, revision: 4 });
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
    await store.append(ours, [lamp], { after: undefined, newest: undefined });
    const content = `${hex} talk${hex} talk red lamp pier`;
    await store.append(theirs, [{ ...lamp, content }], { after: undefined, newest: undefined });

    const found = await store.load(ours, { ...nothing, words: [...words, hex, 'talk'] });

    expect(found?.messages.map((row) => row.content)).toEqual([lamp.content]);
  });

  test('take words of any length and form', async () => {
    const store = await open();
    const id = crypto.randomUUID();
    const content = `${'0123456789abcdef'.repeat(500)} ${'1'.repeat(9000)} "' OR () * ^ - : ; NEAR AND`;
    await store.append(id, [{ ...lamp, content }], { after: undefined, newest: undefined });

    const found = await store.load(id, { ...nothing, words: wordsOf({ content }) });

    expect(found?.messages).toHaveLength(1);
  });
});

test('a store in SQLite goes on after the app deleted the rows of a conversation', async () => {
  const store = sqliteStore(sqlite);
  const message = { id: 'a', role: 'user', content: 'A lamp.', createdAt: '2026-05-03T09:00:00.000Z' };
  await store.append('deleted', [message], { after: undefined, newest: undefined });
  sqlite.prepare("DELETE FROM messages WHERE conversation = 'deleted'").run();

  await store.append('another', [message], { after: undefined, newest: undefined });

  expect((await store.load('another'))?.messages).toHaveLength(1);
  const left = 'SELECT count(*) AS rows FROM words WHERE rowid NOT IN (SELECT key FROM messages)';
  expect(sqlite.prepare(left).get()).toMatchObject({ rows: 0 });
});

test('a store in PostgreSQL goes on after the app deleted a message in the middle', async () => {
  await postgres.exec(TABLES);
  const store = postgresStore(postgres);
  const messages = ['a', 'b', 'c'].map((id) => ({ id, role: 'user', content: id, createdAt: '2026-05-03' }));
  await store.append('gap', messages, { after: undefined, newest: undefined });
  await postgres.query("DELETE FROM messages WHERE conversation = 'gap' AND id = 'b'");

  await store.append('gap', [{ ...messages[0], id: 'd' } as never], { after: 'c', newest: 'c' });

  expect((await store.load('gap'))?.messages.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
});
