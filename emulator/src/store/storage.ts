/** Records of one kind by id, in insertion order. */
export interface Collection<T> {
  readonly size: number;
  get(id: string): T | undefined;
  set(id: string, record: T): void;
  delete(id: string): boolean;
  values(): Iterable<T>;
}

/**
 * A store of records. A record is plain JSON data or a `Uint8Array`. The emulator replaces records with `set` and never
 * changes them in place, so any key-value store can implement this interface.
 */
export interface Storage {
  collection<T>(name: string): Collection<T>;
  /** Applies all writes of `work`, or none if it throws. */
  transaction<T>(work: () => T): T;
  clear(): void;
  /** Called last: nothing is read or written afterwards. */
  close(): void;
}

type Records = Map<string, unknown>;

/** Stores everything in memory. */
export class MemoryStorage implements Storage {
  #collections = new Map<string, Records>();
  /** Undoes the changes of the current transaction, to be run in reverse; undefined outside of a transaction. */
  #undo: (() => void)[] | undefined;
  /** Collections that a rollback of the current transaction restores as a whole. */
  readonly #kept = new Set<Records>();

  collection<T>(name: string): Collection<T> {
    // Looked up on every call, because `clear` replaces all collections.
    const records = (): Records => {
      let map = this.#collections.get(name);
      if (map === undefined) {
        map = new Map();
        this.#collections.set(name, map);
      }
      return map;
    };
    return {
      get size() {
        return records().size;
      },
      // Each name is used with only one record type, by the store that owns it.
      get: (id) => records().get(id) as T | undefined,
      set: (id, record) => this.#set(records(), id, record),
      delete: (id) => this.#delete(records(), id),
      values: () => records().values() as Iterable<T>,
    };
  }

  transaction<T>(work: () => T): T {
    if (this.#undo !== undefined) return work();
    const undo: (() => void)[] = [];
    this.#undo = undo;
    try {
      return work();
    } catch (error) {
      for (const revert of undo.reverse()) revert();
      throw error;
    } finally {
      this.#kept.clear();
      this.#undo = undefined;
    }
  }

  /** All records, in the order of their collections. */
  *all(): Iterable<[collection: string, id: string, record: unknown]> {
    for (const [name, records] of this.#collections) for (const [id, record] of records) yield [name, id, record];
  }

  clear(): void {
    const before = this.#collections;
    this.#undo?.push(() => {
      this.#collections = before;
    });
    this.#collections = new Map();
  }

  close(): void {}

  #set(records: Records, id: string, record: unknown): void {
    if (this.#undo !== undefined) {
      const before = records.get(id);
      this.#undo.push(() => (before === undefined ? records.delete(id) : records.set(id, before)));
    }
    records.set(id, record);
  }

  #delete(records: Records, id: string): boolean {
    if (this.#undo !== undefined && records.has(id) && !this.#kept.has(records)) {
      // A deleted record loses its place in the order, so the whole collection is saved, once per transaction.
      this.#kept.add(records);
      const before = [...records];
      this.#undo.push(() => {
        records.clear();
        for (const [id, record] of before) records.set(id, record);
      });
    }
    return records.delete(id);
  }
}

/**
 * Returns the id. Throws a RangeError for ids that a file cannot store faithfully (with a NUL or a lone surrogate) or a
 * URL cannot contain (`.` and `..`).
 */
export function checkedId(what: string, id: string): string {
  if (id === '.' || id === '..') throw new RangeError(`the id of a ${what} must not be ${id}: no URL could contain it`);
  if (id.includes('\u0000') || !id.isWellFormed()) {
    throw new RangeError(
      `the id of a ${what} must not contain a NUL character or a lone surrogate: ${JSON.stringify(id)}`,
    );
  }
  return id;
}
