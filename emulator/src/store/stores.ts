import type { Clock } from '../base/clock.js';
import { Account, type AccountSettings } from './account.js';
import { ApiKeys } from './api-keys.js';
import { Conversations } from './conversations.js';
import { FileStorage } from './file-storage.js';
import { Files } from './files.js';
import { IdempotencyMemory } from './idempotency.js';
import { Integrations } from './integrations.js';
import { UserMemory } from './memory.js';
import { Models } from './models.js';
import { Presets } from './presets.js';
import { IdSource } from './random.js';
import { Sessions } from './sessions.js';
import { type Collection, MemoryStorage, type Storage } from './storage.js';
import { Usage } from './usage.js';
import { Workspaces } from './workspaces.js';

/** The seed of ids and keys. */
export interface SeedRecord {
  seed: string;
  /** Whether others may know the seed: it came from the options or a restored state, and is not random. */
  isKnown: boolean;
}

/** All stores of an emulator. */
export type Stores = ReturnType<typeof createStores>;

/** Opens the storage of the options: your own, a directory, or memory. */
export function openStorage({ storage, data }: { storage?: Storage | undefined; data?: string | undefined }): Storage {
  if (storage !== undefined) return storage;
  return data === undefined ? new MemoryStorage() : FileStorage.open(data);
}

/** Creates all stores on one storage. Add a new store here. */
export function createStores(storage: Storage, settings: AccountSettings & { clock: Clock }) {
  const now = (): number => settings.clock.now();
  const seedRecords: Collection<SeedRecord> = storage.collection('origin');
  const ids = new IdSource(storage, () => seedRecords.get('seed')?.seed ?? '');
  const sessions = new Sessions(storage, ids);
  const defaultUser = (): string => sessions.first.userId;
  const workspaces = new Workspaces(storage, ids, defaultUser);
  return {
    storage,
    /** The seed of ids and keys; undefined in an empty storage. */
    seedRecord: () => seedRecords.get('seed'),
    setSeedRecord: (value: SeedRecord) => seedRecords.set('seed', value),
    ids,
    account: new Account(storage, settings),
    apiKeys: new ApiKeys(storage, ids, now),
    sessions,
    workspaces,
    conversations: new Conversations(storage, ids, now, workspaces, defaultUser),
    memory: new UserMemory(storage, ids, defaultUser),
    models: new Models(storage),
    presets: new Presets(storage, ids),
    files: new Files(storage, ids, now),
    integrations: new Integrations(storage, ids, settings.clock),
    usage: new Usage(storage, now),
    idempotency: new IdempotencyMemory(storage),
  };
}

/** Sets up the initial state in one transaction: seed, keys, session, presets, and the data that `setup` adds. */
export function initializeStores(stores: Stores, seedRecord: SeedRecord, setup: () => void): void {
  const { storage, ids, apiKeys, sessions, presets } = stores;
  try {
    storage.transaction(() => {
      storage.clear();
      ids.reload();
      stores.setSeedRecord(seedRecord);
      apiKeys.addFirst();
      sessions.create();
      presets.addFirst();
      setup();
    });
  } finally {
    dropCaches(stores);
  }
  ids.restart();
}

/** Drops what is cached from the previous records. */
export function dropCaches({ ids, idempotency, conversations }: Stores): void {
  ids.reload();
  conversations.reload();
  idempotency.clear();
}
