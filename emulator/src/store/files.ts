import * as z from 'zod/mini';
import { count, exact, id, label, namedObject } from '../base/fields.js';
import type { IdSource } from './random.js';
import type { Collection, Storage } from './storage.js';

/** The record of an uploaded file (A3). */
export interface FileRecord {
  id: string;
  object: 'file';
  bytes: number;
  filename: string;
  purpose: string;
  /** Unix time in seconds. */
  created_at: number;
}

export const fileRecord = exact<FileRecord>()(
  namedObject('File', {
    id,
    object: z.literal('file'),
    bytes: count,
    filename: z.string(),
    purpose: label,
    created_at: z.int(),
  }),
);

/** A stored file. Its bytes are in a separate collection. */
export interface StoredFile {
  record: FileRecord;
  contentType: string;
  /** The request that uploaded it. */
  requestId?: string | undefined;
}

/** Uploaded files and their bytes. */
export class Files {
  readonly #records: Collection<StoredFile>;
  readonly #bytes: Collection<Uint8Array>;
  readonly #storage: Storage;
  readonly #ids: IdSource;
  readonly #now: () => number;

  constructor(storage: Storage, ids: IdSource, now: () => number) {
    this.#records = storage.collection('files');
    this.#bytes = storage.collection('file-bytes');
    this.#storage = storage;
    this.#ids = ids;
    this.#now = now;
  }

  /** @internal */
  add(file: Omit<StoredFile, 'record'> & { filename: string; purpose: string; content: Uint8Array }): FileRecord {
    const record: FileRecord = {
      id: this.#ids.next('file'),
      object: 'file',
      bytes: file.content.byteLength,
      filename: file.filename,
      purpose: file.purpose,
      created_at: Math.floor(this.#now() / 1000),
    };
    this.#storage.transaction(() => {
      this.#bytes.set(record.id, file.content);
      this.#records.set(record.id, { record, contentType: file.contentType, requestId: file.requestId });
    });
    return record;
  }

  /** The record of a file. */
  get(id: string): FileRecord | undefined {
    return structuredClone(this.#records.get(id)?.record);
  }

  /** A copy of the stored bytes. */
  content(id: string): Uint8Array | undefined {
    return this.#bytes.get(id)?.slice();
  }

  /** The content type that the upload declared. */
  contentType(id: string): string | undefined {
    return this.#records.get(id)?.contentType;
  }

  /** The request that uploaded a file. */
  requestId(id: string): string | undefined {
    return this.#records.get(id)?.requestId;
  }

  /** Deletes a file with its bytes. Returns false if there is no such file. */
  delete(id: string): boolean {
    return this.#storage.transaction(() => {
      this.#bytes.delete(id);
      return this.#records.delete(id);
    });
  }

  /** The records of all files, oldest first. */
  list(): FileRecord[] {
    return [...this.#records.values()].map(({ record }) => structuredClone(record));
  }
}
