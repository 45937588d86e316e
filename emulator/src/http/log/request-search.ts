import * as z from 'zod/mini';
import { count, described } from '../../base/fields.js';
import { redact } from '../../base/redact.js';
import type { Sliced } from '../../base/slices.js';
import { type Excerpt, excerpt, finder } from '../../text/excerpt.js';
import { credentialsOf } from './credentials.js';
import type { LogEntry } from './log-entry.js';
import { headersOf, textsOf } from './records.js';
import type { RequestLog } from './request-log.js';
import { type RequestSummary, requestSummary } from './request-record.js';

const timeText = z.string().check(z.refine((given) => given === '' || !Number.isNaN(Date.parse(given)), 'not a time'));
/** Which requests of the log. */
export const requestFilter = z.object({
  q: z.optional(
    described('Words, each in the path, the headers, the bodies, or a fact such as 429, failed or a key.', z.string()),
  ),
  code: z.optional(z.string()),
  status: z.optional(
    z.string().check(z.regex(/^(?:[1-5]\d\d|[1-5]xx|ok|failed|)$/, 'a status such as 429, or 4xx, 5xx, ok, failed')),
  ),
  conversation: z.optional(z.string()),
  key: z.optional(described('The name of the API key, or the user of the session.', z.string())),
  model: z.optional(z.string()),
  from: z.optional(timeText),
  to: z.optional(timeText),
  fault: z.optional(described('Only those to which a fault was applied.', z.enum(['true', 'false']))),
});
/** What a request must have to be found. */
export interface RequestQuery extends z.infer<typeof requestFilter> {
  /** Only those before this request. */
  before?: string | undefined;
  limit?: number | undefined;
}

export const foundRequests = z.object({
  total: count,
  requests: z.array(
    z.object({
      ...requestSummary.shape,
      match: z.optional(z.object({ ...excerpt.shape, in: z.enum(['path', 'request', 'response']) })),
    }),
  ),
  next: z.optional(described('The `before` of the next page.', z.string())),
});
/** Requests that were found, newest first, and how many there are. */
type FoundRequests = z.infer<typeof foundRequests>;
type Match = FoundRequests['requests'][number]['match'];

/** Searches the log. */
export function* searchRequests(log: RequestLog, query: RequestQuery): Sliced<FoundRequests> {
  const { before, limit = 100, q = '' } = query;
  const finders = q.split(/\s+/).filter(Boolean).map(finder);
  const found: FoundRequests = { total: 0, requests: [] };
  let isOlder = before === undefined;
  for (const entry of [...log.entries()].reverse()) {
    yield;
    const summary = log.summary(entry);
    const match = fits(summary, query) && matchOf(entry, summary, finders);
    if (match) {
      found.total += 1;
      const last = found.requests.at(-1);
      if (isOlder && found.requests.length < limit)
        found.requests.push(match === true ? summary : { ...summary, match });
      else if (isOlder) found.next ??= last?.requestId;
    }
    if (entry.requestId === before) isOlder = true;
  }
  return found;
}

function fits(request: RequestSummary, query: RequestQuery): boolean {
  const { code, status, conversation, key, model, from, to, fault } = query;
  const isSame = (wanted: string | undefined, value: string | undefined): boolean =>
    wanted === undefined || wanted === '' || wanted === value;
  const time = Date.parse(request.receivedAt);
  return (
    isSame(code, request.code) &&
    isSame(conversation, request.conversation) &&
    isSame(key, request.caller) &&
    isSame(model, request.model) &&
    (status === undefined || status === '' || hasStatus(request, status)) &&
    (!from || time >= Date.parse(from)) &&
    (!to || time <= Date.parse(to)) &&
    (fault !== 'true' || request.fault !== undefined)
  );
}

function hasStatus({ status = 0, outcome }: RequestSummary, wanted: string): boolean {
  const isFailed = status >= 400 || !(outcome === 'answered' || outcome === 'pending');
  if (wanted === 'failed') return isFailed;
  if (wanted === 'ok') return !isFailed;
  return wanted.endsWith('xx') ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted);
}

/** Where the first word is found, if each is found somewhere. It is true without a place, as in facts that rows show. */
function matchOf(
  entry: LogEntry,
  summary: RequestSummary,
  finders: readonly ((text: string) => Excerpt | undefined)[],
): Match | boolean {
  const { method, status, outcome, caller, model, code, conversation, fault, limit } = summary;
  const state = hasStatus(summary, 'failed') ? 'failed' : 'ok';
  const facts = [method, status, outcome, state, caller, model, code, conversation, fault, limit?.name].join('\n');
  const matches = finders.map((find) => find(facts) !== undefined || matchIn(entry, find));
  return matches.every(Boolean) && (matches.find((match) => typeof match === 'object') ?? true);
}

/** Where a text is found first. */
function matchIn(entry: LogEntry, find: (text: string) => Excerpt | undefined): Match {
  // Hiding keys takes longer than searching, so it is done only where something was found.
  const credentials = credentialsOf(entry);
  const inPath = find(entry.path) && find(redact(entry.path, credentials));
  if (inPath !== undefined) return { ...inPath, in: 'path' };
  const headers = Object.entries(headersOf(entry)).map(([name, value]) => `${name}: ${value}`);
  const sent = entry.body === undefined ? '' : decoder.decode(entry.body);
  const inRequest = find(headers.join('\n')) ?? (find(sent) && find(redact(sent, credentials, entry.isBodyCut)));
  if (inRequest !== undefined) return { ...inRequest, in: 'request' };
  const body = entry.response?.body ?? '';
  const inResponse = find(typeof body === 'string' ? body : body.text()) && find(textsOf(entry, credentials).join(''));
  return inResponse && { ...inResponse, in: 'response' };
}

const decoder = new TextDecoder();
