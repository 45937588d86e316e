import { isUtf8 } from 'node:buffer';
import { redact, redactEvents, redacted } from '../../base/redact.js';
import { credentialsOf, isSecretHeader, SCHEME } from './credentials.js';
import type { LogEntry } from './log-entry.js';
import type { RecordedResponse, RequestRecord, RequestSummary } from './request-record.js';
import { subjectOf } from './subject.js';

/** The main facts of a request, without keys. `caller` is the owner of its key or token. */
export function summaryOf(entry: LogEntry, caller: string | undefined): RequestSummary {
  return redacted(facts(entry, caller), credentialsOf(entry));
}

/** A request with its response, without keys. */
export function recordOf(entry: LogEntry, caller: string | undefined): RequestRecord {
  const credentials = credentialsOf(entry);
  const sent = entry.body && decoder.decode(entry.body);
  const record = redacted(
    {
      ...facts(entry, caller),
      headers: byName(entry.headers),
      prompt: entry.prompt,
      faultResponse: entry.faultResponse,
      body: sent,
      isBodyCut: entry.isBodyCut,
      error: entry.error,
    },
    credentials,
  );
  return {
    ...record,
    isBodyExact: !entry.isBodyCut && record.body === sent && (entry.body === undefined || isUtf8(entry.body)),
    response: entry.response && responseOf(entry.response, entry, credentials),
  };
}

function facts(entry: LogEntry, caller: string | undefined): RequestSummary {
  // Known as soon as its body is.
  if (entry.body !== undefined || entry.outcome !== 'pending') entry.subject ??= subjectOf(entry);
  return {
    requestId: entry.requestId,
    method: entry.method,
    path: entry.path,
    caller,
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

/** Who ended the response before its end. */
function stoppedBy({ outcome, fault, events, code }: LogEntry): RequestSummary['stoppedBy'] {
  if (outcome === 'aborted') return 'client';
  if (outcome === 'reset' || outcome === 'cut') return fault === undefined ? 'emulator' : 'fault';
  return outcome === 'answered' && events !== undefined && code === 'upstream_unavailable' ? 'upstream' : undefined;
}

/** The headers of a request by name in lower case, without credentials. */
export function headersOf(entry: LogEntry): Record<string, string> {
  return redacted(byName(entry.headers), credentialsOf(entry));
}

function byName(lines: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const name = lines[i]?.toLowerCase() ?? '';
    const value = lines[i + 1] ?? '';
    const safe = isSecretHeader(name) ? hidden(name, value) : redact(value);
    const before = headers.get(name);
    headers.set(name, before === undefined ? safe : `${before}, ${safe}`);
  }
  return Object.fromEntries(headers);
}

/** A known kind of key keeps its prefix. Any other credential is hidden entirely, except for its scheme. */
function hidden(name: string, value: string): string {
  const safe = redact(value);
  const [scheme = ''] = /authorization$/i.test(name) ? (SCHEME.exec(value) ?? []) : [];
  return safe !== value && /^[\w-]*\*\*\*$/.test(safe.slice(scheme.length)) ? safe : `${scheme}***`;
}

function responseOf(
  { headers, body, isBodyCut = false }: NonNullable<LogEntry['response']>,
  entry: LogEntry,
  credentials: readonly string[],
): RecordedResponse {
  const text = typeof body === 'string' ? body : body.text();
  const isStream = typeof body !== 'string' && entry.events !== undefined;
  const safe = isStream ? redactEvents([text], credentials).join('') : redact(text, credentials);
  return {
    headers: redacted(byName(Object.entries(headers).flat()), credentials),
    body: safe,
    isBodyCut: typeof body === 'string' ? isBodyCut : body.isCut,
    events: isStream ? safeEvents(body.chunks(), entry, { text, safe, credentials }) : undefined,
  };
}

/** The events of a stream. If they were cut within a piece that has a key, they are one. */
function safeEvents(
  chunks: readonly { at: number; text: string }[],
  { receivedAt }: LogEntry,
  body: { text: string; safe: string; credentials: readonly string[] },
): { at: number; text: string }[] {
  const events = chunks.map(({ at, text }) => ({ at: at - receivedAt, text }));
  if (body.safe === body.text) return events;
  const texts = redactEvents(
    events.map(({ text }) => text),
    body.credentials,
  );
  const safe = events.map(({ at }, i) => ({ at, text: texts[i] ?? '' }));
  const isWhole = safe.map(({ text }) => text).join('') === body.safe;
  return isWhole ? safe : [{ at: safe.at(-1)?.at ?? 0, text: body.safe }];
}

const decoder = new TextDecoder();
