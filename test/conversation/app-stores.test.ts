import { PGlite } from '@electric-sql/pglite';
import {
  ConversationConflictError,
  type ConversationStore,
  createConversation,
  memoryStore,
} from 'context-gateway/conversation';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresStore, TABLES } from '../../examples/apps/support-chat/postgres-store.js';
import { sqliteStore } from '../../examples/apps/support-chat/sqlite-store.js';
import { AT_LENGTH } from '../helpers/endurance.js';
import { failureOf } from '../helpers/service.js';
import { chatWorld } from './world.js';

const sqlite = new Database(':memory:');
/** Takes seconds to start, so `npm test` leaves it out. */
const postgres = AT_LENGTH ? new PGlite() : undefined;
afterAll(async () => {
  sqlite.close();
  await postgres?.close();
});

const stores: [string, () => Promise<Required<ConversationStore>>][] = [
  ['memory', async () => memoryStore()],
  ['SQLite', async () => sqliteStore(sqlite)],
];
if (postgres !== undefined) {
  stores.push([
    'PostgreSQL',
    async () => {
      await postgres.exec(TABLES);
      return postgresStore(postgres);
    },
  ]);
}

describe.each(stores)('a store in %s', (name, open) => {
  const id = `it's ${name}`;
  const message = (id: string, content = `The "${id}" 💡`) => ({ id, role: 'user', content, createdAt: '2026-05-03' });

  test('returns what was stored, in order, and cuts it', async () => {
    const store = await open();
    expect((await store.load(id))?.messages ?? []).toEqual([]);

    await store.append(id, [message('a'), message('b')], 0);
    await store.append(id, [message('c'), message('d')], 2);
    await store.append('another', [message('b')], 0);
    await store.truncate(id, 'c');
    await store.append(id, [message('e')], 2);
    await store.truncate(id, 'unknown');

    expect((await store.load(id))?.messages).toEqual([message('a'), message('b'), message('e')]);
    expect((await store.load('another'))?.messages).toEqual([message('b')]);
  });

  test('rejects a turn after one of another process, and stores nothing of it', async () => {
    const store = await open();
    const before = (await store.load(id))?.messages ?? [];

    const error = await failureOf((async () => store.append(id, [message('x'), message('y')], before.length - 1))());

    expect(error).toBeInstanceOf(ConversationConflictError);
    expect((await store.load(id))?.messages).toEqual(before);
  });

  test('keeps a conversation: turns, an edit, another reply, and its state, for an object per request', async () => {
    const world = chatWorld();
    const store = await open();
    const options = { gateway: world.gateway, model: 'atlas-small', conversationId: `talk in ${name}`, store };
    const talk = () => createConversation(options);
    world.emulator.chat.on('harbour', 'At six.');
    world.emulator.chat.on('ferry', 'At nine.');

    const { messages } = await talk().send('When does the harbour open?');
    await talk().send('Thanks!');
    await talk().edit(String(messages[0]?.id), 'When does the ferry leave?').final();
    world.emulator.chat.on('ferry', 'At ten.');
    await talk().regenerate().final();

    const loaded = await store.load(`talk in ${name}`);
    expect(loaded?.messages.map(({ content }) => content)).toEqual(['When does the ferry leave?', 'At ten.']);
    expect(loaded?.state).toMatchObject({ format: 1, revision: 4 });
  });
});
