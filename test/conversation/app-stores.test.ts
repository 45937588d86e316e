import { PGlite } from '@electric-sql/pglite';
import { type ConversationStore, createConversation, memoryStore, testStore } from 'context-gateway/conversation';
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

test('a store in PostgreSQL goes on after the app deleted a message in the middle', async () => {
  await postgres.exec(TABLES);
  const store = postgresStore(postgres);
  const messages = ['a', 'b', 'c'].map((id) => ({ id, role: 'user', content: id, createdAt: '2026-05-03' }));
  await store.append('gap', messages, { after: undefined, newest: undefined });
  await postgres.query("DELETE FROM messages WHERE conversation = 'gap' AND id = 'b'");

  await store.append('gap', [{ ...messages[0], id: 'd' } as never], { after: 'c', newest: 'c' });

  expect((await store.load('gap'))?.messages.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
});
