import { redact } from '../base/redact.js';
import type { SentBody } from './sent-body.js';

/** A request in one line. */
export interface RequestSummary {
  requestId: string;
  method: string;
  /** Path with query. */
  path: string;
  /** The name of its API key, or the user of its session; undefined when it had neither, or a wrong one. */
  caller: string | undefined;
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
}

/** A request that has ended, in one line. */
export interface EndedRequest extends RequestSummary {
  /** What went wrong inside the emulator or a reply function, on a 500. */
  error: string | undefined;
}

/** A request as it arrived, and what became of it. Keys and tokens are never in it. */
export interface RequestRecord extends EndedRequest {
  headers: Record<string, string>;
  /** At most 64 KB of the body's text; undefined when nothing read it. */
  body: string | undefined;
  /** Whether the body was longer than that. */
  isBodyCut: boolean;
  /** What was sent back; undefined while nothing was. */
  response: RecordedResponse | undefined;
}

/** What was sent back. */
export interface RecordedResponse {
  headers: Record<string, string>;
  /** At most 64 KB of its text. */
  body: string;
  /** The events of a stream within those 64 KB: milliseconds since the request arrived, and their text. */
  events: { at: number; text: string }[] | undefined;
}

/** One request in progress. Converted to a record only when it is read. */
export interface LogEntry {
  requestId: string;
  /** Its key or user, looked up when it is first asked for. */
  owner?: { name: string | undefined };
  method: string;
  path: string;
  /** Names and values in turn. Not the request's own object, which holds the whole request and its connection in memory. */
  headers: readonly string[];
  /** At most `LOGGED_BYTES` of it, in memory of its own. */
  body: Uint8Array | undefined;
  isBodyCut: boolean;
  receivedAt: number;
  finishedAt: number | undefined;
  status: number | undefined;
  outcome: RequestRecord['outcome'];
  events: number | undefined;
  tokens: RequestRecord['tokens'];
  fault: string | undefined;
  error: string | undefined;
  /** What was sent back: a whole text, or what was seen of a body that passed through. */
  answer: { headers: Record<string, string>; body: string | SentBody } | undefined;
}

/** The last requests, oldest first; older ones fall out. */
export class RequestLog {
  readonly #entries: LogEntry[] = [];
  readonly #callerOf: (credential: string) => string | undefined;
  readonly #listeners = new Set<(entry: LogEntry) => void>();
  #next = 0;
  #summaries: string | undefined;

  /** `callerOf` returns the owner of a key or a token. */
  constructor(callerOf: (credential: string) => string | undefined) {
    this.#callerOf = callerOf;
  }

  add(entry: LogEntry): void {
    if (this.#entries.length < CAPACITY) this.#entries.push(entry);
    else this.#entries[this.#next] = entry;
    this.#next = (this.#next + 1) % CAPACITY;
    this.changed(entry);
  }

  /** Tell those who listen that something was learned about a request. */
  changed(entry: LogEntry): void {
    this.#summaries = undefined;
    for (const listener of this.#listeners) listener(entry);
  }

  /** Called with every request that begins, is answered, or ends; gives the function that takes the listener off. */
  listen(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Called with every request that has ended. */
  onEnd(listener: (request: EndedRequest) => void): () => void {
    return this.listen((entry) => {
      if (entry.outcome !== 'pending') listener({ ...this.summary(entry), error: entry.error });
    });
  }

  records(): RequestRecord[] {
    return this.#inOrder().map((entry) => this.#record(entry));
  }

  /** The newest ones, so many at most; or, when the id of a request is given, the first so many after it. */
  recent(limit: number, after?: string | undefined): RequestRecord[] {
    const entries = this.#inOrder();
    const next = entries.findIndex(({ requestId }) => requestId === after) + 1;
    const wanted = after === undefined ? entries.slice(-limit) : entries.slice(next, next + limit);
    return wanted.map((entry) => this.#record(entry));
  }

  find(requestId: string): RequestRecord | undefined {
    const entry = this.#entries.find((candidate) => candidate.requestId === requestId);
    return entry && this.#record(entry);
  }

  /** All that are kept, in one line each, as JSON. Those who ask at the same moment share one text. */
  summaries(): string {
    if (this.#summaries === undefined) {
      this.#summaries = JSON.stringify(this.#inOrder().map((entry) => this.summary(entry)));
      setImmediate(() => {
        this.#summaries = undefined;
      });
    }
    return this.#summaries;
  }

  summary(entry: LogEntry): RequestSummary {
    return {
      requestId: entry.requestId,
      method: entry.method,
      path: redact(entry.path),
      caller: this.#callerName(entry),
      receivedAt: new Date(entry.receivedAt).toISOString(),
      duration: entry.finishedAt === undefined ? undefined : entry.finishedAt - entry.receivedAt,
      status: entry.status,
      outcome: entry.outcome,
      events: entry.events,
      tokens: entry.tokens,
      fault: entry.fault,
    };
  }

  clear(): void {
    this.#entries.length = 0;
    this.#next = 0;
    this.#summaries = undefined;
  }

  #inOrder(): LogEntry[] {
    const full = this.#entries.length === CAPACITY;
    return full ? [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)] : this.#entries;
  }

  #record(entry: LogEntry): RequestRecord {
    const body = entry.body && decoder.decode(entry.body);
    return {
      ...this.summary(entry),
      headers: headersOf(entry.headers),
      body: body === undefined ? undefined : redact(body),
      isBodyCut: entry.isBodyCut,
      response: entry.answer && responseOf(entry.answer, entry),
      error: entry.error,
    };
  }

  #callerName(entry: LogEntry): string | undefined {
    entry.owner ??= { name: this.#findCaller(entry) };
    return entry.owner.name;
  }

  #findCaller({ headers }: LogEntry): string | undefined {
    for (let i = 0; i + 1 < headers.length; i += 2) {
      if (!SECRET_HEADERS.test(headers[i] ?? '')) continue;
      const value = headers[i + 1] ?? '';
      const caller = this.#callerOf(value.slice(value.indexOf(' ') + 1));
      if (caller !== undefined) return caller;
    }
    return undefined;
  }
}

/** A text that is kept: a copy where it is cut, because a part would hold the whole in memory. */
export function keptText(text: string): string {
  // No character has more than three bytes.
  if (text.length * 3 <= LOGGED_BYTES) return text;
  const bytes = new Uint8Array(LOGGED_BYTES);
  const { read, written } = new TextEncoder().encodeInto(text, bytes);
  return read === text.length ? text : decoder.decode(bytes.subarray(0, written));
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const name = lines[i]?.toLowerCase() ?? '';
    const value = lines[i + 1] ?? '';
    const safe = SECRET_HEADERS.test(name) ? redactHeader(value) : redact(value);
    const before = headers.get(name);
    headers.set(name, before === undefined ? safe : `${before}, ${safe}`);
  }
  return Object.fromEntries(headers);
}

function responseOf({ headers, body }: NonNullable<LogEntry['answer']>, entry: LogEntry): RecordedResponse {
  const isStream = typeof body !== 'string' && entry.events !== undefined;
  return {
    headers: headersOf(Object.entries(headers).flat()),
    body: redact(typeof body === 'string' ? body : body.text()),
    events: isStream
      ? body.chunks().map(({ at, text }) => ({ at: at - entry.receivedAt, text: redact(text) }))
      : undefined,
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
