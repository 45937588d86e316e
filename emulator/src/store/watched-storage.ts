import type { Changes } from '../base/changes.js';
import type { Collection, Storage } from './storage.js';

/** Wraps a storage and announces every write. */
export function watchedStorage(storage: Storage, changes: Changes): Storage {
  return {
    collection<T>(name: string): Collection<T> {
      const records = storage.collection<T>(name);
      if (UNSEEN.has(name)) return records;
      return {
        get size() {
          return records.size;
        },
        get: (id) => records.get(id),
        set: (id, record) => {
          records.set(id, record);
          changes.notify(topicOf(name, id));
        },
        delete: (id) => {
          const isGone = records.delete(id);
          if (isGone) changes.notify(topicOf(name, id));
          return isGone;
        },
        values: () => records.values(),
      };
    },
    transaction: (work) => storage.transaction(work),
    clear: () => {
      storage.clear();
      changes.notify('everything');
    },
    close: () => storage.close(),
  };
}

/** Collections that nothing displays. */
const UNSEEN = new Set(['sequences', 'origin', 'idempotency']);

/** The conversation's id for everything that belongs to a conversation, else the kind of record. */
function topicOf(name: string, id: string): string {
  if (name === 'conversations') return `conversations/${id}`;
  const slash = name.indexOf('/');
  return slash === -1 ? name : `conversations/${name.slice(slash + 1)}`;
}
