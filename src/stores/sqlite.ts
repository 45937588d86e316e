import { type Runtime, systemRuntime } from '../base/runtime.js';
import { ConfigurationError } from '../index.js';
import {
  type Dialect,
  type Engine,
  prefixOf,
  type Query,
  type Row,
  type SqlStore,
  type SqlStoreOptions,
  type Steps,
  Stores,
  storeIn,
  withoutTables,
} from './sql-store.js';

/** The used part of a prepared statement. */
export interface SqliteStatement {
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): unknown;
}

/** The used part of a database of `better-sqlite3`, `libsql`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

const STORES = new Stores();

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
      'sqliteStore takes an open database of better-sqlite3, libsql, node:sqlite or bun:sqlite: sqliteStore(new Database("chat.db")).',
    );
  const prefix = prefixOf(options, /^(?:[a-z_]\w*)?$/i, 'such as chat_; SQLite has no schemas');
  return STORES.of(database, prefix, () => storeIn(new Sqlite(database, systemRuntime), dialectOf(prefix)));
}

/** Milliseconds to wait for a lock: between tries, at most, and in all. */
const WAITS = { first: 4, most: 64, all: 5_000 };

/** Runs statements at once, and in turn with other processes. */
class Sqlite implements Engine {
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(
    private readonly database: SqliteDatabase,
    private readonly runtime: Runtime,
  ) {
    // Its own wait blocks the process.
    database.exec('PRAGMA busy_timeout = 0');
  }

  query(query: Query): Promise<readonly Row[]> {
    return this.#patiently(() => this.#ask(query));
  }

  transaction<T>(steps: () => Steps<T>): Promise<T> {
    return this.#within(() => {
      const work = steps();
      let step = work.next();
      while (!step.done) step = work.next(this.#ask(step.value));
      return step.value;
    });
  }

  async migrate(statements: readonly string[]): Promise<void> {
    await this.#within(() => {
      for (const statement of statements) this.database.exec(statement);
    });
  }

  /** Does all of the work, or nothing. */
  #within<T>(work: () => T): Promise<T> {
    return this.#patiently(() => {
      this.#begin();
      try {
        const result = work();
        this.database.exec('COMMIT');
        return result;
      } catch (error) {
        this.#rollBack();
        throw error;
      }
    });
  }

  /** Locks before it reads. */
  #begin(): void {
    try {
      this.database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (!/within a transaction/.test(String(error))) throw error;
      throw new ConfigurationError(
        'A transaction is open on the connection of sqliteStore. Open a connection for the store alone.',
        { cause: error },
      );
    }
  }

  #rollBack(): void {
    try {
      this.database.exec('ROLLBACK');
    } catch {
      // After some errors, such as a full disk, SQLite has done so.
    }
  }

  #ask([sql, ...values]: Query): readonly Row[] {
    const statement = this.#statements.get(sql) ?? this.database.prepare(sql);
    this.#statements.set(sql, statement);
    if (/^\s*(?:SELECT|WITH)|RETURNING/.test(sql)) return statement.all(...values) as Row[]; // of the columns that are named
    statement.run(...values);
    return [];
  }

  /** Tries again while another process holds the lock. */
  async #patiently<T>(work: () => T): Promise<T> {
    const until = this.runtime.now() + WAITS.all;
    for (let wait = WAITS.first; ; wait = Math.min(2 * wait, WAITS.most)) {
      try {
        return work();
      } catch (error) {
        if (!isLocked(error) || this.runtime.now() >= until) withoutTables(error, /no such table/.test(String(error)));
      }
      const ms = wait * (0.5 + this.runtime.random());
      await new Promise<void>((resolve) => this.runtime.setTimer(resolve, ms));
    }
  }
}

/** `SQLITE_BUSY`, which each driver says in its own way. */
function isLocked(error: unknown): boolean {
  const { code, message } = Object(error);
  return /^SQLITE_BUSY/.test(String(code)) || /database is locked/.test(String(message));
}

