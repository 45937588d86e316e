import { createHash } from 'node:crypto';
import type { LogEntry } from './log-entry.js';
import type { Attempt } from './request-record.js';

/** Finds out which requests are attempts of one call. */
export class Attempts {
  /** The first request of each call of which the SDK has repeated one. */
  readonly #calls = new Map<string, string>();
  /** The last failed requests that nothing has repeated yet, by what a repetition would have in common. */
  readonly #failed = new Map<string, LogEntry>();

  /** Joins a request whose body is known to the one it repeats. */
  link(entry: LogEntry): void {
    if (headerOf(entry, RESENT_HEADER) !== undefined) return;
    const retry = retryOf(entry);
    if (retry !== undefined && this.#calls.has(retry.call)) {
      entry.attempt = { call: this.#calls.get(retry.call) ?? '', number: retry.number, by: 'call' };
      return;
    }
    if (this.#failed.size === 0 && retry === undefined) return;
    const { by, key } = signatureOf(entry);
    const before = this.#failed.get(key);
    if (before === entry) return;
    this.#failed.delete(key);
    const { call, number } = before?.attempt ?? { call: before?.requestId ?? entry.requestId, number: 1 };
    if (retry !== undefined) {
      // The first attempt says nothing, so it is the last failed request that looks the same.
      keep(this.#calls, retry.call, call);
      if (before !== undefined) entry.attempt = { call, number: retry.number, by: 'call' };
    } else if (before !== undefined && by !== undefined) entry.attempt = { call, number: number + 1, by };
    else if (before !== undefined && entry.receivedAt <= (before.finishedAt ?? 0) + waitOf(before) + PATIENCE) {
      const { first, number } = before.similar ?? { first: before.requestId, number: 1 };
      entry.similar = { first, number: number + 1 };
    }
  }

  /** Keeps a request that ended so that a client may repeat it. */
  ended(entry: LogEntry): void {
    if (isRepeatable(entry)) keep(this.#failed, signatureOf(entry).key, entry);
  }

  clear(): void {
    this.#calls.clear();
    this.#failed.clear();
  }
}

/** The header of a request that was resent from the inspector: the id of the original. */
export const RESENT_HEADER = 'x-emulator-resent';

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST && oldest !== undefined) map.delete(oldest);
}

/** What a retry of the SDK says: `X-Call-Attempt: 4f0c2a-12.2` is the second attempt of a call. */
function retryOf(entry: LogEntry): { call: string; number: number } | undefined {
  const [, call, number] = /^([\w-]{1,64})\.([1-9]\d{0,3})$/.exec(headerOf(entry, 'x-call-attempt') ?? '') ?? [];
  return call === undefined ? undefined : { call, number: Number(number) };
}

function isRepeatable({ outcome, status = 0 }: LogEntry): boolean {
  return outcome === 'answered' ? status === 408 || status === 429 || status >= 500 : outcome !== 'pending';
}

/** What a repetition has in common; `by` is undefined if no header tells. */
function signatureOf(entry: LogEntry): { by: Exclude<Attempt['by'], 'call'> | undefined; key: string } {
  const named = headerOf(entry, 'idempotency-key');
  const trace = headerOf(entry, 'traceparent');
  const hash = createHash('sha256').update(`${entry.method} ${entry.path} ${headerOf(entry, 'authorization')} `);
  if (named !== undefined) return { by: 'idempotency-key', key: hash.update(named).digest('base64') };
  const by = trace === undefined ? undefined : 'traceparent';
  return {
    by,
    key: hash
      .update(`${trace} `)
      .update(entry.body ?? '')
      .digest('base64'),
  };
}

/** In milliseconds, what the response asked the client to wait. */
function waitOf({ limit, finishedAt = 0 }: LogEntry): number {
  return limit === undefined ? 0 : Math.max(0, Date.parse(limit.endsAt) - finishedAt);
}

/** The value of a header, given in lower case. */
export function headerOf({ headers }: LogEntry, name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) if (headers[i]?.toLowerCase() === name) return headers[i + 1];
  return undefined;
}

const PATIENCE = 60_000;
const MOST = 1000;
