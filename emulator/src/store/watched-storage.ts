import type { Changes } from '../base/changes.js';
import type { Collection, Storage } from './storage.js';

/** A storage that tells what is written to it. */
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
          changes.tell(topicOf(name, id));
        },
        delete: (id) => {
          const isGone = records.delete(id);
          if (isGone) changes.tell(topicOf(name, id));
          return isGone;
        },
        values: () => records.values(),
      };
    },
    transaction: (work) => storage.transaction(work),
    clear: () => {
      storage.clear();
      changes.tell('everything');
    },
    close: () => storage.close(),
  };
}

/** Records that nothing shows. */
const UNSEEN = new Set(['sequences', 'origin', 'idempotency']);

/** What belongs to a conversation is told under its id; of everything else the kind is enough. */
function topicOf(name: string, id: string): string {
  if (name === 'conversations') return `conversations/${id}`;
  const slash = name.indexOf('/');
  return slash === -1 ? name : `conversations/${name.slice(slash + 1)}`;
}
