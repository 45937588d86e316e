import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type Database from 'libsql';
import { HttpError } from '../base/errors.js';
import { quote } from '../base/mention.js';
import { type Collection, MemoryStorage, type Storage } from './storage.js';

/**
 * Stores everything in one SQLite file. Reads come from memory. Every write is in the file before the call returns, so
 * that a killed process loses nothing that was acknowledged. Binary records stay in the file and are read on demand.
 */
export class SqliteStorage implements Storage {
  readonly #db: Database.Database;
  readonly #write: Database.Statement<unknown[]>;
  readonly #remove: Database.Statement<unknown[]>;
  readonly #readBytes: Database.Statement<unknown[]>;
  readonly #records = new MemoryStorage();
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

  /** Opens or creates the file in a directory. Throws if another emulator has it open. */
  static open(directory: string): SqliteStorage {
    const file = join(directory, DATA_FILE);
    let db: Database.Database | undefined;
    try {
      makeDirectory(directory);
      // For a read-only directory or file, the library reports only a number.
      accessSync(directory, constants.W_OK);
      if (existsSync(file)) accessSync(file, constants.W_OK);
      // Loaded on demand: an emulator in memory needs no native code.
      const Sqlite = createRequire(import.meta.url)('libsql') as typeof Database;
      db = new Sqlite(file);
      prepareFile(db);
      return new SqliteStorage(db);
    } catch (error) {
      db?.close();
      throw openError(error, file);
    }
  }

  collection<T>(name: string): Collection<T> {
    const records = this.#records.collection<unknown>(name);
    // Each name is used with only one record type, by the store that owns it.
    const value = (record: unknown): T => (record instanceof InFile ? this.#bytes(record) : record) as T;
    return {
      get size() {
        return records.size;
      },
      get: (id) => value(records.get(id)),
      set: (id, record) => {
        const isBytes = record instanceof Uint8Array;
        this.#written(() => this.#write.run(name, id, isBytes ? Buffer.from(record) : JSON.stringify(record)));
        records.set(id, isBytes ? new InFile(name, id) : record);
      },
      delete: (id) => {
        if (records.get(id) === undefined) return false;
        this.#written(() => this.#remove.run(name, id));
        return records.delete(id);
      },
      values: function* () {
        for (const record of records.values()) yield value(record);
      },
    };
  }

  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.#written(() => this.#db.exec('BEGIN IMMEDIATE'));
    this.#depth = 1;
    try {
      // The copy in memory is rolled back as well, even if only the COMMIT fails.
      return this.#records.transaction(() => {
        const result = work();
        this.#written(() => this.#db.exec('COMMIT'));
        return result;
      });
    } catch (error) {
      // After some errors SQLite has already rolled back.
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      throw error;
    } finally {
      this.#depth = 0;
    }
  }

  clear(): void {
    this.#written(() => this.#db.exec('DELETE FROM records'));
    this.#records.clear();
  }

  close(): void {
    if (!this.#db.open) return;
    // The library releases the file only when its statements are garbage-collected (tursodatabase/libsql-js#228). So
    // the lock is released by hand: leave WAL mode, ask for a normal lock, then read once, which takes and frees that
    // lock.
    try {
      this.#db.pragma('journal_mode = DELETE');
      this.#db.pragma('locking_mode = NORMAL');
      this.#db.prepare('SELECT count(*) FROM records').get();
    } catch {
      // The disk is full. All acknowledged writes are in the log, and are read from there next time.
    }
    this.#db.close();
  }

  /** Writes to the file. Throws a 507 if the file cannot be written. Reads still work: they come from memory. */
  #written(write: () => void): void {
    try {
      write();
    } catch (error) {
      const code = codeOf(error);
      if (!UNWRITABLE.test(code)) throw error;
      const reason = code === 'SQLITE_FULL' ? 'the disk is full' : code;
      throw new HttpError(507, `The emulator cannot write its data file: ${quote(reason)}. Nothing was changed`, {
        code: 'insufficient_storage',
      });
    }
  }

  #bytes({ collection, id }: InFile): Uint8Array {
    const row = this.#readBytes.get(collection, id) as { value: Uint8Array };
    return new Uint8Array(row.value);
  }

  /** Reads texts as bytes and decodes them here, because the library crashes the process on invalid UTF-8. */
  #load(): void {
    const rows = this.#db
      .prepare(
        "SELECT CAST(collection AS BLOB) AS collection, CAST(id AS BLOB) AS id, CASE typeof(value) WHEN 'blob' THEN NULL ELSE CAST(value AS BLOB) END AS text FROM records ORDER BY position",
      )
      .all() as { collection: ArrayBuffer; id: ArrayBuffer; text: ArrayBuffer | null }[];
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    for (const { collection, id, text } of rows) {
      const place = new InFile(utf8.decode(collection), utf8.decode(id));
      this.#records.collection(place.collection).set(place.id, text === null ? place : JSON.parse(utf8.decode(text)));
    }
  }
}

