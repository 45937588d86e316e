import { PGlite } from '@electric-sql/pglite';
import {
  ConversationConflictError,
  type ConversationState,
  createConversation,
  type StoredMessage,
  wordsOf,
} from 'context-gateway/conversation';
import { testStore } from 'context-gateway/conversation/testing';
import { postgresStore, type SqlStore, sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import { chatWorld } from '../conversation/world.js';

const sqlite = new Database(':memory:');
const postgres = new PGlite();
afterAll(async () => {
  sqlite.close();
  await postgres.close();
});
/** Node has it since version 22.5; its types are those of version 20. */
const ofNode = await import('node:sqlite' as string).then(
  ({ DatabaseSync }) => new DatabaseSync(':memory:') as Parameters<typeof sqliteStore>[0],
  () => undefined,
);

const made: [string, () => SqlStore][] = [
  ['SQLite', () => sqliteStore(sqlite)],
  ['PostgreSQL', () => postgresStore(postgres)],
];
if (ofNode !== undefined) made.push(["Node's own SQLite", () => sqliteStore(ofNode)]);
const stores: [string, () => Promise<SqlStore>][] = made.map(([name, make]) => [
  name,
  async () => {
    await make().migrate();
    return make();
  },
]);

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

describe.each(stores)('the words of a store in %s', (_, open) => {
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

  test('adds more messages than one statement, of which some are stored', async () => {
    const store = await open();
    const id = crypto.randomUUID();
    const all = Array.from({ length: 1_203 }, (_, at) => message(`Text ${at}`));

    expect(await store.append(id, all.slice(0, 10), { edits: 0 })).toBe(10);
    expect(await store.append(id, [...all, message('Text 7')], { edits: 0 })).toBe(1_193);

    const { messages = [], count } = (await store.load(id)) ?? {};
    expect(messages.map(({ content }) => content)).toEqual(all.map(({ content }) => content));
    expect([count, messages.map(({ position }) => position)]).toEqual([1_203, all.map((_, at) => at)]);
  });

  test('deletes a conversation: it is empty, no search finds it, and a turn that saw it is a conflict', async () => {
    const store = await open();
    const id = crypto.randomUUID();
    await store.append(id, [message('A lamp.')], { edits: 0 });
    await store.append(`other ${id}`, [message('A lamp.')], { edits: 0 });
    await store.saveState(id, { format: 1 } as ConversationState, 0);

    await store.deleteConversation(id);
    await store.deleteConversation('unknown');

    expect(await store.load(id)).toEqual({ messages: [], count: 0, edits: 1, state: null, revision: 2 });
    expect(await store.load('unknown')).toBeNull();
    const wanted = { newest: 9, ids: ['A lamp.'], positions: [0], words: wordsOf({ content: 'A lamp.' }) };
    expect((await store.load(id, wanted))?.messages).toEqual([]);
    expect((await store.load(`other ${id}`, wanted))?.messages).toHaveLength(1);
    await expect(store.append(id, [message('Another.')], { edits: 0 })).rejects.toThrow(ConversationConflictError);
    expect(await store.append(id, [message('Another.')], { edits: 1, newest: null })).toBe(1);
  });

  test('keeps texts and fields that a database may change', async () => {
    const store = await open();
    const id = crypto.randomUUID();
    const odd = { ...message('a\0b \ud800 e\u0301 \r\n '), id: 'odd', extra: { b: 1.0, a: ['\u2028', null] } };

    await store.append(id, [odd], { edits: 0 });

    expect((await store.load(id))?.messages).toMatchObject([odd]);
  });
});

test.each<[string, { tablePrefix?: string }, (options: object) => SqlStore, (sql: string) => Promise<unknown>]>([
  ['SQLite', {}, (options) => sqliteStore(sqlite, options), async (sql) => sqlite.exec(sql)],
  ['SQLite', { tablePrefix: '' }, (options) => sqliteStore(sqlite, options), async (sql) => sqlite.exec(sql)],
  [
    'PostgreSQL',
    { tablePrefix: 'app.talk_' },
    (options) => postgresStore(postgres, options),
    (sql) => postgres.exec(sql),
  ],
])(
  'tables in %s with %j are made by the SQL of a migration, and have columns of the app',
  async (_, options, make, run) => {
    const store = make(options);
    const table = `${options.tablePrefix ?? 'chat_'}conversations`;
    if (options.tablePrefix?.includes('.')) await run('CREATE SCHEMA app');

    await run(store.migration);
    await run(store.migration);
    await run(`ALTER TABLE ${table} ADD COLUMN owner text`);
    await testStore(store);

    expect(store.migration).toContain(`${table} (`);
    await run(`UPDATE ${table} SET owner = 'ada' WHERE updated_at > '2026-01-01'`);
  },
);

test.each<[string, () => SqlStore]>([
  ['SQLite', () => sqliteStore(new Database(':memory:'))],
  ['PostgreSQL', () => postgresStore(postgres, { tablePrefix: 'missing_' })],
])('missing tables in %s say what to call', async (_, make) => {
  const missing = { name: 'ConfigurationError', message: expect.stringContaining('await store.migrate()') };

  await expect(make().load('talk')).rejects.toMatchObject(missing);
  await expect(make().append('talk', [], { edits: 0 })).rejects.toMatchObject(missing);
});

test('the same database gives the same store', () => {
  expect(sqliteStore(sqlite)).toBe(sqliteStore(sqlite, { tablePrefix: 'chat_' }));
  expect(sqliteStore(sqlite)).not.toBe(sqliteStore(sqlite, { tablePrefix: 'talk_' }));
  expect(postgresStore(postgres)).toBe(postgresStore(postgres));
});

test.each([
  [() => sqliteStore('chat.db' as never), 'sqliteStore takes an open database'],
  [() => sqliteStore(undefined as never), 'sqliteStore takes an open database'],
  [() => postgresStore('postgres://db' as never), 'postgresStore takes a Pool'],
  [() => postgresStore({ query: () => {} } as never), 'postgresStore takes a Pool'],
  [() => postgresStore({ query: () => {}, connect: () => {}, processID: null } as never), 'not a Client'],
  [() => postgresStore({ query: () => {}, connect: () => {}, release: () => {} } as never), 'not a Client'],
  [() => sqliteStore(sqlite, { tablePrefix: 'chat; DROP TABLE x' }), 'tablePrefix must be'],
  [() => sqliteStore(sqlite, { tablePrefix: 'app.chat_' }), 'SQLite has no schemas'],
  [() => postgresStore(postgres, { tablePrefix: 'a.b.c' }), 'tablePrefix must be'],
  [() => postgresStore(postgres, { tablePrefix: 7 as never }), 'tablePrefix must be'],
  [() => sqliteStore({ exec: () => {}, Prepare: () => {} } as never), 'Prepare is unknown; did you mean prepare?'],
  [() => postgresStore({ query: () => {}, Connect: () => {} } as never), 'Connect is unknown; did you mean connect?'],
  [() => sqliteStore(sqlite, { table_prefix: 'a' } as never), 'table_prefix is unknown; did you mean tablePrefix?'],
  [() => postgresStore(postgres, { prefix: 'a' } as never), 'prefix is unknown; expected one of tablePrefix.'],
])('bad arguments %# are a clear error', (make, message) => {
  expect(make).toThrow(
    expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(message) }),
  );
});

