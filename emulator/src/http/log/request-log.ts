import { isUtf8 } from 'node:buffer';
import { setImmediate } from '../../base/real-timers.js';
import { redact } from '../../base/redact.js';
import type { PromptTokens } from '../../text/prompt-tokens.js';
import { Attempts } from './attempts.js';
import type { LogEntry } from './log-entry.js';
import type { EndedRequest, RecordedResponse, RequestRecord, RequestSummary, SentEvent } from './request-record.js';
import { SentBody } from './sent-body.js';
import { subjectOf } from './subject.js';

/** The last requests. When it is full, a new request replaces the oldest. */
export class RequestLog {
  readonly #entries = new Ring<LogEntry>(CAPACITY);
  /** Apart, so that no page of another machine can push the others out. */
  readonly #foreign = new Ring<LogEntry>(MOST_FOREIGN);
  readonly #listeners = new Set<(entry: LogEntry) => void>();
  readonly #followers = new Map<string, Set<(event: SentEvent) => void>>();
  readonly #attempts = new Attempts();
  #added = 0;
  #summaries: string | undefined;

  /** `callerOf` returns the owner of a key or a token. */
  constructor(private readonly callerOf: (credential: string) => string | undefined) {}

  add(entry: LogEntry): void {
    this.#added += 1;
    entry.order = this.#added;
    entry.isForeign &&= this.#callerName(entry) === undefined;
    (entry.isForeign ? this.#foreign : this.#entries).add(entry);
    this.changed(entry);
  }

  /** Adds a request of another emulator's log. `credential` takes the place of its hidden key. */
  import(record: RequestRecord, credential: string): void {
    if (this.entry(record.requestId) !== undefined) return;
    const { response, body, receivedAt, duration } = record;
    const headers = Object.entries(record.headers).map(([name, value]) => {
      return [name, SECRET_HEADERS.test(name) && value.includes('***') ? credential : value];
    });
    const start = Date.parse(receivedAt);
    const entry: LogEntry = {
      ...record,
      headers: headers.flat(),
      owner: { name: record.caller },
      body: body === undefined ? undefined : new TextEncoder().encode(body),
      receivedAt: start,
      finishedAt: start + (duration ?? 0),
      outcome: record.outcome === 'pending' ? 'cut' : record.outcome,
      subject: { model: record.model, conversation: record.conversation },
      response: response && { ...response, body: response.events === undefined ? response.body : sentBody(record) },
      isForeign: false,
      isImported: true,
    };
    this.#added += 1;
    entry.order = this.#added;
    this.#entries.add(entry);
    this.changed(entry);
  }

  /** Joins a request whose body is known to the failed one that it repeats. */
  link(entry: LogEntry): void {
    this.#attempts.link(entry);
  }

  /** Notifies the listeners of a change in a request. */
  changed(entry: LogEntry): void {
    this.#summaries = undefined;
    this.#attempts.ended(entry);
    for (const listener of this.#listeners) listener(entry);
  }

  /** Calls the listener when a request starts, gets its response, or ends. Returns a function that removes the listener. */
  listen(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Calls the listener with each request when it ends. Returns a function that removes the listener. */
  onEnd(listener: (request: EndedRequest) => void): () => void {
    return this.listen((entry) => {
      if (entry.outcome !== 'pending') listener({ ...this.summary(entry), error: entry.error });
    });
  }

  /** Passes an event of a response on to those who follow the request. */
  sent({ requestId, receivedAt }: LogEntry, index: number, at: number, event: string | Uint8Array): void {
    const followers = this.#followers.get(requestId);
    if (followers === undefined) return;
    const text = redact(typeof event === 'string' ? event : decoder.decode(event));
    for (const follower of followers) follower({ index, at: at - receivedAt, text });
  }

  /** Calls the listener with each event of a response from now on. Returns a function that removes the listener. */
  follow({ requestId }: LogEntry, listener: (event: SentEvent) => void): () => void {
    const followers = this.#followers.get(requestId) ?? new Set();
    this.#followers.set(requestId, followers.add(listener));
    return () => {
      followers.delete(listener);
      if (followers.size === 0) this.#followers.delete(requestId);
    };
  }

  records(): RequestRecord[] {
    return this.#inOrder().map((entry) => this.#record(entry));
  }

  /** The newest requests, at most `limit`; or, with an id, the first ones after that request. */
  recent(limit: number, after?: string | undefined): RequestRecord[] {
    const entries = this.#inOrder();
    const next = entries.findIndex(({ requestId }) => requestId === after) + 1;
    const wanted = after === undefined ? entries.slice(-limit) : entries.slice(next, next + limit);
    return wanted.map((entry) => this.#record(entry));
  }

  find(requestId: string): RequestRecord | undefined {
    const entry = this.entry(requestId);
    return entry && this.#record(entry);
  }

  /** All requests as they arrived, with their keys, oldest first. */
  entries(): readonly LogEntry[] {
    return this.#inOrder();
  }

  /** A request as it arrived, with its keys. */
  entry(requestId: string): LogEntry | undefined {
    return this.#inOrder().find((candidate) => candidate.requestId === requestId);
  }

  /** The summaries of all requests as JSON. Calls in the same turn of the event loop share one string. */
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
    // Known as soon as its body is.
    if (entry.body !== undefined || entry.outcome !== 'pending') entry.subject ??= subjectOf(entry);
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
      answeredBy: entry.answeredBy,
      limit: entry.limit,
      attempt: entry.attempt,
      similar: entry.similar,
      code: entry.code,
      ...entry.subject,
      stoppedBy: stoppedBy(entry),
      file: entry.file,
      ...(entry.isImported && { isImported: true }),
      ...(entry.isForeign && { isForeign: true }),
    };
  }

  clear(): void {
    this.#entries.clear();
    this.#foreign.clear();
    this.#attempts.clear();
    this.#summaries = undefined;
  }

  #inOrder(): readonly LogEntry[] {
    const own = this.#entries.inOrder();
    if (this.#foreign.isEmpty) return own;
    return [...own, ...this.#foreign.inOrder()].sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  }

  #record(entry: LogEntry): RequestRecord {
    const sent = entry.body && decoder.decode(entry.body);
    const body = sent && redact(sent);
    return {
      ...this.summary(entry),
      headers: headersOf(entry.headers),
      prompt: entry.prompt && withoutKeys(entry.prompt),
      faultResponse: entry.faultResponse,
      body,
      isBodyCut: entry.isBodyCut,
      isBodyExact: !entry.isBodyCut && body === sent && (entry.body === undefined || isUtf8(entry.body)),
      response: entry.response && responseOf(entry.response, entry),
      error: entry.error && redact(entry.error),
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
      const caller = this.callerOf(value.slice(value.indexOf(' ') + 1));
      if (caller !== undefined) return caller;
    }
    return undefined;
  }
}

function withoutKeys(prompt: PromptTokens): PromptTokens {
  return { ...prompt, messages: prompt.messages.map((message) => ({ ...message, text: redact(message.text) })) };
}

/** Who ended the response before its end. */
function stoppedBy({ outcome, fault, events, code }: LogEntry): RequestSummary['stoppedBy'] {
  if (outcome === 'aborted') return 'client';
  if (outcome === 'reset' || outcome === 'cut') return fault === undefined ? 'emulator' : 'fault';
  return outcome === 'answered' && events !== undefined && code === 'upstream_unavailable' ? 'upstream' : undefined;
}

/** Cuts a text to `LOGGED_BYTES`. A cut text is a copy, because a substring would keep the whole string in memory. */
export function truncate(text: string): string {
  // No UTF-16 code unit takes more than three bytes in UTF-8.
  if (text.length * 3 <= LOGGED_BYTES) return text;
  const bytes = new Uint8Array(LOGGED_BYTES);
  const { read, written } = new TextEncoder().encodeInto(text, bytes);
  return read === text.length ? text : decoder.decode(bytes.subarray(0, written));
}

/** The headers by name in lower case, without keys. */
export function headersOf(lines: readonly string[]): Record<string, string> {
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

/** The recorded events of a stream once more. */
function sentBody({ response, receivedAt }: RequestRecord): SentBody {
  const sent = new SentBody(LOGGED_BYTES);
  for (const { at, text } of response?.events ?? []) sent.addText(text, Date.parse(receivedAt) + at);
  sent.isCut = response?.isBodyCut ?? false;
  sent.close();
  return sent;
}

function responseOf(response: NonNullable<LogEntry['response']>, entry: LogEntry): RecordedResponse {
  const { headers, body } = response;
  const isStream = typeof body !== 'string' && entry.events !== undefined;
  return {
    headers: headersOf(Object.entries(headers).flat()),
    body: redact(typeof body === 'string' ? body : body.text()),
    isBodyCut: typeof body === 'string' ? (response.isBodyCut ?? false) : body.isCut,
    events: isStream
      ? body.chunks().map(({ at, text }) => ({ at: at - entry.receivedAt, text: redact(text) }))
      : undefined,
  };
}

/** Known kinds of keys keep their prefix. Any other credential is hidden entirely, except for its scheme. */
function redactHeader(value: string): string {
  const safe = redact(value);
  if (safe !== value) return safe;
  return /^[A-Za-z]+ /.test(value) ? `${value.slice(0, value.indexOf(' '))} ***` : '***';
}

/** The last values that were added. */
class Ring<T> {
  readonly #values: T[] = [];
  #next = 0;

  constructor(private readonly capacity: number) {}

  get isEmpty(): boolean {
    return this.#values.length === 0;
  }

  add(value: T): void {
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % this.capacity;
  }

  /** Oldest first. */
  inOrder(): readonly T[] {
    if (this.#values.length < this.capacity) return this.#values;
    return [...this.#values.slice(this.#next), ...this.#values.slice(0, this.#next)];
  }

  clear(): void {
    this.#values.length = 0;
    this.#next = 0;
  }
}

const CAPACITY = 1000;
const MOST_FOREIGN = 50;
/** How much of a body the log keeps. The log holds a thousand requests. */
export const LOGGED_BYTES = 64 * 1024;
const SECRET_HEADERS = /authorization|cookie|token|session|api-?key|secret/i;
const decoder = new TextDecoder();
