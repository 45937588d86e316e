import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConversation, type StoredMessage } from 'context-gateway/conversation';
import { testStore } from 'context-gateway/conversation/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, postgresStore, TABLES } from '../../examples/apps/support-chat/postgres-store.js';
import { freePort } from '../../scripts/free-port.js';
import { chatWorld } from './world.js';

/** Debian's programs are in a folder for each version. */
const DEBIAN = '/usr/lib/postgresql';
const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort() : [];
const bin = versions.length > 0 ? join(DEBIAN, versions.at(-1) ?? '', 'bin') : undefined;

test('a missing postgres is reported', () => {
  if (bin === undefined) console.warn('SKIPPED: PostgreSQL is not installed here. Its store is tested with PGlite.');
  expect(process.env.REQUIRE_POSTGRES ? bin : 'not required').toBeDefined();
});

/** A server on a free local port, whose data is gone at the end. It does not run as root. */
async function startServer(programs: string): Promise<{ pool: pg.Pool; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  const user = process.getuid?.() === 0 ? { uid: statSync('/var/lib/postgresql').uid } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, -1);
  const data = join(folder, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'app', '--auth=trust', '-E', 'UTF8'], {
    ...user,
    cwd: folder,
  });
  const port = await freePort();
  const options = ['-D', data, '-p', String(port), '-k', folder, '-c', 'fsync=off'];
  const server = spawn(join(programs, 'postgres'), options, { ...user, cwd: folder, stdio: 'ignore' });
  process.once('exit', () => server.kill('SIGKILL'));
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'app', database: 'postgres' });
  for (let tries = 0; ; tries += 1) {
    const error = await pool.query('SELECT 1').then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) break;
    if (tries > 500 || server.exitCode !== null) throw error;
    await sleep(20);
  }
  return {
    pool,
    stop: async () => {
      await pool.end();
      server.kill('SIGTERM'); // waits for the connections, which `end` does not
      await once(server, 'exit');
      rmSync(folder, { recursive: true });
    },
  };
}

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

describe.skipIf(bin === undefined)('a store in a server of PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer(bin ?? '');
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