/** The name of the file in the data directory. */
const DATA_FILE = 'emulator.db';

const FORMAT = 1;
/** A placeholder in memory for a binary record that is only in the file. */
class InFile {
  constructor(
    readonly collection: string,
    readonly id: string,
  ) {}
}

/**
 * Creates a directory, and those above it. Not with `recursive`, with which Node 20 never returns where the system
 * calls a directory missing that it refuses to create, such as in `/proc`.
 */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) makeDirectory(parent);
  mkdirSync(directory, { mode: 0o700 });
}

function prepareFile(db: Database.Database): void {
  // Held until the process ends: a second process would not see the records in this one's memory.
  db.pragma('locking_mode = EXCLUSIVE');
  const [found] = db.pragma('user_version') as { user_version: number }[];
  const format = found?.user_version ?? 0;
  if (format > FORMAT) throw new RangeError(`the file was written by a newer version (format ${format})`);
  try {
    db.pragma('journal_mode = WAL');
  } catch (error) {
    // The disk is full. What is there can still be read, and writes are rejected until there is room.
    if (format < FORMAT || !UNWRITABLE.test(codeOf(error))) throw error;
    db.exec('BEGIN EXCLUSIVE; COMMIT');
  }
  // A write reaches the operating system before it is acknowledged, so it survives the end of the process. Waiting for
  // the disk would only protect against a power failure.
  db.pragma('synchronous = NORMAL');
  // In KiB. With SQLite's default of 2,000, 100,000 new messages read the index from the file again and again.
  db.pragma('cache_size = -32000');
  if (format === FORMAT) return;
  db.exec(
    'CREATE TABLE IF NOT EXISTS records (position INTEGER PRIMARY KEY, collection TEXT NOT NULL, id TEXT NOT NULL, value NOT NULL, UNIQUE (collection, id))',
  );
  db.pragma(`user_version = ${FORMAT}`);
}

/** SQLite's error codes for a disk that is full, broken or read-only. */
const UNWRITABLE = /^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN)/;

/** An error that says in one line why the directory cannot be used. */
function openError(error: unknown, file: string): Error {
  const code = codeOf(error);
  const problem = (text: string): Error => new Error(text, { cause: error });
  if (code.startsWith('SQLITE_BUSY')) return problem(`${file} is in use by another emulator`);
  if (code === 'SQLITE_NOTADB') return problem(`${file} is not a data file of the emulator`);
  if (code.startsWith('SQLITE_CORRUPT') || error instanceof SyntaxError || error instanceof TypeError) {
    return problem(`${file} is damaged; restore a copy, or move the file away to start empty`);
  }
  if (UNWRITABLE.test(code) || /^E[A-Z]+$/.test(code)) {
    return problem(
      `cannot write to ${file} (${code}); check the directory's permissions and its disk, or choose another`,
    );
  }
  return problem(`cannot open ${file}: ${error instanceof Error ? error.message : String(error)}`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