function dialectOf(prefix: string): Dialect {
  const [conversations, messages, words] = ['conversations', 'messages', 'words'].map((name) => prefix + name);
  const now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
  const facts = `SELECT -1 AS position, edits, count, revision, state AS json, 0 AS excluded FROM ${conversations} WHERE id = ?`;
  const row = 'position, NULL, NULL, NULL, message, excluded';
  const all = `${facts} UNION ALL SELECT ${row} FROM ${messages} WHERE conversation = ? ORDER BY position`;
  // Of those with its words, the best 500.
  const part = `
    WITH wanted AS (
      SELECT key FROM ${messages} WHERE conversation = ? AND position >= (SELECT count FROM ${conversations} WHERE id = ?) - ?
      UNION SELECT key FROM ${messages} WHERE conversation = ? AND id IN (SELECT value FROM json_each(?))
      UNION SELECT key FROM ${messages} WHERE conversation = ? AND position IN (SELECT value FROM json_each(?))
      UNION SELECT * FROM (SELECT rowid FROM ${words} WHERE ${words} MATCH ? ORDER BY bm25(${words}, 0) LIMIT 500)
    )
    ${facts} UNION ALL SELECT ${row} FROM ${messages} JOIN wanted USING (key) WHERE conversation = ? ORDER BY position
  `;
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
    lock: (conversation) => [
      `INSERT INTO ${conversations} (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET count = count RETURNING edits, count, revision`,
      conversation,
    ],
    load: (conversation, wanted) => {
      if (wanted === undefined) return [all, conversation, conversation];
      const [ids, positions] = [wanted.ids, wanted.positions].map((list) => JSON.stringify(list));
      const list = wanted.words.map((word) => `"${word}"`).join(' OR ');
      const match = list === '' ? '""' : `talk: "${wordOf(conversation)}" AND list: (${list})`;
      const c = conversation;
      return [part, c, c, wanted.newest, c, ids ?? '', c, positions ?? '', match, c, c];
    },
    idAt: (...place) => [`SELECT id FROM ${messages} WHERE conversation = ? AND position = ?`, ...place],
    positionOf: (...place) => [`SELECT position FROM ${messages} WHERE conversation = ? AND id = ?`, ...place],
    stored: (conversation, ids) => [
      `SELECT id FROM ${messages} WHERE conversation = ? AND id IN (SELECT value FROM json_each(?))`,
      conversation,
      JSON.stringify(ids),
    ],
    removeFrom: (...place) => [
      `DELETE FROM ${messages} WHERE conversation = ? AND position >= ? RETURNING id, excluded`,
      ...place,
    ],
    insert: (conversation, rows) => {
      const list = rows.map((one) => [one.position, one.id, one.message, Number(one.excluded), one.words]);
      const [at, id, message, excluded, text] =
        list[0]?.map((_, column) => `json_extract(value, '$[${column}]')`) ?? [];
      const json = JSON.stringify(list);
      return [
        [
          `INSERT INTO ${messages} (conversation, position, id, message, excluded)
           SELECT ?, ${at}, ${id}, ${message}, ${excluded} FROM json_each(?)`,
          conversation,
          json,
        ],
        [
          // CROSS: each message is looked up. Otherwise all of the conversation is read for each.
          `INSERT INTO ${words} (rowid, talk, list)
           SELECT ${messages}.key, ?, ${text} FROM json_each(?) CROSS JOIN ${messages} ON conversation = ? AND position = ${at}`,
          wordOf(conversation),
          json,
          conversation,
        ],
      ];
    },
    update: (conversation, count, edits) => [
      `UPDATE ${conversations} SET count = ?, edits = ?, updated_at = ${now} WHERE id = ?`,
      count,
      edits,
      conversation,
    ],
    saveState: (conversation, state) => [
      `UPDATE ${conversations} SET state = ?, revision = revision + 1 WHERE id = ?`,
      state,
      conversation,
    ],
    setExcluded: (conversation, id, excluded) => [
      `UPDATE ${messages} SET excluded = ? WHERE conversation = ? AND id = ?`,
      Number(excluded),
      conversation,
      id,
    ],
    clear: (conversation) => [
      `UPDATE ${conversations} SET edits = edits + 1, count = 0, state = NULL, revision = revision + 1, updated_at = ${now} WHERE id = ?`,
      conversation,
    ],
  };
}

/** A conversation as one word of the full-text table, whatever its id. */
function wordOf(conversation: string): string {
  return Array.from(new TextEncoder().encode(conversation), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
