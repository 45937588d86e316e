import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { StoredMessage } from 'context-gateway/conversation';
import { testStore } from 'context-gateway/conversation/testing';
import { postgresStore, sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'vitest';

const message: StoredMessage = { id: 'm', role: 'user', content: 'A lamp.', createdAt: '2026-05-03T09:00:00.000Z' };

/** A file of SQLite, two connections of which one is the store's, and what happens while the other has a transaction open. */
async function locked(
  work: (store: ReturnType<typeof sqliteStore>, unlock: () => void) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  const [ours, theirs] = [0, 1].map(() => new Database(join(folder, 'chat.db')));
  const store = sqliteStore(ours as Database.Database);
  await store.migrate();
  theirs?.exec('BEGIN IMMEDIATE');
  try {
    await work(store, () => theirs?.exec('COMMIT'));
  } finally {
    for (const database of [ours, theirs]) database?.close();
    rmSync(folder, { recursive: true });
  }
}

test('a lock of another process is waited for, and blocks nothing', async () => {
  await locked(async (store, unlock) => {
    let turns = 0;
    const clock = setInterval(() => {
      turns += 1;
      if (turns === 20) unlock();
    }, 1);

    const added = await store.append('talk', [message], { edits: 0 });

    clearInterval(clock);
    expect([added, turns >= 20]).toEqual([1, true]);
  });
});

test('a transaction of the app on the connection is an error that says so, and stays open', async () => {
  const database = new Database(':memory:');
  const store = sqliteStore(database);
  await store.migrate();
  database.exec('BEGIN');

  await expect(store.append('talk', [message], { edits: 0 })).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining('Open a connection for the store alone'),
  });

  expect(database.inTransaction).toBe(true);
});

test('an error in the middle of an append leaves nothing of it', async () => {
  const database = new Database(':memory:');
  const store = sqliteStore(database);
  await store.migrate();
  database.exec(
    "CREATE TRIGGER full BEFORE UPDATE ON chat_conversations WHEN new.count > 1 BEGIN SELECT RAISE(ABORT, 'disk'); END",
  );

  await expect(store.append('talk', [message, { ...message, id: 'n' }], { edits: 0 })).rejects.toThrow('disk');

  expect(await store.append('talk', [message], { edits: 0 })).toBe(1);
  expect((await store.load('talk'))?.messages).toHaveLength(1);
});

/** A pool of one connection, which may break. */
class Pool extends EventEmitter {
  readonly released: (boolean | undefined)[] = [];
  failing = '';
  #before: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: PGlite) {
    super();
  }

  async query(sql: string, values: unknown[]) {
    return this.database.query(sql, values);
  }

  async connect() {
    const before = this.#before;
    let end = () => {};
    this.#before = new Promise<void>((resolve) => {
      end = resolve;
    });
    await before;
    const client = new EventEmitter();
    return Object.assign(client, {
      query: async (sql: string, values: unknown[]) => {
        if (this.failing === '' || !sql.startsWith(this.failing)) return this.database.query(sql, values);
        await this.database.query('ROLLBACK'); // which a server does when it loses a connection
        this.failing = 'ROLLBACK';
        client.emit('error', new Error('Connection terminated unexpectedly'));
        throw new Error('Connection terminated unexpectedly');
      },
      release: (error?: boolean) => {
        this.released.push(error);
        end();
      },
    });
  }
}

const postgres = new PGlite();
beforeAll(() => postgresStore(postgres).migrate());
afterAll(() => postgres.close());

test('a pool keeps every rule', async () => {
  await testStore(postgresStore(new Pool(postgres)));
});

test.each(['BEGIN', 'INSERT', 'COMMIT'])(
  'a connection that breaks at %s is an error, and is not used again',
  async (failing) => {
    const pool = new Pool(postgres);
    const store = postgresStore(pool);
    const id = `broken at ${failing}`;
    pool.failing = failing;

    await expect(store.append(id, [message], { edits: 0 })).rejects.toThrow('Connection terminated');

    expect(pool.released).toEqual([true]);
    pool.failing = '';
    expect(await store.append(id, [message], { edits: 0 })).toBe(1);
    expect(pool.released).toEqual([true, false]);
  },
);

test('an idle client that breaks ends no process', () => {
  const pool = new Pool(postgres);
  for (let times = 0; times < 3; times += 1) postgresStore(pool);

  expect(pool.emit('error', new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(pool.listenerCount('error')).toBe(1);
});

test('a client in place of a pool is an error that says so', async () => {
  const client = { query: async () => ({ rows: [] }), connect: async () => undefined };

  await expect(postgresStore(client as never).migrate()).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining('a Pool of pg, not a Client'),
  });
});
