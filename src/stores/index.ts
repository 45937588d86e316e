export {
  type PostgresClient,
  type PostgresDatabase,
  type PostgresPool,
  type PostgresQueries,
  postgresStore,
} from './postgres.js';
export type { SqlStore, SqlStoreOptions } from './sql-store.js';
export { type SqliteDatabase, type SqliteStatement, sqliteStore } from './sqlite.js';
