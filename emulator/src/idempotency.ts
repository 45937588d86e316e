import { badRequest } from './errors.js';
import type { Exchange } from './exchange.js';
import { hashWords } from './random.js';
import { relayBody } from './relay.js';

/** @internal An answer that can be given again. */
export interface KeptAnswer {
  status: number;
  headers: [string, string][];
  body: string;
}

interface Entry {
  fingerprint: string;
  answer: Promise<KeptAnswer | undefined>;
  size: number;
}

/** A21: the same key with the same request gets the same answer, and the work is done once. Bounded: the oldest are forgotten. */
export class IdempotencyMemory {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /**
   * The kept answer, or undefined when this request is the first and must do the work; it then calls `keep` with its
   * answer, or with nothing when there is none worth keeping. Waits while the first request is still being answered.
   */
  async lookUp(
    key: string,
    fingerprint: string,
  ): Promise<{ answer: KeptAnswer } | { keep: (answer?: KeptAnswer) => void }> {
    for (;;) {
      const entry = this.#entries.get(key);
      if (entry === undefined) return { keep: this.#start(key, fingerprint) };
      if (entry.fingerprint !== fingerprint) {
        throw badRequest(
          'Idempotency-Key',
          'This idempotency key was used with another request',
          'idempotency_key_reused',
        );
      }
      const answer = await entry.answer;
      if (answer !== undefined) return { answer };
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #start(key: string, fingerprint: string): (answer?: KeptAnswer) => void {
    let settle: (answer: KeptAnswer | undefined) => void = () => {};
    const entry: Entry = {
      fingerprint,
      answer: new Promise((resolve) => {
        settle = resolve;
      }),
      size: 0,
    };
    this.#entries.set(key, entry);
    return (answer) => {
      const current = this.#entries.get(key) === entry;
      if (answer === undefined && current) this.#entries.delete(key);
      if (answer !== undefined && current) {
        entry.size = answer.body.length;
        this.#bytes += entry.size;
        this.#forgetOldest(key);
      }
      settle(answer);
    };
  }

  #forgetOldest(kept: string): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= MOST_ENTRIES && this.#bytes <= MOST_BYTES) return;
      if (key === kept) continue;
      this.#entries.delete(key);
      this.#bytes -= entry.size;
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
