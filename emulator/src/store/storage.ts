/** Records of one kind by id, in the order they were first set. */
export interface Collection<T> {
  readonly size: number;
  get(id: string): T | undefined;
  set(id: string, record: T): void;
  delete(id: string): boolean;
  values(): Iterable<T>;
}

/**
 * Where the emulator keeps its records. Records are plain values: they are replaced by `set`, never changed in place,
 * so that anything which stores JSON by name and id can stand behind it.
 */
export interface Storage {
  collection<T>(name: string): Collection<T>;
  clear(): void;
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

  clear(): void {
    this.#collections.clear();
  }
}
