import * as z from 'zod/mini';
import { exact, id, label, namedObject, text } from '../base/fields.js';
import type { IdSource } from './random.js';
import type { Collection, Storage } from './storage.js';

/** The kind of a memory item. */
export type MemoryType = (typeof MEMORY_TYPES)[number];
/** All kinds of memory items. */
export const MEMORY_TYPES = ['preference', 'fact', 'constraint', 'definition'] as const;

/** A memory item, as the API returns it. */
export interface UserMemoryItem {
  id: string;
  type: MemoryType;
  key: string;
  content: string;
  isActive: boolean;
  workspaceId?: string | undefined;
}

export const memoryItem = exact<UserMemoryItem>()(
  namedObject('UserMemoryItem', {
    id,
    type: z.enum(MEMORY_TYPES),
    key: z.string(),
    content: z.string(),
    isActive: z.boolean(),
    workspaceId: z.optional(label),
  }),
);

/** A memory item and its owner. */
export interface OwnedMemoryItem {
  ownerId: string;
  item: UserMemoryItem;
}

/** A memory item to create. */
export interface MemoryInput {
  type: MemoryType;
  key: string;
  content: string;
  workspaceId?: string | undefined;
}

export const memoryInput = exact<MemoryInput>()(
  z.object({
    type: z.enum(MEMORY_TYPES),
    key: text,
    content: text,
    workspaceId: z.optional(id),
  }),
);

/** User memory: the items of users and of workspaces. */
export class UserMemory {
  readonly #records: Collection<OwnedMemoryItem>;
  readonly #ids: IdSource;
  readonly #defaultUser: () => string;

  constructor(storage: Storage, ids: IdSource, defaultUser: () => string) {
    this.#defaultUser = defaultUser;
    this.#records = storage.collection('memory');
    this.#ids = ids;
  }

  /** Creates an item. Without an owner, it belongs to the first user. */
  create({ type, key, content, workspaceId }: MemoryInput, ownerId = this.#defaultUser()): UserMemoryItem {
    const scope = workspaceId === undefined ? {} : { workspaceId };
    const item = { id: this.#ids.next('mem'), type, key, content, ...scope, isActive: true };
    this.#records.set(item.id, { ownerId, item });
    return item;
  }

  /** An item with its owner. */
  get(id: string): OwnedMemoryItem | undefined {
    return this.#records.get(id);
  }

  /** Changes an item. Returns `undefined` if there is no such item. */
  update(id: string, change: { content: string; isActive?: boolean | undefined }): UserMemoryItem | undefined {
    const record = this.#records.get(id);
    if (record === undefined) return undefined;
    const item = { ...record.item, content: change.content, isActive: change.isActive ?? record.item.isActive };
    this.#records.set(id, { ...record, item });
    return item;
  }

  /** Deletes an item. Returns false if there is no such item. */
  delete(id: string): boolean {
    return this.#records.delete(id);
  }

  /** A5: the items of a workspace or, without one, the user's own items outside of workspaces. */
  list(ownerId: string, workspaceId: string | undefined, type: MemoryType | undefined): UserMemoryItem[] {
    const found: UserMemoryItem[] = [];
    for (const record of this.#records.values()) {
      const item = record.item;
      const inScope =
        workspaceId === undefined
          ? item.workspaceId === undefined && record.ownerId === ownerId
          : item.workspaceId === workspaceId;
      if (inScope && (type === undefined || item.type === type)) found.push(item);
    }
    return found;
  }

  /** All items with their owners, oldest first. */
  all(): OwnedMemoryItem[] {
    return [...this.#records.values()];
  }
}