test('no statement reads all messages of a SQLite database', async () => {
  const database = new Database(':memory:');
  const statements = new Set<string>();
  const prepare = (sql: string) => {
    statements.add(sql);
    return database.prepare(sql);
  };
  const store = sqliteStore({ exec: (sql) => database.exec(sql), prepare });
  await store.migrate();
  const message = { id: 'a', role: 'user', content: 'A lamp.', createdAt: '2026-05-03T09:00:00.000Z' };
  await store.append('talk', [message], { edits: 0, newest: null });
  await store.append('talk', [message], { edits: 0, newest: 'a', after: null });
  await store.load('talk', { newest: 1, words: ['lamp'], ids: ['a'], positions: [0] });
  await store.load('talk');
  await store.setExcluded('talk', 'a', 1);

  const planOf = (sql: string): string => {
    const values = Array(sql.split('?').length - 1).fill('[]');
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
    return rows.map(({ detail }) => detail).join('\n');
  };
  expect(statements.size).toBeGreaterThan(9);
  for (const sql of statements) expect(planOf(sql)).not.toMatch(/SCAN (?:chat_)?(?:messages|conversations)/);
  const ofWords = [...statements].find((sql) => sql.includes('INTO chat_words')) ?? '';
  expect(planOf(ofWords)).toMatch(/json_each.*\(conversation=\? AND position=\?\)/s);
});
