import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'libsql';
import type { Collection, Storage } from './storage.js';

/**
 * Everything in one SQLite file. What is read comes from memory; every write is in the file before the call returns, so
 * that a killed process loses nothing that was acknowledged. Bytes stay in the file and are read when asked for.
 */
export class SqliteStorage implements Storage {
  readonly #db: Database.Database;
  readonly #write: Database.Statement<unknown[]>;
  readonly #remove: Database.Statement<unknown[]>;
  readonly #readBytes: Database.Statement<unknown[]>;
  readonly #records = new Map<string, Map<string, unknown>>();
  #depth = 0;

  private constructor(db: Database.Database) {
    this.#db = db;
    this.#write = db.prepare(
      'INSERT INTO records (collection, id, value) VALUES (?, ?, ?) ON CONFLICT (collection, id) DO UPDATE SET value = excluded.value',
    );
    this.#remove = db.prepare('DELETE FROM records WHERE collection = ? AND id = ?');
    this.#readBytes = db.prepare('SELECT value FROM records WHERE collection = ? AND id = ?');
    this.#load();
  }

  /** Open the directory's file, or make it. One emulator at a time; a second one is refused. */
  static open(directory: string): SqliteStorage {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Loaded here and not at the top: an emulator in memory needs no native code.
    const Sqlite = createRequire(import.meta.url)('libsql') as typeof Database;
    const file = join(directory, DATA_FILE);
    const db = new Sqlite(file);
    try {
      prepareFile(db);
      return new SqliteStorage(db);
    } catch (error) {
      db.close();
      throw problemOf(error, file);
    }
  }

  collection<T>(name: string): Collection<T> {
    const records = (): Map<string, unknown> => {
      let map = this.#records.get(name);
      if (map === undefined) {
        map = new Map();
        this.#records.set(name, map);
      }
      return map;
    };
    // A name is only ever used with one record type, by the store that owns it.
    const value = (id: string, record: unknown): T => (record === IN_FILE ? this.#bytes(name, id) : record) as T;
    return {
      get size() {
        return records().size;
      },
      get: (id) => {
        const record = records().get(id);
        return record === undefined ? undefined : value(id, record);
      },
      set: (id, record) => {
        const isBytes = record instanceof Uint8Array;
        this.#write.run(name, id, isBytes ? Buffer.from(record) : JSON.stringify(record));
        records().set(id, isBytes ? IN_FILE : record);
      },
      delete: (id) => {
        if (!records().has(id)) return false;
        this.#remove.run(name, id);
        return records().delete(id);
      },
      values: function* () {
        for (const [id, record] of records()) yield value(id, record);
      },
    };
  }

  names(): string[] {
    return [...this.#records].filter(([, records]) => records.size > 0).map(([name]) => name);
  }

  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.#db.exec('BEGIN IMMEDIATE');
    this.#depth = 1;
    try {
      const result = work();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#db.exec('ROLLBACK');
      // What the work had changed in memory is taken back too.
      this.#load();
      throw error;
    } finally {
      this.#depth = 0;
    }
  }

  clear(): void {
    this.#db.exec('DELETE FROM records');
    this.#records.clear();
  }

  close(): void {
    if (!this.#db.open) return;
    // The library lets go of the file only when its statements have been collected, so the lock is given back by hand:
    // by leaving the log, by asking for a shared lock, and by the next read, which takes and frees it.
    this.#db.pragma('journal_mode = DELETE');
    this.#db.pragma('locking_mode = NORMAL');
    this.#db.prepare('SELECT count(*) FROM records').get();
    this.#db.close();
  }

  #bytes(name: string, id: string): Uint8Array {
    const row = this.#readBytes.get(name, id) as { value: Uint8Array };
    return new Uint8Array(row.value);
  }

  #load(): void {
    this.#records.clear();
    const rows = this.#db
      .prepare(
        "SELECT collection, id, CASE typeof(value) WHEN 'blob' THEN NULL ELSE value END AS text FROM records ORDER BY position",
      )
      .all() as { collection: string; id: string; text: string | null }[];
    for (const { collection, id, text } of rows) {
      let records = this.#records.get(collection);
      if (records === undefined) {
        records = new Map();
        this.#records.set(collection, records);
      }
      records.set(id, text === null ? IN_FILE : JSON.parse(text));
    }
  }
}

/** The name of the file in the data directory. */
const DATA_FILE = 'emulator.db';

const FORMAT = 1;
/** Stands for bytes that are only in the file. */
const IN_FILE = Symbol('bytes in the file');

function prepareFile(db: Database.Database): void {
  // Held until the process ends, however it ends: the records in memory are the only ones.
  db.pragma('locking_mode = EXCLUSIVE');
  db.pragma('journal_mode = WAL');
  // A write is handed to the system before it is acknowledged, which outlives the process; waiting for the disk would
  // only add safety against a power cut.
  db.pragma('synchronous = NORMAL');
  const [found] = db.pragma('user_version') as { user_version: number }[];
  const format = found?.user_version ?? 0;
  if (format > FORMAT) throw new RangeError(`it was written by a newer version (format ${format})`);
  db.exec(
    'CREATE TABLE IF NOT EXISTS records (position INTEGER PRIMARY KEY, collection TEXT NOT NULL, id TEXT NOT NULL, value NOT NULL, UNIQUE (collection, id))',
  );
  db.pragma(`user_version = ${FORMAT}`);
}

function problemOf(error: unknown, file: string): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = error instanceof Error ? error.message : String(error);
  if (code.startsWith('SQLITE_BUSY')) return new Error(`${file} is in use by another emulator`, { cause: error });
  if (code === 'SQLITE_NOTADB') return new Error(`${file} is not a data file of the emulator`, { cause: error });
  return new Error(`cannot open ${file}: ${reason}`, { cause: error });
}
