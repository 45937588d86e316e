import { createConversation, type StoredMessage } from 'context-gateway/conversation';
import { testStore } from 'context-gateway/conversation/testing';
import { postgresStore } from 'context-gateway/stores';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chatWorld } from '../conversation/world.js';
import { POSTGRES, type PostgresServer, startPostgres } from './postgres-server.js';

test('a missing postgres is reported', () => {
  if (POSTGRES === undefined)
    console.warn('SKIPPED: PostgreSQL is not installed here. Its store is tested with PGlite.');
  expect(process.env.REQUIRE_POSTGRES ? POSTGRES : 'not required').toBeDefined();
});

describe.skipIf(POSTGRES === undefined)('a store in a server of PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(POSTGRES ?? '');
    await Promise.all([1, 2, 3].map(() => postgresStore(server.pool).migrate())); // as servers that start at once
  });
  afterAll(() => server?.stop());

  test('keeps every rule', async () => {
    await testStore(postgresStore(server.pool));
  });

  test('finds a message among 20,000 by an index, and reads few of them', async () => {
    const store = postgresStore(server.pool);
    const messages = Array.from(
      { length: 20_000 },
      (_, i): StoredMessage => ({
        ...{ id: `m${i}`, role: 'user', createdAt: new Date(Date.UTC(2026, 0, 1) + i * 6e4).toISOString() },
        content: i === 77 ? 'The pier gets a red lamp.' : `Remark ${i} is about the weather.`,
      }),
    );
    await store.append('long', messages, { edits: 0 });
    await server.pool.query('VACUUM ANALYZE chat_messages'); // as the server does from time to time
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
      "EXPLAIN SELECT position FROM chat_messages WHERE conversation = 'long' AND words && ARRAY['lamp']",
    );
    expect(JSON.stringify(plan)).toContain('chat_messages_by_word');
  });

  test.each(['SIGQUIT', 'SIGKILL'] as const)(
    'a server that restarts by %s is an error of the turn, and of no process',
    async (signal) => {
      const { port } = server;
      const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'app', database: 'postgres' }); // nobody listens for its errors
      const store = postgresStore(pool);
      const talk = () =>
        createConversation({ gateway: chatWorld().gateway, model: 'atlas-small', conversationId: signal, store });
      await Promise.all([1, 2, 3].map(() => pool.query('SELECT pg_sleep(0.05)'))); // so many idle clients
      const message = { id: 'a', role: 'user', content: 'A lamp.', createdAt: '2026-05-03T09:00:00.000Z' };
      const holder = await server.pool.connect();
      holder.on('error', () => {});
      await store.append(signal, [message], { edits: 0 });
      await holder.query('BEGIN');
      await holder.query('SELECT * FROM chat_conversations WHERE id = $1 FOR UPDATE', [signal]);
      const waiting = store.append(signal, [{ ...message, id: 'b' }], { edits: 0 });
      waiting.catch(() => {});

      await server.restart(signal);
      holder.release(true);

      await expect(waiting).rejects.toThrow();
      await talk().send('And another?');
      const { messages = [] } = (await store.load(signal)) ?? {};
      expect(messages.map(({ content }) => content).slice(0, 2)).toEqual(['A lamp.', 'And another?']);
      await pool.end();
    },
  );
});
