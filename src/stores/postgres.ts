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

/** What answers queries. */
export interface PostgresQueries {
  query(sql: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The used part of a client of a pool. */
export interface PostgresClient extends PostgresQueries {
  release(error?: boolean): void;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
}

/** The used part of a `Pool` of `pg`, or of a driver that is used like it. */
export interface PostgresPool extends PostgresQueries {
  connect(): Promise<PostgresClient>;
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

/** The used part of a PGlite. */
export interface PostgresDatabase extends PostgresQueries {
  transaction(work: (queries: PostgresQueries) => Promise<unknown>): Promise<unknown>;
}

const STORES = new Stores();

/**
 * Stores conversations in PostgreSQL. A turn reads only the messages that it needs, which an index of words (GIN) finds, however long the
 * conversation is. Call `await store.migrate()` once, when the server starts.
 *
 * Each change is a transaction that locks the row of its conversation. A lost connection fails the turns that
 * use it, and never ends the process.
 *
 * @throws {ConfigurationError} when `database` is neither a pool nor a PGlite, or `tablePrefix` no name
 *
 * @example
 * ```ts
 * import pg from 'pg';
 * import { postgresStore } from 'context-gateway/stores';
 * const store = postgresStore(new pg.Pool());
 * await store.migrate();
 * ```
 */
export function postgresStore(database: PostgresPool | PostgresDatabase, options: SqlStoreOptions = {}): SqlStore {
  const prefix = prefixOf(
    options,
    /^(?:[a-z_]\w*\.)?(?:[a-z_]\w*)?$/i,
    'such as chat_, or app.chat_ in the schema app',
  );
  const isClient = ['processID', 'release'].some((name) => name in Object(database)); // of `pg`, connected or not
  const isKnown = typeof Object(database).query === 'function' && (isPool(database) || 'transaction' in database);
  if (isClient) throw new ConfigurationError(NO_CLIENT);
  if (!isKnown)
    throw new ConfigurationError(
      'postgresStore takes a Pool of pg, or a PGlite: postgresStore(new pg.Pool({ connectionString })).',
    );
  return STORES.of(database, prefix, () => storeIn(new Postgres(database), dialectOf(prefix)));
}

const NO_CLIENT = 'postgresStore takes a Pool of pg, not a Client: a transaction has a client of its own.';

function isPool(database: PostgresPool | PostgresDatabase): database is PostgresPool {
  return typeof (database as Partial<PostgresPool>).connect === 'function';
}

class Postgres implements Engine {
  constructor(private readonly database: PostgresPool | PostgresDatabase) {
    // Without a listener, a lost idle connection would end the process. The next query reports the problem.
    if (isPool(database)) database.on?.('error', ignore);
  }

  async query(query: Query): Promise<readonly Row[]> {
    return ask(this.database, query);
  }

  async transaction<T>(steps: () => Steps<T>): Promise<T> {
    let result: T | undefined;
    await this.#within(async (queries) => {
      const work = steps();
      let step = work.next();
      while (!step.done) step = work.next(await ask(queries, step.value));
      result = step.value;
    });
    return result as T; // the steps have ended
  }

  async migrate(statements: readonly string[]): Promise<void> {
    await this.#within(async (queries) => {
      // Of several servers that start, one after the other.
      await queries.query("SELECT pg_advisory_xact_lock(hashtext('context-gateway/stores'))", []);
      for (const statement of statements) await queries.query(statement, []);
    });
  }

  async #within(work: (queries: PostgresQueries) => Promise<void>): Promise<void> {
    const { database } = this;
    if (!isPool(database)) {
      await database.transaction(work);
      return;
    }
    const client = await database.connect();
    if (typeof client?.release !== 'function') throw new ConfigurationError(NO_CLIENT);
    let isBroken = false;
    client.on?.('error', ignore); // the running query fails as well
    try {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED', []);
      await work(client);
      await client.query('COMMIT', []);
    } catch (error) {
      await client.query('ROLLBACK', []).catch(() => {
        isBroken = true;
      });
      throw error;
    } finally {
      client.removeListener?.('error', ignore);
      client.release(isBroken);
    }
  }
}

function ignore(): void {}

async function ask(queries: PostgresQueries, [sql, ...values]: Query): Promise<readonly Row[]> {
  try {
    return (await queries.query(sql, values)).rows as Row[]; // of the columns that are named
  } catch (error) {
    return withoutTables(error, Object(error).code === UNDEFINED_TABLE);
  }
}

const UNDEFINED_TABLE = '42P01';

