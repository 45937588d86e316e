import { createConversation, type StoredMessage } from 'context-gateway/conversation';
import { testStore } from 'context-gateway/conversation/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, postgresStore, TABLES } from '../../examples/apps/support-chat/postgres-store.js';
import { POSTGRES, type PostgresServer, startPostgres } from '../stores/postgres-server.js';
import { chatWorld } from './world.js';

test('a missing postgres is reported', () => {
  if (POSTGRES === undefined)
    console.warn('SKIPPED: PostgreSQL is not installed here. Its store is tested with PGlite.');
  expect(process.env.REQUIRE_POSTGRES ? POSTGRES : 'not required').toBeDefined();
});

/** A pool as the store wants it: a transaction has one of its connections. */
function databaseOf(pool: pg.Pool): Database {
  return {
    query: (sql, values) => pool.query(sql, values),
    transaction: async (work) => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const result = await work({ query: (sql, values) => client.query(sql, values) });
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
  };
}

describe.skipIf(POSTGRES === undefined)('a store in a server of PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(POSTGRES ?? '');
    await server.pool.query(TABLES);
  });
  afterAll(() => server?.stop());

  test('keeps every rule', async () => {
    await testStore(postgresStore(databaseOf(server.pool)));
  });

  test('finds a message among 20,000 by an index, and reads few of them', async () => {
    const store = postgresStore(databaseOf(server.pool));
    const messages = Array.from(
      { length: 20_000 },
      (_, i): StoredMessage => ({
        ...{ id: `m${i}`, role: 'user', createdAt: new Date(Date.UTC(2026, 0, 1) + i * 6e4).toISOString() },
        content: i === 77 ? 'The pier gets a red lamp.' : `Remark ${i} is about the weather.`,
      }),
    );
    await store.append('long', messages, { edits: 0 });
    await server.pool.query('VACUUM ANALYZE messages'); // as the server does from time to time
    let rows = 0;
    const load: typeof store.load = async (...wanted) => {
      const loaded = await store.load(...wanted);
      rows += loaded?.messages.length ?? 0;
      return loaded;
    };
    const world = chatWorld();
    const options = { gateway: world.gateway, model: 'atlas-small', conversationId: 'long', store: { ...store, load } };

    const { report } = await createConversation(options).send('Which lamp does the pier get?');

    expect(report.recalled[0]).toMatchObject({ position: 77, text: 'The pier gets a red lamp.' });
    expect(rows).toBeLessThan(4_000); // the newest twice: these are short
    const { rows: plan } = await server.pool.query(
      "EXPLAIN SELECT position FROM messages WHERE conversation = 'long' AND words && ARRAY['lamp']",
    );
    expect(JSON.stringify(plan)).toContain('messages_by_word');
  });
});
