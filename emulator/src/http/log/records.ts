import { isUtf8 } from 'node:buffer';
import { redact, redacted } from '../../base/redact.js';
import { redactEvents } from '../../base/redact-events.js';
import type { Secrets } from '../../base/secrets.js';
import type { PromptTokens } from '../../text/prompt-tokens.js';
import { credentialsOf, isCutToPrefix, isSecretHeader, SCHEME } from './credentials.js';
import type { LogEntry } from './log-entry.js';
import type { RecordedResponse, RequestRecord, RequestSummary } from './request-record.js';
import { repliedIn } from './said.js';
import { subjectOf } from './subject.js';

/** The main facts of a request, without keys. `caller` is the owner of its key or token. */
export function summaryOf(entry: LogEntry, caller: string | undefined): RequestSummary {
  return redacted(facts(entry, caller), credentialsOf(entry));
}

/** A request with its response, without keys. */
export function recordOf(entry: LogEntry, caller: string | undefined): RequestRecord {
  const credentials = credentialsOf(entry);
  const sent = entry.body && decoder.decode(entry.body);
  const body = sent && redact(sent, credentials, entry.isBodyCut);
  const record = redacted(
    {
      ...facts(entry, caller),
      headers: byName(entry.headers),
      prompt: entry.prompt && promptOf(entry.prompt, credentials),
      faultResponse: entry.faultResponse,
      error: entry.error,
    },
    credentials,
  );
  return {
    ...record,
    body,
    isBodyCut: entry.isBodyCut,
    isBodyExact: !entry.isBodyCut && body === sent && (entry.body === undefined || isUtf8(entry.body)),
    response: entry.response && responseOf(entry, entry.response, credentials),
  };
}

/** A prompt with the beginnings of its messages. */
function promptOf(prompt: PromptTokens, credentials: Secrets | undefined): PromptTokens {
  const messages = prompt.messages.map(({ text, ...more }) => ({
    ...more,
    text: redact(text, credentials, text.length >= SHOWN_OF_MESSAGE),
  }));
  return { ...prompt, messages };
}

function facts(entry: LogEntry, caller: string | undefined): RequestSummary {
  // Known as soon as its body is.
  if (entry.body !== undefined || entry.outcome !== 'pending') entry.subject ??= subjectOf(entry);
  if (entry.outcome !== 'pending') entry.replied ??= repliedIn(entry);
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
    replied: entry.replied,
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
  return redacted(byName(entry.headers, entry.sessionHeader), credentialsOf(entry));
}

function byName(lines: readonly string[], sessionHeader?: string | undefined): Record<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const name = lines[i]?.toLowerCase() ?? '';
    const value = lines[i + 1] ?? '';
    const safe = isSecretHeader(name, sessionHeader) ? hidden(name, value) : redact(value);
    const before = headers.get(name);
    headers.set(name, before === undefined ? safe : `${before}, ${safe}`);
  }
  return Object.fromEntries(headers);
}

/** A known kind of key keeps its prefix. Any other credential is hidden entirely, except for its scheme. */
function hidden(name: string, value: string): string {
  const safe = redact(value);
  const [scheme = ''] = /authorization$/i.test(name) ? (SCHEME.exec(value) ?? []) : [];
  return isCutToPrefix(safe.slice(scheme.length)) ? safe : `${scheme}***`;
}

function responseOf(
  entry: LogEntry,
  { headers, body, isBodyCut = false }: NonNullable<LogEntry['response']>,
  credentials: Secrets | undefined,
): RecordedResponse {
  const texts = textsOf(entry, credentials);
  return {
    headers: redacted(byName(Object.entries(headers).flat()), credentials),
    body: texts.join(''),
    isBodyCut: typeof body === 'string' ? isBodyCut : body.isCut,
    events:
      typeof body === 'string' || entry.events === undefined
        ? undefined
        : body.chunks().map(({ at }, i) => ({ at: at - entry.receivedAt, text: texts[i] ?? '' })),
  };
}

/** The body of a response in the parts that it was sent in, without keys. */
export function textsOf(entry: LogEntry, credentials: Secrets | undefined): string[] {
  const { response, outcome, fault } = entry;
  if (response === undefined) return [];
  const { body, isBodyCut = false } = response;
  const isCut = outcome !== 'answered' || fault !== undefined;
  if (typeof body === 'string') return [redact(body, credentials, isCut || isBodyCut)];
  const texts = body.chunks().map(({ text }) => text);
  return redactEvents(texts, credentials, isCut || body.isCut);
}

/** As many characters as `promptTokensOf` keeps. */
const SHOWN_OF_MESSAGE = 80;
const decoder = new TextDecoder();
