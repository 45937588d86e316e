import { badRequest } from '../base/errors.js';
import type { Collection, Storage } from './storage.js';

/** An answer that can be given again. */
export interface KeptAnswer {
  status: number;
  headers: [string, string][];
  body: string;
}

/** An answer as it is stored, with what it answers. */
export interface KeptEntry {
  key: string;
  fingerprint: string;
  answer: KeptAnswer;
}

interface Running {
  fingerprint: string;
  /** Resolves when the work is done and its answer is kept, or there is none. */
  done: Promise<void>;
}

/** A21: the same key with the same request gets the same answer, and the work is done once. Bounded: the oldest are forgotten. */
export class IdempotencyMemory {
  readonly #kept: Collection<KeptEntry>;
  /** Requests that are being answered right now. */
  readonly #running = new Map<string, Running>();

  constructor(storage: Storage) {
    this.#kept = storage.collection('idempotency');
  }

  /**
   * The kept answer, or undefined when this request is the first and must do the work; it then calls `keep` with its
   * answer, or with nothing when there is none worth keeping. Waits while the first request is still being answered.
   */
  async lookUp(
    key: string,
    fingerprint: string,
  ): Promise<{ answer: KeptAnswer } | { keep: (answer?: KeptAnswer) => void }> {
    for (;;) {
      const kept = this.#kept.get(key);
      const running = this.#running.get(key);
      const known = kept ?? running;
      if (known === undefined) return { keep: this.#start(key, fingerprint) };
      if (known.fingerprint !== fingerprint) {
        throw badRequest(
          'Idempotency-Key',
          'This idempotency key was used for another request',
          'idempotency_key_reused',
        );
      }
      if (kept !== undefined) return { answer: kept.answer };
      await running?.done;
    }
  }

  /** Forget the requests under way; the answers that are kept go with the storage. */
  clear(): void {
    this.#running.clear();
  }

  #start(key: string, fingerprint: string): (answer?: KeptAnswer) => void {
    let settle = (): void => {};
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const running = { fingerprint, done };
    this.#running.set(key, running);
    return (answer) => {
      // After a reset, another request may be using this key.
      if (this.#running.get(key) === running) {
        this.#running.delete(key);
        if (answer !== undefined) this.#keep({ key, fingerprint, answer });
      }
      settle();
    };
  }

  #keep(entry: KeptEntry): void {
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
/** A thousand answers below this stay within the bytes allowed, so nothing needs to be added up. */
const LARGE_BODY = MOST_BYTES / MOST_ENTRIES;
