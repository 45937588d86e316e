import { systemRuntime } from '../base/runtime.js';
import { ConfigurationError } from '../index.js';
import { misspelled } from '../validation/options.js';
import type { Dialect, Engine, Query, Row, SqlStore, SqlStoreOptions, Value } from './sql-store.js';
import { missingTables, prefixCheck, storeIn } from './sql-store.js';

/** The used part of a prepared statement. */
type SqliteStatement = {
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): unknown;
};

/** The used part of a database of `better-sqlite3`, `libsql`, `node:sqlite` or `bun:sqlite`. */
type SqliteDatabase = {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
};

const prefixOf = /* @__PURE__ */ prefixCheck(/^(?:[a-z_]\w*)?$/i, 'such as chat_; SQLite has no schemas');

/**
 * Stores conversations in SQLite. A turn reads only the messages that it needs, which a full-text table (FTS5) finds, however long the
 * conversation is. Call `await store.migrate()` once, when the server starts.
 *
 * Give it a connection that nothing else uses: if your own transaction is open on it, calls throw a `ConfigurationError`. While another
 * process holds the lock, the store waits up to five seconds without blocking the server. With `PRAGMA journal_mode = WAL`, reads do not
 * wait for writes.
 *
 * @throws {ConfigurationError} when `database` is no database, or `tablePrefix` no name
 *
 * @example
 * ```ts
 * import Database from 'libsql'; // or better-sqlite3
 * import { sqliteStore } from 'context-gateway/stores';
 * const store = sqliteStore(new Database('chat.db'));
 * await store.migrate();
 * ```
 */
export function sqliteStore(database: SqliteDatabase, options: SqlStoreOptions = {}): SqlStore {
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function')
    throw new ConfigurationError(
      `sqliteStore takes an open database of better-sqlite3, libsql, node:sqlite or bun:sqlite: sqliteStore(new Database("chat.db")).${misspelled(database, ['prepare', 'exec'])}`,
    );
  const prefix = prefixOf(options);
  return storeIn(database, prefix, () => engineOf(database), dialectOf(prefix));
}

/** Milliseconds to wait for a lock: between tries, at most, and in all. */
const WAITS = { first: 4, most: 64, all: 5_000 };

/** Runs statements at once, and in turn with other processes. */
function engineOf(database: SqliteDatabase): Engine {
  const statements = new Map<string, SqliteStatement>();
  const ask = ([sql, ...values]: Query): readonly Row[] => {
    const statement = statements.get(sql) ?? database.prepare(sql.replace(/\$\d/g, '?'));
    statements.set(sql, statement);
    const given = Array.from(sql.matchAll(/\$(\d)/g), ([, place]) => asColumn(values[Number(place) - 1]));
    if (/^\s*(?:SELECT|WITH)|RETURNING/.test(sql)) return statement.all(...given) as Row[]; // of the columns that are named
    statement.run(...given);
    return [];
  };
  database.exec('PRAGMA busy_timeout = 0'); // its own wait blocks the process
  return {
    query: (query) => patiently(() => ask(query)),
    transaction: (steps) =>
      patiently(() => {
        database.exec('BEGIN IMMEDIATE'); // locks before it reads
        try {
          const work = steps();
          let step = work.next();
          while (!step.done) step = work.next(ask(step.value));
          database.exec('COMMIT');
          return step.value;
        } catch (error) {
          try {
            database.exec('ROLLBACK');
          } catch {
            // After some errors, such as a full disk, SQLite has done so.
          }
          throw error;
        }
      }),
  };
}

/** Tries again while another process holds the lock. */
async function patiently<T>(work: () => T): Promise<T> {
  const { now, random, setTimer } = systemRuntime;
  const until = now() + WAITS.all;
  for (let wait = WAITS.first; ; wait = Math.min(2 * wait, WAITS.most)) {
    try {
      return work();
    } catch (error) {
      if (!isLocked(error) || now() >= until) throw explained(error);
    }
    await new Promise<void>((resolve) => setTimer(resolve, wait * (0.5 + random())));
  }
}

/** `SQLITE_BUSY`, which each driver says in its own way. */
function isLocked(error: unknown): boolean {
  const { code, message } = Object(error);
  return /^SQLITE_BUSY/.test(String(code)) || /database is locked/.test(String(message));
}

/** Lists as JSON. */
function asColumn(value: Value | undefined): unknown {
  if (typeof value === 'boolean') return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

function explained(error: unknown): unknown {
  if (/no such table/.test(String(error))) return missingTables(error);
  if (!/within a transaction/.test(String(error))) return error;
  return new ConfigurationError(
    'A transaction is open on the connection of sqliteStore. Open a connection for the store alone.',
    { cause: error },
  );
}

function dialectOf(prefix: string): Dialect {
  const [conversations, messages, words] = ['conversations', 'messages', 'words'].map((name) => prefix + name);
  return {
    migration: [
      `CREATE TABLE IF NOT EXISTS ${conversations} (
  id TEXT PRIMARY KEY NOT NULL, edits INTEGER NOT NULL DEFAULT 0, count INTEGER NOT NULL DEFAULT 0,
  state TEXT, revision INTEGER NOT NULL DEFAULT 0, updated_at TEXT
)`,
      `CREATE TABLE IF NOT EXISTS ${messages} (
  key INTEGER PRIMARY KEY, conversation TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL,
  message TEXT NOT NULL, excluded INTEGER NOT NULL, UNIQUE (conversation, position), UNIQUE (conversation, id)
)`,
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${words} USING fts5 (talk, list, tokenize = 'ascii')`,
      `CREATE TRIGGER IF NOT EXISTS ${words}_forget AFTER DELETE ON ${messages}
  BEGIN DELETE FROM ${words} WHERE rowid = old.key; END`,
    ],
    now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
    isIn: (column, list) => `${column} IN (SELECT value FROM json_each(${list}))`,
    key: 'key',
    found: `SELECT rowid FROM ${words} WHERE ${words} MATCH $5 ORDER BY bm25(${words}, 0) LIMIT 500`,
    match: (conversation, given) => {
      const list = given.map((word) => `"${word}"`).join(' OR ');
      return list === '' ? '""' : `talk: "${wordOf(conversation)}" AND list: (${list})`;
    },
    insert: (conversation, rows) => {
      const [at, id, message, excluded, text] = [0, 1, 2, 3, 4].map((column) => `json_extract(value, '$[${column}]')`);
      const json = JSON.stringify(rows);
      return [
        [
          `INSERT INTO ${messages} (conversation, position, id, message, excluded)
           SELECT $1, ${at}, ${id}, ${message}, ${excluded} FROM json_each($2)`,
          conversation,
          json,
        ],
        [
          // CROSS: each message is looked up. Otherwise all of the conversation is read for each.
          `INSERT INTO ${words} (rowid, talk, list)
           SELECT ${messages}.key, $3, ${text} FROM json_each($2) CROSS JOIN ${messages} ON conversation = $1 AND position = ${at}`,
          conversation,
          json,
          wordOf(conversation),
        ],
      ];
    },
  };
}

/** A conversation as one word of the full-text table, whatever its id. */
function wordOf(conversation: string): string {
  return Array.from(new TextEncoder().encode(conversation), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
