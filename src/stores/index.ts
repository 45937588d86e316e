export { postgresStore } from './postgres.js';
export type { SqlStore } from './sql-store.js';
export { sqliteStore } from './sqlite.js';
