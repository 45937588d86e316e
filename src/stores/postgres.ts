import { ConfigurationError } from '../index.js';
import { misspelled } from '../validation/options.js';
import type { Dialect, Engine, Query, Row, SqlStore, SqlStoreOptions, Steps } from './sql-store.js';
import { missingTables, prefixCheck, storeIn } from './sql-store.js';

/** What answers queries. */
type PostgresQueries = {
  query(sql: string, values: unknown[]): Promise<{ rows: unknown[] }>;
};

/** What may tell of a lost connection. */
type PostgresEvents = {
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
};

/** The used part of a `Pool` of `pg`, or of a driver that is used like it. */
type PostgresPool = PostgresQueries & PostgresEvents & { connect(): Promise<PostgresClient> };
type PostgresClient = PostgresQueries & PostgresEvents & { release(error?: boolean): void };

/** The used part of a PGlite. */
type PostgresDatabase = PostgresQueries & {
  transaction(work: (queries: PostgresQueries) => Promise<unknown>): Promise<unknown>;
};

const prefixOf = /* @__PURE__ */ prefixCheck(
  /^(?:[a-z_]\w*\.)?(?:[a-z_]\w*)?$/i,
  'such as chat_, or app.chat_ in the schema app',
);

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
  const prefix = prefixOf(options);
  const isClient = ['processID', 'release'].some((name) => name in Object(database)); // of `pg`, connected or not
  if (isClient) throw new ConfigurationError(NO_CLIENT);
  const { query, transaction } = Object(database) as Partial<PostgresDatabase>;
  if (typeof query !== 'function' || !(isPool(database) || typeof transaction === 'function'))
    throw new ConfigurationError(
      `postgresStore takes a Pool of pg, or a PGlite: postgresStore(new pg.Pool({ connectionString })).${misspelled(database, ['query', 'connect', 'transaction'])}`,
    );
  return storeIn(database, prefix, () => engineOf(database), dialectOf(prefix));
}

const NO_CLIENT = 'postgresStore takes a Pool of pg, not a Client: a transaction has a client of its own.';

function isPool(database: PostgresPool | PostgresDatabase): database is PostgresPool {
  return typeof Object(database).connect === 'function';
}

function engineOf(database: PostgresPool | PostgresDatabase): Engine {
  const query = (asked: Query) => ask(database, asked);
  // The cast is true: PGlite returns what the work returns.
  if (!isPool(database))
    return {
      query,
      transaction: <T>(steps: () => Steps<T>) => database.transaction((one) => run(one, steps)) as Promise<T>,
    };
  // Without a listener, a lost idle connection would end the process. The next query reports the problem.
  database.on?.('error', ignore);
  return { query, transaction: (steps) => inTransaction(database, steps) };
}

async function inTransaction<T>(pool: PostgresPool, steps: () => Steps<T>): Promise<T> {
  const client = await pool.connect();
  if (typeof client?.release !== 'function') throw new ConfigurationError(NO_CLIENT);
  let isBroken = false;
  client.on?.('error', ignore); // the running query fails as well
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED', []);
    const result = await run(client, steps);
    await client.query('COMMIT', []);
    return result;
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

function ignore(): void {}

async function run<T>(queries: PostgresQueries, steps: () => Steps<T>): Promise<T> {
  const work = steps();
  let step = work.next();
  while (!step.done) step = work.next(await ask(queries, step.value));
  return step.value;
}

async function ask(queries: PostgresQueries, [sql, ...values]: Query): Promise<readonly Row[]> {
  try {
    return (await queries.query(sql, values)).rows as Row[]; // of the columns that are named
  } catch (error) {
    throw Object(error).code === UNDEFINED_TABLE ? missingTables(error) : error;
  }
}

const UNDEFINED_TABLE = '42P01';

function dialectOf(prefix: string): Dialect {
  const [conversations, messages] = [`${prefix}conversations`, `${prefix}messages`];
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
    // Of several servers that start, one after the other.
    migrationLock: "SELECT pg_advisory_xact_lock(hashtext('context-gateway/stores'))",
    now: 'now()',
    isIn: (column, list) => `${column} = ANY(${list})`,
    key: 'position',
    // Those that have the most and the rarest.
    found: `
      SELECT position FROM (
        SELECT position, 1.0 / count(*) OVER (PARTITION BY word) AS weight FROM ${messages}, unnest(words) AS word
        WHERE conversation = $1 AND words && $5::text[] AND word = ANY($5::text[])
      ) AS hits GROUP BY position ORDER BY sum(weight) DESC, position DESC LIMIT 500
    `,
    match: (_, words) => words,
    insert: (conversation, rows) => [
      [
        `INSERT INTO ${messages} (conversation, position, id, message, excluded, words)
         SELECT $1, position, id, message::json, excluded, string_to_array(words, ' ')
         FROM unnest($2::integer[], $3::text[], $4::text[], $5::boolean[], $6::text[])
           AS given (position, id, message, excluded, words)`,
        conversation,
        ...([0, 1, 2, 3, 4] as const).map((column) => rows.map((row) => row[column])),
      ],
    ],
  };
}
