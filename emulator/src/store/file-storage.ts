import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { HttpError } from '../base/errors.js';
import { quote } from '../base/mention.js';
import { FileLock } from './file-lock.js';
import { type Collection, MemoryStorage, type Storage } from './storage.js';

/** A change of a record, `[collection, id, value]`; without `value` its deletion, and empty the deletion of all. */
type Change = [] | [collection: string, id: string, value?: unknown, isBytes?: true];

/**
 * Stores everything in one file of lines. Each line has the changes of a transaction, so that all of them are in the file
 * or none. Reads come from memory. A line is in the file before the call returns, so that a killed process loses nothing
 * that was acknowledged: at most its last line is incomplete, and is ignored.
 */
export class FileStorage implements Storage {
  readonly #file: string;
  readonly #lock: FileLock;
  readonly #records = new MemoryStorage();
  #descriptor: number;
  /** In bytes: of all complete lines, of the file as this process left it, and when the file is written anew. */
  #size = 0;
  #end = 0;
  #largest = SMALL;
  /** The changes of the current transaction; undefined outside of one. */
  #changes: Change[] | undefined;

  private constructor(file: string, lock: FileLock) {
    this.#file = file;
    this.#lock = lock;
    this.#descriptor = fs.openSync(file, fs.existsSync(file) ? 'r+' : 'wx+', 0o600);
    try {
      const bytes = fs.readFileSync(this.#descriptor);
      this.#end = bytes.length;
      this.#size = this.#load(bytes);
      if (this.#size === 0) this.#append(`${HEADER}\n`);
      this.#rewriteIfLarge();
    } catch (error) {
      fs.closeSync(this.#descriptor);
      throw error;
    }
  }

  /** Opens or creates the file in a directory. Throws if another emulator has it open. */
  static open(directory: string): FileStorage {
    const file = join(directory, DATA_FILE);
    let lock: FileLock | undefined;
    try {
      makeDirectory(directory);
      fs.accessSync(directory, fs.constants.W_OK);
      const old = join(directory, 'emulator.db');
      if (!fs.existsSync(file) && fs.existsSync(old))
        throw new RangeError(
          `${old} was written by version 0.1.0: export its state with that version, or choose another`,
        );
      lock = FileLock.take(join(directory, 'emulator.lock'));
      return new FileStorage(file, lock);
    } catch (error) {
      lock?.release();
      throw openError(error, file);
    }
  }

  collection<T>(name: string): Collection<T> {
    const records = this.#records.collection<T>(name);
    return {
      get size() {
        return records.size;
      },
      get: (id) => records.get(id),
      set: (id, record) => {
        this.#record(changeOf(name, id, record));
        records.set(id, record);
      },
      delete: (id) => {
        if (records.get(id) === undefined) return false;
        this.#record([name, id]);
        return records.delete(id);
      },
      values: () => records.values(),
    };
  }

  transaction<T>(work: () => T): T {
    if (this.#changes !== undefined) return work();
    this.#rewriteIfLarge();
    const changes: Change[] = [];
    this.#changes = changes;
    try {
      // The copy in memory is rolled back as well, even if only the write fails.
      return this.#records.transaction(() => {
        const result = work();
        if (changes.length > 0) this.#write(changes);
        return result;
      });
    } finally {
      this.#changes = undefined;
    }
  }

  clear(): void {
    this.#record([]);
    this.#records.clear();
  }

  close(): void {
    if (this.#descriptor === CLOSED) return;
    fs.closeSync(this.#descriptor);
    this.#descriptor = CLOSED;
    this.#lock.release();
  }

  #record(change: Change): void {
    if (this.#changes !== undefined) {
      this.#changes.push(change);
      return;
    }
    this.#rewriteIfLarge(); // before it, because the records do not have the change yet
    this.#write([change]);
  }

  /** Writes to the file. Throws a 507 if the file cannot be written. Reads still work: they come from memory. */
  #write(changes: readonly Change[]): void {
    const line = `${JSON.stringify(changes)}\n`;
    try {
      this.#append(line);
    } catch (error) {
      const code = codeOf(error);
      const reason = /^(?:ENOSPC|EFBIG|EDQUOT)$/.test(code) ? 'the disk is full' : code;
      throw new HttpError(507, `The emulator cannot write its data file: ${quote(reason)}. Nothing was changed`, {
        code: 'insufficient_storage',
      });
    }
  }

  /** Writes a line after the last complete one. What a failed write has left there is overwritten, or ignored as incomplete. */
  #append(line: string): void {
    const bytes = Buffer.from(line);
    const { size, nlink } = fs.fstatSync(this.#descriptor);
    // Of another process, whose lock was not seen. Its lines must not be overwritten.
    if (size !== this.#end || nlink === 0) throw Object.assign(new Error(), { code: 'changed by another process' });
    try {
      for (let at = 0; at < bytes.length; )
        at += fs.writeSync(this.#descriptor, bytes, at, bytes.length - at, this.#size + at);
      this.#size += bytes.length;
    } finally {
      this.#end = fs.fstatSync(this.#descriptor).size;
    }
  }

  /** Reads all complete lines, and returns their length. */
  #load(bytes: Buffer): number {
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    let start = 0;
    for (let end = bytes.indexOf('\n'); end !== -1; end = bytes.indexOf('\n', start)) {
      const line = bytes.subarray(start, end);
      if (start === 0) checkHeader(line.toString());
      else for (const change of JSON.parse(utf8.decode(line)) as Change[]) this.#apply(change);
      start = end + 1;
    }
    // The process may have been killed before it had written the first line.
    if (start === 0 && !HEADER.startsWith(bytes.toString())) throw new RangeError(FOREIGN);
    return start;
  }

  #apply([name, id, value, isBytes]: Change): void {
    if (name === undefined || id === undefined) this.#records.clear();
    else if (value === undefined) this.#records.collection(name).delete(id);
    else this.#records.collection(name).set(id, isBytes ? new Uint8Array(Buffer.from(String(value), 'base64')) : value);
  }

  /** Replaces the file by one without what was changed later, if it is large, and has twice the size it had then. */
  #rewriteIfLarge(): void {
    if (this.#size < this.#largest) return;
    const file = `${this.#file}.new`;
    try {
      writeRecords(file, this.#records);
      fs.closeSync(this.#descriptor); // Windows replaces no open file
      try {
        fs.renameSync(file, this.#file);
      } finally {
        this.#descriptor = fs.openSync(this.#file, 'r+');
      }
      this.#size = fs.fstatSync(this.#descriptor).size;
      this.#end = this.#size;
    } catch {
      // There is no room for a second file. The first one is complete.
      fs.rmSync(file, { force: true });
    }
    this.#largest = Math.max(2 * this.#size, SMALL);
  }
}

/** The name of the file in the data directory. */
const DATA_FILE = 'emulator.jsonl';
const FORMAT = 1;
/** The beginning of the first line. */
const KIND = '{"file":"context-gateway-emulator","format":';
const HEADER = `${KIND}${FORMAT}}`;
const FOREIGN = 'not a data file of the emulator';
const CLOSED = -1;
/** In bytes: a smaller file is never written anew. */
const SMALL = 4_000_000;
const CHUNK = 1_000_000;

function checkHeader(line: string): void {
  const format = line.startsWith(KIND) ? Number(line.slice(KIND.length, -1)) : 0;
  if (format > FORMAT) throw new RangeError(`written by a newer version (format ${format})`);
  if (format !== FORMAT) throw new RangeError(FOREIGN);
}

function changeOf(name: string, id: string, record: unknown): Change {
  return record instanceof Uint8Array ? [name, id, Buffer.from(record).toString('base64'), true] : [name, id, record];
}

function writeRecords(file: string, records: MemoryStorage): void {
  const descriptor = fs.openSync(file, 'w', 0o600);
  try {
    let text = `${HEADER}\n`;
    for (const [name, id, record] of records.all()) {
      text += `${JSON.stringify([changeOf(name, id, record)])}\n`;
      if (text.length < CHUNK) continue;
      fs.writeFileSync(descriptor, text);
      text = '';
    }
    fs.writeFileSync(descriptor, text);
    fs.fsyncSync(descriptor); // otherwise a power failure could lose all of it
  } finally {
    fs.closeSync(descriptor);
  }
}

/**
 * Creates a directory, and those above it. Not with `recursive`, with which Node 20 never returns where the system
 * calls a directory missing that it refuses to create, such as in `/proc`.
 */
function makeDirectory(directory: string): void {
  if (fs.existsSync(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) makeDirectory(parent);
  fs.mkdirSync(directory, { mode: 0o700 });
}

/** An error that says in one line why the directory cannot be used. */
function openError(error: unknown, file: string): Error {
  const code = codeOf(error);
  const problem = (text: string): Error => new Error(text, { cause: error });
  if (error instanceof RangeError) return problem(`cannot use ${file}: ${error.message}`);
  if (error instanceof SyntaxError || error instanceof TypeError) {
    return problem(`${file} is damaged; restore a copy, or move the file away to start empty`);
  }
  if (/^E[A-Z]+$/.test(code)) {
    return problem(
      `cannot write to ${file} (${code}); check the directory's permissions and its disk, or choose another`,
    );
  }
  return problem(`cannot open ${file}: ${error instanceof Error ? error.message : String(error)}`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
