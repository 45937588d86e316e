import { redact } from '../base/redact.js';

/** A request as it arrived, and what became of it. Keys and tokens are never in it. */
export interface RequestRecord {
  requestId: string;
  method: string;
  /** Path with query. */
  path: string;
  headers: Record<string, string>;
  /** At most 64 KB of the body's text; undefined when nothing read it. */
  body: string | undefined;
  /** ISO 8601. */
  receivedAt: string;
  /** Milliseconds of the emulator's clock until the answer was complete. */
  duration: number | undefined;
  status: number | undefined;
  /** `pending` until the answer is complete; `aborted` when the caller left before that; `reset` and `cut` come from faults. */
  outcome: 'pending' | 'answered' | 'aborted' | 'reset' | 'cut';
  /** Events of a stream that were sent. */
  events: number | undefined;
  /** Tokens of a completion: those of its messages, and those that were sent. */
  tokens: { prompt: number; completion: number } | undefined;
  /** The fault that was applied, if any. */
  fault: string | undefined;
  /** What went wrong inside the emulator or a reply function, on a 500. */
  error: string | undefined;
}

/** One request while it is on its way; turned into a record when somebody looks. */
export interface LogEntry {
  requestId: string;
  method: string;
  path: string;
  /** Names and values in turn. Not the request's own object, which holds the whole request and its connection in memory. */
  headers: readonly string[];
  /** At most `LOGGED_BYTES` of it, in memory of its own. */
  body: Uint8Array | undefined;
  receivedAt: number;
  finishedAt: number | undefined;
  status: number | undefined;
  outcome: RequestRecord['outcome'];
  events: number | undefined;
  tokens: RequestRecord['tokens'];
  fault: string | undefined;
  error: string | undefined;
}

/** The last requests, oldest first; older ones fall out. */
export class RequestLog {
  readonly #entries: LogEntry[] = [];
  readonly #listeners = new Set<(entry: LogEntry) => void>();
  #next = 0;

  add(entry: LogEntry): void {
    if (this.#entries.length < CAPACITY) this.#entries.push(entry);
    else this.#entries[this.#next] = entry;
    this.#next = (this.#next + 1) % CAPACITY;
    this.changed(entry);
  }

  /** Tell those who listen that something was learned about a request. */
  changed(entry: LogEntry): void {
    for (const listener of this.#listeners) listener(entry);
  }

  /** Called with every request that begins, is answered, or ends; gives the function that takes the listener off. */
  listen(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Called with the record of every request that has ended. */
  onEnd(listener: (record: RequestRecord) => void): () => void {
    return this.listen((entry) => {
      if (entry.outcome !== 'pending') listener(toRecord(entry));
    });
  }

  records(): RequestRecord[] {
    return this.#inOrder().map(toRecord);
  }

  /** The newest ones, so many at most, and only those after a request when its id is given. */
  recent(limit: number, after?: string | undefined): RequestRecord[] {
    const entries = this.#inOrder();
    const start = after === undefined ? 0 : entries.findIndex(({ requestId }) => requestId === after) + 1;
    return entries.slice(start).slice(-limit).map(toRecord);
  }

  #inOrder(): LogEntry[] {
    const full = this.#entries.length === CAPACITY;
    return full ? [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)] : this.#entries;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#next = 0;
  }
}

function toRecord(entry: LogEntry): RequestRecord {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < entry.headers.length; i += 2) {
    const name = entry.headers[i]?.toLowerCase() ?? '';
    const value = entry.headers[i + 1] ?? '';
    const safe = SECRET_HEADERS.test(name) ? redactHeader(value) : redact(value);
    const before = headers.get(name);
    headers.set(name, before === undefined ? safe : `${before}, ${safe}`);
  }
  const body = entry.body && decoder.decode(entry.body);
  return {
    requestId: entry.requestId,
    method: entry.method,
    path: redact(entry.path),
    headers: Object.fromEntries(headers),
    body: body === undefined ? undefined : redact(body),
    receivedAt: new Date(entry.receivedAt).toISOString(),
    duration: entry.finishedAt === undefined ? undefined : entry.finishedAt - entry.receivedAt,
    status: entry.status,
    outcome: entry.outcome,
    events: entry.events,
    tokens: entry.tokens,
    fault: entry.fault,
    error: entry.error,
  };
}

/** Known keys keep their prefix; any other credential is hidden whole, after its scheme. */
function redactHeader(value: string): string {
  const safe = redact(value);
  if (safe !== value) return safe;
  return /^[A-Za-z]+ /.test(value) ? `${value.slice(0, value.indexOf(' '))} ***` : '***';
}

const CAPACITY = 1000;
/** How much of a body is kept. A thousand of them are held at a time. */
export const LOGGED_BYTES = 64 * 1024;
const SECRET_HEADERS = /authorization|cookie|token|session|api-?key|secret/i;
const decoder = new TextDecoder();
