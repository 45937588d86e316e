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
  /** The names of all collections that hold something. */
  names(): string[];
  /** Make all writes of the work, or none when it throws. */
  transaction<T>(work: () => T): T;
  clear(): void;
  /** Nothing is read or written afterwards. */
  close(): void;
}

/** Keeps everything in memory until `clear`. */
export class MemoryStorage implements Storage {
  readonly #collections = new Map<string, Map<string, unknown>>();

  collection<T>(name: string): Collection<T> {
    const collections = this.#collections;
    // Looked up per call: `clear` may have emptied the storage in between.
    const records = (): Map<string, T> => {
      let map = collections.get(name);
      if (map === undefined) {
        map = new Map();
        collections.set(name, map);
      }
      // A name is only ever used with one record type, by the store that owns it.
      return map as Map<string, T>;
    };
    return {
      get size() {
        return records().size;
      },
      get: (id) => records().get(id),
      set: (id, record) => void records().set(id, record),
      delete: (id) => records().delete(id),
      values: () => records().values(),
    };
  }

  names(): string[] {
    return [...this.#collections].filter(([, records]) => records.size > 0).map(([name]) => name);
  }

  /** In memory there is nothing to be torn: callers check before they write. */
  transaction<T>(work: () => T): T {
    return work();
  }

  clear(): void {
    this.#collections.clear();
  }

  close(): void {}
}
