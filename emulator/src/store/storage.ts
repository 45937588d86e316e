/** Records of one kind by id, in the order they were first set. */
export interface Collection<T> {
  readonly size: number;
  get(id: string): T | undefined;
  set(id: string, record: T): void;
  delete(id: string): boolean;
  values(): Iterable<T>;
}

/**
 * Where the emulator keeps its records. A record is plain JSON data or a `Uint8Array`; it is replaced by `set`, never
 * changed in place, so that anything which stores values by name and id can stand behind it.
 */
export interface Storage {
  collection<T>(name: string): Collection<T>;
  /** Make all writes of the work, or none when it throws. */
  transaction<T>(work: () => T): T;
  clear(): void;
  /** Nothing is read or written afterwards. */
  close(): void;
}

type Records = Map<string, unknown>;

/** Keeps everything in memory until `clear`. */
export class MemoryStorage implements Storage {
  #collections = new Map<string, Records>();
  /** Takes back what the transaction under way has changed, last change first; undefined outside of one. */
  #undo: (() => void)[] | undefined;
  /** Collections that the transaction under way will put back as a whole. */
  readonly #kept = new Set<Records>();

  collection<T>(name: string): Collection<T> {
    // Looked up per call: `clear` may have emptied the storage in between.
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
      // A name is only ever used with one record type, by the store that owns it.
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
      for (const takeBack of undo.reverse()) takeBack();
      throw error;
    } finally {
      this.#kept.clear();
      this.#undo = undefined;
    }
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
      // All of them, for the place of this one is lost; once, however many go.
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

/** The id as it was given. A RangeError for what a file cannot keep apart: a NUL, and half of a character. */
export function usableId(what: string, id: string): string {
  if (id.includes('\u0000') || !id.isWellFormed()) {
    throw new RangeError(
      `the id of a ${what} must not contain a NUL character or a lone surrogate: ${JSON.stringify(id)}`,
    );
  }
  return id;
}
