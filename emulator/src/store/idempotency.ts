import * as z from 'zod/mini';
import { badRequest } from '../base/errors.js';
import { exact, id } from '../base/fields.js';
import type { Collection, Storage } from './storage.js';

/** A response that can be replayed. */
export interface StoredResponse {
  status: number;
  headers: [string, string][];
  body: string;
}

const storedResponse = exact<StoredResponse>()(
  z.object({
    status: z.int().check(z.gte(200), z.lte(599)),
    headers: z.array(z.tuple([z.string(), z.string()])),
    body: z.string(),
  }),
);

/** A stored response, with the key and the fingerprint of its request. */
export interface IdempotencyEntry {
  key: string;
  fingerprint: string;
  answer: StoredResponse;
}

export const idempotencyEntry = exact<IdempotencyEntry>()(
  z.object({ key: id, fingerprint: id, answer: storedResponse }),
);

interface Running {
  fingerprint: string;
  /** Resolves when the work is done, whether or not its response was kept. */
  done: Promise<void>;
}

/**
 * A21: a repeated request with the same key gets the same response, and its work is done once. The oldest are dropped.
 */
export class IdempotencyMemory {
  readonly #kept: Collection<IdempotencyEntry>;
  /** Requests in progress. */
  readonly #running = new Map<string, Running>();

  constructor(storage: Storage) {
    this.#kept = storage.collection('idempotency');
  }

  /**
   * Returns the kept response. For the first request with a key it returns `keep` instead: the caller does the work,
   * then calls `keep` with the response, or with nothing if it should not be kept. Waits while the first request is in
   * progress.
   */
  async lookUp(
    key: string,
    fingerprint: string,
  ): Promise<{ stored: StoredResponse } | { keep: (response?: StoredResponse) => void }> {
    for (;;) {
      const kept = this.#kept.get(key);
      const running = this.#running.get(key);
      const known = kept ?? running;
      if (known === undefined) return { keep: this.#start(key, fingerprint) };
      if (known.fingerprint !== fingerprint) {
        throw badRequest(
          'Idempotency-Key',
          'This idempotency key was already used for a different request',
          'idempotency_key_reused',
        );
      }
      if (kept !== undefined) return { stored: kept.answer };
      await running?.done;
    }
  }

  /** Forgets the requests in progress. Kept responses are removed with the storage. */
  clear(): void {
    this.#running.clear();
  }

  #start(key: string, fingerprint: string): (response?: StoredResponse) => void {
    let settle = (): void => {};
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const running = { fingerprint, done };
    this.#running.set(key, running);
    return (response) => {
      // After a reset, another request may use the same key.
      if (this.#running.get(key) === running) {
        this.#running.delete(key);
        if (response !== undefined) this.#keep({ key, fingerprint, answer: response });
      }
      settle();
    };
  }

  #keep(entry: IdempotencyEntry): void {
    this.#kept.set(entry.key, entry);
    if (this.#kept.size <= MOST_ENTRIES && entry.answer.body.length < LARGE_BODY) return;
    let bytes = 0;
    for (const { answer } of this.#kept.values()) bytes += answer.body.length;
    for (const { key, answer } of [...this.#kept.values()]) {
      if (this.#kept.size <= MOST_ENTRIES && bytes <= MOST_BYTES) return;
      if (key === entry.key) continue;
      this.#kept.delete(key);
      bytes -= answer.body.length;
    }
  }
}

const MOST_ENTRIES = 1000;
const MOST_BYTES = 32 * 1024 * 1024;
/** A thousand responses below this size stay within `MOST_BYTES`, so their sizes need not be added up. */
const LARGE_BODY = MOST_BYTES / MOST_ENTRIES;
