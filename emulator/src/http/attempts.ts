import { createHash } from 'node:crypto';
import type { Attempt, LogEntry } from './log-entry.js';

/** Finds out which requests are attempts of one call. */
export class Attempts {
  /** The last failed requests that nothing has repeated yet, by what a repetition would have in common. */
  readonly #failed = new Map<string, LogEntry>();

  /** Joins a request whose body is known to the one it repeats. */
  link(entry: LogEntry): void {
    if (this.#failed.size === 0 || headerOf(entry, RESENT_HEADER) !== undefined) return;
    const { by, key } = signatureOf(entry);
    const before = this.#failed.get(key);
    if (before === undefined || before === entry) return;
    this.#failed.delete(key);
    if (by === 'same request' && entry.receivedAt > (before.finishedAt ?? 0) + waitOf(before) + PATIENCE) return;
    const { call, number } = before.attempt ?? { call: before.requestId, number: 1 };
    entry.attempt = { call, number: number + 1, by };
  }

  /** Keeps a request that ended so that a client may repeat it. */
  ended(entry: LogEntry): void {
    if (!isRepeatable(entry)) return;
    this.#failed.set(signatureOf(entry).key, entry);
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > MOST && oldest !== undefined) this.#failed.delete(oldest);
  }

  clear(): void {
    this.#failed.clear();
  }
}

/** The header of a request that was resent from the inspector: the id of the original. */
export const RESENT_HEADER = 'x-emulator-resent';

function isRepeatable({ outcome, status = 0 }: LogEntry): boolean {
  return outcome === 'answered' ? status === 408 || status === 429 || status >= 500 : outcome !== 'pending';
}

function signatureOf(entry: LogEntry): { by: Attempt['by']; key: string } {
  const named = headerOf(entry, 'idempotency-key');
  const [, trace] = headerOf(entry, 'traceparent')?.split('-') ?? [];
  const hash = createHash('sha256').update(`${entry.method} ${entry.path} ${headerOf(entry, 'authorization')} `);
  if (named !== undefined) return { by: 'idempotency-key', key: hash.update(named).digest('base64') };
  const by = trace === undefined ? 'same request' : 'traceparent';
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

function headerOf({ headers }: LogEntry, name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) if (headers[i]?.toLowerCase() === name) return headers[i + 1];
  return undefined;
}

const PATIENCE = 60_000;
const MOST = 100;