function dialectOf(prefix: string): Dialect {
  const [conversations, messages] = [`${prefix}conversations`, `${prefix}messages`];
  const all = (from: string): string => `
    SELECT -1 AS position, edits, count, revision, state::text AS json, false AS excluded FROM ${conversations} WHERE id = $1
    UNION ALL SELECT position, NULL, NULL, NULL, message::text, excluded FROM ${from} WHERE conversation = $1
    ORDER BY position
  `;
  // Of those with its words, the 500 that have the most and the rarest.
  const part = `
    WITH hits AS (
      SELECT position, 1.0 / count(*) OVER (PARTITION BY word) AS weight FROM ${messages}, unnest(words) AS word
      WHERE conversation = $1 AND words && $3::text[] AND word = ANY($3::text[])
    ), wanted AS (
      (SELECT position FROM hits GROUP BY position ORDER BY sum(weight) DESC, position DESC LIMIT 500)
      UNION SELECT position FROM ${messages} WHERE conversation = $1 AND id = ANY($4::text[])
      UNION SELECT position FROM ${messages}
        WHERE conversation = $1 AND position >= (SELECT count FROM ${conversations} WHERE id = $1) - $2::integer
      UNION SELECT unnest($5::integer[])
    ) ${all(`${messages} JOIN wanted USING (position)`)}
  `;
  return {
    migration: [
      // Not jsonb, which changes some texts, and refuses others.
      `CREATE TABLE IF NOT EXISTS ${conversations} (
  id text PRIMARY KEY, edits integer NOT NULL DEFAULT 0, count integer NOT NULL DEFAULT 0,
  state json, revision integer NOT NULL DEFAULT 0, updated_at timestamptz
)`,
      `CREATE TABLE IF NOT EXISTS ${messages} (
  conversation text NOT NULL, position integer NOT NULL, id text NOT NULL, message json NOT NULL,
  excluded boolean NOT NULL, words text[] NOT NULL, PRIMARY KEY (conversation, position), UNIQUE (conversation, id)
)`,
      `CREATE INDEX IF NOT EXISTS ${messages.split('.').at(-1)}_by_word ON ${messages} USING gin (words)`,
    ],
    lock: (conversation) => [
      `INSERT INTO ${conversations} AS stored (id) VALUES ($1)
       ON CONFLICT (id) DO UPDATE SET count = stored.count RETURNING edits, count, revision`,
      conversation,
    ],
    load: (conversation, wanted) => {
      if (wanted === undefined) return [all(messages), conversation];
      return [part, conversation, wanted.newest, wanted.words, wanted.ids, wanted.positions];
    },
    idAt: (...place) => [`SELECT id FROM ${messages} WHERE conversation = $1 AND position = $2`, ...place],
    positionOf: (...place) => [`SELECT position FROM ${messages} WHERE conversation = $1 AND id = $2`, ...place],
    stored: (...given) => [`SELECT id FROM ${messages} WHERE conversation = $1 AND id = ANY($2::text[])`, ...given],
    removeFrom: (...place) => [
      `DELETE FROM ${messages} WHERE conversation = $1 AND position >= $2 RETURNING id, excluded::integer`,
      ...place,
    ],
    insert: (conversation, rows) => [
      [
        `INSERT INTO ${messages} (conversation, position, id, message, excluded, words)
         SELECT $1, position, id, message::json, excluded, string_to_array(words, ' ')
         FROM unnest($2::integer[], $3::text[], $4::text[], $5::boolean[], $6::text[])
           AS given (position, id, message, excluded, words)`,
        conversation,
        ...(['position', 'id', 'message', 'excluded', 'words'] as const).map((name) => rows.map((row) => row[name])),
      ],
    ],
    update: (...given) => [
      `UPDATE ${conversations} SET count = $2, edits = $3, updated_at = now() WHERE id = $1`,
      ...given,
    ],
    saveState: (...given) => [
      `UPDATE ${conversations} SET state = $2::json, revision = revision + 1 WHERE id = $1`,
      ...given,
    ],
    setExcluded: (conversation, id, excluded) => [
      `UPDATE ${messages} SET excluded = ($3::integer = 1) WHERE conversation = $1 AND id = $2`,
      conversation,
      id,
      Number(excluded),
    ],
    clear: (conversation) => [
      `UPDATE ${conversations} SET edits = edits + 1, count = 0, state = NULL, revision = revision + 1, updated_at = now()
       WHERE id = $1`,
      conversation,
    ],
  };
}
