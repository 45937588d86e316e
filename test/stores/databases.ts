import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresStore, sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';
import type { Entry, StoredTalks } from './ledger.js';
import { startPostgres } from './postgres-server.js';

/** A database of chat servers, which keeps a journal of what is added and removed, in the same transactions. */
export interface TestDatabase {
  readonly kind: 'SQLite' | 'PostgreSQL';
  /** With which a chat server opens it. */
  readonly address: string;
  /** Does what happens to databases. Resolves to what it was, when it is over. */
  disturb(random: () => number): Promise<string>;
  read(): Promise<StoredTalks>;
  close(): Promise<void>;
}

const COLUMNS = 'talk, id, position, message, added, edits, at';
const editsOf = (row: string): string => `(SELECT edits FROM chat_conversations WHERE id = ${row}.conversation)`;

/** A file, which another process locks at times. */
export async function openSqlite(folder: string): Promise<TestDatabase> {
  const address = join(folder, `${randomUUID()}.db`);
  const db = new Database(address);
  db.pragma('journal_mode = WAL');
  await sqliteStore(db).migrate();
  const trigger = (event: string, row: string, added: number): string => `
    CREATE TRIGGER journal_${event} AFTER ${event} ON chat_messages BEGIN
      INSERT INTO journal (${COLUMNS}) VALUES (${row}.conversation, ${row}.id, ${row}.position, ${row}.message, ${added},
        ${editsOf(row)}, CAST(unixepoch('subsec') * 1000 AS INTEGER));
    END;`;
  db.exec(`CREATE TABLE journal (seq INTEGER PRIMARY KEY, ${COLUMNS});
    ${trigger('INSERT', 'new', 1)} ${trigger('DELETE', 'old', 0)}`);
  const tryTo = (sql: string): boolean => {
    try {
      db.exec(sql);
      return true;
    } catch {
      return false; // another process has the lock
    }
  };
  return {
    kind: 'SQLite',
    address,
    disturb: async (random) => {
      while (!tryTo('BEGIN IMMEDIATE')) await sleep(1);
      await sleep(200 + random() ** 3 * 1_800);
      db.exec('COMMIT');
      return 'file locked';
    },
    read: async () => storedTalks((sql) => Promise.resolve(db.prepare(sql).all() as Row[])),
    close: async () => void db.close(),
  };
}

/** A server, which is restarted at times, and whose connections are cut. */
export async function openPostgres(programs: string): Promise<TestDatabase> {
  const { port, pool, restart, cut, stop } = await startPostgres(programs);
  await postgresStore(pool).migrate();
  const note = (row: string, added: boolean): string => `
    INSERT INTO journal (${COLUMNS}) VALUES (${row}.conversation, ${row}.id, ${row}.position, ${row}.message, ${added},
      ${editsOf(row)}, floor(extract(epoch FROM clock_timestamp()) * 1000));`;
  await pool.query(`
    CREATE TABLE journal (seq bigserial PRIMARY KEY, talk text, id text, position integer, message json, added boolean,
      edits integer, at double precision);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_OP = 'INSERT' THEN ${note('NEW', true)} ELSE ${note('OLD', false)} END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER note AFTER INSERT OR DELETE ON chat_messages FOR EACH ROW EXECUTE FUNCTION note()`);
  return {
    kind: 'PostgreSQL',
    address: String(port),
    disturb: async (random) => {
      const chance = random();
      if (chance < 0.7) await cut();
      else await restart(chance < 0.85 ? 'SIGQUIT' : 'SIGKILL');
      return chance < 0.7 ? 'connections cut' : 'database restarted';
    },
    read: () => storedTalks(async (sql) => (await pool.query(sql)).rows),
    close: stop,
  };
}

type Row = Record<string, unknown>;

async function storedTalks(query: (sql: string) => Promise<Row[]>): Promise<StoredTalks> {
  const entryOf = ({ message, talk, id, position, ...row }: Row): Entry => {
    const { role, content, replyTo, stopped } = typeof message === 'string' ? JSON.parse(message) : message;
    const facts = { talk: String(talk), id: String(id), position: Number(position), role, content, replyTo, stopped };
    return { ...facts, added: Boolean(row.added), edits: Number(row.edits), at: Number(row.at) };
  };
  return {
    journal: (await query('SELECT * FROM journal ORDER BY seq')).map(entryOf),
    rows: (
      await query(
        'SELECT conversation AS talk, id, position, message FROM chat_messages ORDER BY conversation, position',
      )
    ).map(entryOf),
    counts: new Map(
      (await query('SELECT id, count FROM chat_conversations')).map(({ id, count }) => [String(id), Number(count)]),
    ),
  };
}
