import { setImmediate } from '../../base/real-timers.js';
import { redact } from '../../base/redact.js';
import { EventScanner } from '../../base/redact-events.js';
import { Attempts } from './attempts.js';
import { credentialsOf, isSecretHeader } from './credentials.js';
import type { LogEntry } from './log-entry.js';
import { recordOf, summaryOf } from './records.js';
import type { EndedRequest, RequestRecord, RequestSummary, SentEvent } from './request-record.js';
import { SentBody } from './sent-body.js';

/** The last requests. When it is full, a new request replaces the oldest. */
export class RequestLog {
  readonly #entries: LogEntry[] = [];
  /** Apart, so that no page of another machine can push the others out. */
  readonly #foreign: LogEntry[] = [];
  readonly #listeners = new Set<(entry: LogEntry) => void>();
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #attempts = new Attempts();
  #added = 0;
  #summaries: string | undefined;

  /** `callerOf` returns the owner of a key or a token. */
  constructor(private readonly callerOf: (credential: string) => string | undefined) {}

  add(entry: LogEntry): void {
    entry.isForeign &&= this.#callerName(entry) === undefined;
    this.#keep(entry);
  }

  #keep(entry: LogEntry): void {
    this.#added += 1;
    entry.order = this.#added;
    const [entries, most] = entry.isForeign ? [this.#foreign, MOST_FOREIGN] : [this.#entries, CAPACITY];
    entries.push(entry);
    if (entries.length > most) entries.shift();
    this.changed(entry);
  }

  /** Adds a request of another emulator's log. `credential` takes the place of its hidden key. */
  import(record: RequestRecord, credential: string): void {
    if (this.entry(record.requestId) !== undefined) return;
    const { response, body, receivedAt, duration } = record;
    const headers = Object.entries(record.headers).map(([name, value]) => {
      return [name, value === '***' || (isSecretHeader(name) && value.includes('***')) ? credential : value];
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
      subject: { model: record.model, conversation: record.conversation, asked: record.asked },
      response: response && { ...response, body: response.events === undefined ? response.body : sentBody(record) },
      isForeign: false,
      isImported: true,
    };
    this.#keep(entry);
  }

  /** Joins a request whose body is known to the failed one that it repeats. */
  link(entry: LogEntry): void {
    this.#attempts.link(entry);
  }

  /** Notifies the listeners of a change in a request. */
  changed(entry: LogEntry): void {
    this.#summaries = undefined;
    this.#attempts.ended(entry);
    if (entry.outcome !== 'pending') for (const follower of this.#followersOf(entry)) follower.end(entry);
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
      if (entry.outcome === 'pending') return;
      const error = entry.error && redact(entry.error, credentialsOf(entry));
      listener({ ...this.summary(entry), error });
    });
  }

  /** Passes an event of a response on to those who follow the request. */
  sent(entry: LogEntry, index: number, at: number, event: string | Uint8Array): void {
    for (const follower of this.#followersOf(entry))
      follower.push({
        index,
        at: at - entry.receivedAt,
        text: typeof event === 'string' ? event : decoder.decode(event),
      });
  }

  /** Calls the listener with each event of a response, as soon as no key can be in it. Returns a function that removes the listener. */
  follow(entry: LogEntry, listener: (event: SentEvent) => void): () => void {
    const follower = new Follower(entry, listener);
    const all = this.#followersOf(entry);
    this.#followers.set(entry.requestId, all.add(follower));
    return () => {
      all.delete(follower);
      if (all.size === 0) this.#followers.delete(entry.requestId);
    };
  }

  #followersOf({ requestId }: LogEntry): Set<Follower> {
    return this.#followers.get(requestId) ?? new Set();
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
    return summaryOf(entry, this.#callerName(entry));
  }

  clear(): void {
    this.#entries.length = 0;
    this.#foreign.length = 0;
    this.#attempts.clear();
    this.#summaries = undefined;
  }

  #inOrder(): readonly LogEntry[] {
    if (this.#foreign.length === 0) return this.#entries;
    return [...this.#entries, ...this.#foreign].sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  }

  #record(entry: LogEntry): RequestRecord {
    return recordOf(entry, this.#callerName(entry));
  }

  #callerName(entry: LogEntry): string | undefined {
    entry.owner ??= { name: this.#findCaller(entry) };
    return entry.owner.name;
  }

  #findCaller({ headers, sessionHeader }: LogEntry): string | undefined {
    for (let i = 0; i + 1 < headers.length; i += 2) {
      if (!isSecretHeader(headers[i] ?? '', sessionHeader)) continue;
      const value = headers[i + 1] ?? '';
      const caller = this.callerOf(value.slice(value.indexOf(' ') + 1));
      if (caller !== undefined) return caller;
    }
    return undefined;
  }
}

/** Follows a response while it is sent, from its first event on. */
class Follower {
  readonly #scanner: EventScanner;
  readonly #waiting: SentEvent[] = [];

  constructor(
    entry: LogEntry,
    private readonly listener: (event: SentEvent) => void,
  ) {
    this.#scanner = new EventScanner(credentialsOf(entry), MOST_WAITING);
    const { response, receivedAt } = entry;
    if (typeof response?.body !== 'object') return;
    for (const [index, { at, text }] of response.body.chunks().entries())
      this.push({ index, at: at - receivedAt, text });
    if (response.body.isCut) this.#scanner.skip();
    if (entry.outcome !== 'pending') this.end(entry);
  }

  push(event: SentEvent): void {
    this.#waiting.push(event);
    this.#pass(this.#scanner.push(event.text));
  }

  end({ outcome, fault }: LogEntry): void {
    this.#pass(this.#scanner.end(outcome !== 'answered' || fault !== undefined));
  }

  #pass(texts: readonly string[]): void {
    const events = this.#waiting.splice(0, texts.length);
    for (const [i, event] of events.entries()) this.listener({ ...event, text: texts[i] ?? '' });
  }
}

/** Cuts a text to `LOGGED_BYTES`. A cut text is a copy, because a substring would keep the whole string in memory. */
export function truncate(text: string): string {
  // No UTF-16 code unit takes more than three bytes in UTF-8.
  if (text.length * 3 <= LOGGED_BYTES) return text;
  const bytes = new Uint8Array(LOGGED_BYTES);
  const { read, written } = new TextEncoder().encodeInto(text, bytes);
  return read === text.length ? text : decoder.decode(bytes.subarray(0, written));
}

/** The recorded events of a stream once more. */
function sentBody({ response, receivedAt }: RequestRecord): SentBody {
  const sent = new SentBody(LOGGED_BYTES);
  for (const { at, text } of response?.events ?? []) sent.addText(text, Date.parse(receivedAt) + at);
  sent.isCut = response?.isBodyCut ?? false;
  sent.close();
  return sent;
}

const CAPACITY = 1000;
const MOST_FOREIGN = 50;
/** In characters. */
const MOST_WAITING = 64 * 1024;
/** How much of a body the log keeps. The log holds a thousand requests. */
export const LOGGED_BYTES = 64 * 1024;
const decoder = new TextDecoder();
