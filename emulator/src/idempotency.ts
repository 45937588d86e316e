import { badRequest } from './errors.js';
import type { Exchange } from './exchange.js';
import { hashWords } from './random.js';
import { relayBody } from './relay.js';
import type { Collection, Storage } from './store/storage.js';

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
          'This idempotency key was used with another request',
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
      // After a reset somebody else may be at work under this key.
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

/** Do the work, or give the answer that was given before. Only successes are kept: a refused request may be tried again. */
export async function answerOnce(
  memory: IdempotencyMemory,
  key: string,
  exchange: Exchange,
  work: () => Promise<Response> | Response,
): Promise<Response> {
  const caller = exchange.userId || 'account';
  const scope = `${caller} ${exchange.method} ${exchange.path} ${key}`;
  const found = await memory.lookUp(scope, fingerprintOf(await exchange.bytes()));
  if ('answer' in found) return new Response(found.answer.body, found.answer);
  try {
    const response = await work();
    if (!response.ok || response.body === null) {
      found.keep();
      return response;
    }
    if (isStream(response)) return new Response(kept(response, found.keep), response);
    const body = await response.text();
    found.keep({ status: response.status, headers: [...response.headers], body });
    return new Response(body, response);
  } catch (error) {
    found.keep();
    throw error;
  }
}

function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** The body, remembered as it passes; a stream that its reader leaves is not worth keeping. */
function kept(response: Response, keep: (answer?: KeptAnswer) => void): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  let body = '';
  return relayBody(response.body as ReadableStream<Uint8Array>, {
    onChunk: (chunk) => {
      body += decoder.decode(chunk, { stream: true });
    },
    onEnd: (outcome) =>
      keep(outcome === 'answered' ? { status: response.status, headers: [...response.headers], body } : undefined),
  });
}

/** Tells two request bodies apart. */
function fingerprintOf(bytes: Uint8Array): string {
  return `${bytes.byteLength}:${hashWords(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')).join(':')}`;
}

const MOST_ENTRIES = 1000;
const MOST_BYTES = 32 * 1024 * 1024;
/** A thousand answers below this stay within the bytes allowed, so nothing needs to be added up. */
const LARGE_BODY = MOST_BYTES / MOST_ENTRIES;
