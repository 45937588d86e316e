import { isUtf8 } from 'node:buffer';
import { NAME } from '../../base/mention.js';
import type { faultInJson } from '../../faults/faults.js';
import type { FaultResponse } from '../../faults/rule.js';
import { isSecretHeader } from '../../http/log/credentials.js';
import type { RequestRecord } from '../../http/log/request-record.js';
import { isExpression, type replyInJson } from '../bodies.js';
import type { EmulatorState } from './state.js';

/** Hides what people wrote: a letter becomes x, a digit 0. Length and punctuation stay. */
function masked(text: string): string {
  return text.replace(/[\p{L}\p{M}]/gu, 'x').replace(/\p{N}/gu, '0');
}

/** A text that names something stays. A field for names may have another text, such as prose. */
function maskedName(text: string): string {
  return NAME.test(text) || OWN_WORDS.test(text) ? text : masked(text);
}

const OWN_WORDS = /^(?:status \d{3}|scripted reply|first (?:secret|publishable) key)$/;

/** A value with all its texts masked, except names in `fields`, which only name or classify something. */
function maskedValue<T>(value: T, fields = PLAIN_FIELDS, name = ''): T {
  // Every branch returns what it was given, with other texts in it.
  if (typeof value === 'string') return (fields.has(name) ? maskedName(value) : masked(value)) as T;
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, fields, name)) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (name === 'headers') return maskedHeaders(value as Record<string, unknown>) as T;
  const distinct = distinctNames();
  const safe = Object.entries(value).map(([key, inner]) => [
    distinct(name === 'definitions' ? masked(key) : maskedName(key)),
    maskedValue(inner, fields, key),
  ]);
  return Object.fromEntries(safe) as T;
}

/** Returns a function that gives a name that it has had a number. */
function distinctNames(): (name: string) => string {
  /** The last number of each name. */
  const numbers = new Map<string, number>();
  return (name) => {
    let shown = name;
    let number = numbers.get(name) ?? 0;
    // What it makes of one name may be another.
    while (numbers.has(shown)) {
      number += 1;
      shown = `${name}-${number}`;
    }
    numbers.set(name, Math.max(1, number)).set(shown, 1);
    return shown;
  };
}

/** A request without what people wrote. A field that nothing here names is masked. */
export function maskedRequest({ path, body, response, faultResponse, ...rest }: RequestRecord): RequestRecord {
  const isOwnError = faultResponse === undefined;
  return {
    ...maskedValue(rest, RECORD_FIELDS),
    path: maskedPath(path),
    faultResponse: faultResponse && maskedEffect(faultResponse),
    body: body === undefined ? undefined : maskedBody(body),
    isBodyExact: false,
    response: response && {
      ...maskedValue(response),
      body: maskedBody(response.body, isOwnError && (rest.status ?? 0) >= 400),
      events: response.events?.map(({ at, text }) => ({ at, text: maskedBody(text, isOwnError) })),
    },
  };
}

function maskedEffect(respond: FaultResponse): FaultResponse {
  // Some variants have these fields.
  const { when, how, contentType } = respond as { when?: string; how?: string; contentType?: string };
  return {
    ...maskedValue(respond),
    ...(when && { when }),
    ...(how && { how }),
    ...(contentType && { contentType: maskedMedia(contentType) }),
  } as FaultResponse;
}

function maskedMedia(type: string): string {
  return MEDIA.test(type) ? type : masked(type);
}

/** A name or an id in a path stays, and so does an id in a query. */
function maskedPath(path: string): string {
  const [place = '', query] = path.split(/\?(.*)/s);
  // A + may stand for a space.
  const inPath = (part: string): string => (part === '*' ? part : part.includes('+') ? masked(part) : maskedName(part));
  const segments = place.split('/').map(inPath);
  if (query === undefined) return segments.join('/');
  const fields = query.split('&').map((field) => {
    const [name = '', value] = field.split(/=(.*)/s);
    if (value === undefined) return masked(name);
    return `${inPath(name)}=${/^(?:conv|msg)_[\w-]*$/.test(value) ? value : masked(value)}`;
  });
  return `${segments.join('/')}?${fields.join('&')}`;
}

/** Headers of the protocol stay, and names in those of the APIs and of the emulator. */
function maskedHeaders(headers: Record<string, unknown>): Record<string, unknown> {
  const lines = Object.entries(headers).map(([name, value]) => {
    const text = String(value);
    if (isSecretHeader(name)) return [maskedName(name), text.endsWith('***') ? text : '***'];
    const isKept = PROTOCOL_HEADERS.test(name) && !PROSE.test(text);
    const isMedia = /^content-type$/i.test(name) && MEDIA.test(text);
    return [maskedName(name), isKept || isMedia ? text : NAMING_HEADERS.test(name) ? maskedName(text) : masked(text)];
  });
  return Object.fromEntries(lines);
}

const PROTOCOL_HEADERS =
  /^(?:accept|accept-encoding|accept-language|access-control-expose-headers|allow|cache-control|connection|content-length|date|host|user-agent|vary)$/i;
/** Words that only a space separates. A date has a comma before them, and a browser's name has versions. */
const PROSE = /^(?!Mozilla\/|\w{3}, \d\d ).*[a-z] +[a-z]/i;
const NAMING_HEADERS =
  /^(?:access-control-[\w-]+|idempotency-key|retry-after|traceparent|x-call-attempt|x-emulator-[\w-]+|x-ratelimit-[\w-]+|x-request-id)$/i;
const MEDIA = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w"'.-]+)*$/;

/** JSON, or server-sent events of JSON; any other text is masked whole. */
function maskedBody(body: string, isOwnError = false): string {
  if (!/^(?:data)?:/.test(body)) return maskedJson(body, isOwnError);
  return body.replace(/^.+$/gm, (line) => {
    const [, data] = /^data: ?(.*)$/.exec(line) ?? [];
    if (data === '[DONE]') return line;
    return data === undefined ? masked(line) : `data: ${maskedJson(data, isOwnError)}`;
  });
}

function maskedJson(text: string, isOwnError: boolean): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return masked(text);
  }
  const safe = maskedValue(value);
  return JSON.stringify(isOwnError ? withMessage(safe, value) : safe);
}

/** The message of an error of the emulator is what a case is about. What it quotes stands in double quotes. */
function withMessage(safe: unknown, given: unknown): unknown {
  const { error } = Object(given) as { error?: unknown };
  if (typeof error === 'string') return { ...Object(safe), error: withoutQuotes(error) };
  const { message } = Object(error) as { message?: unknown };
  if (typeof message !== 'string') return safe;
  return { ...Object(safe), error: { ...Object(safe).error, message: withoutQuotes(message) } };
}

function withoutQuotes(message: string): string {
  return message.replace(/"(?:[^"\\]|\\.)*"?/g, (quote) => masked(quote));
}

/** Records whose ids are still distinct after they were masked. */
function distinct<T extends { id: string }>(records: readonly T[]): T[] {
  const distinct = distinctNames();
  return records.map((record) => ({ ...record, id: distinct(record.id) }));
}

/** A fault rule without what people wrote. */
export function maskedFault({
  match,
  respond,
  ...rule
}: ReturnType<typeof faultInJson>): ReturnType<typeof faultInJson> {
  const { method, path, header, ...more } = match;
  return {
    ...rule,
    match: {
      ...more,
      ...(method === undefined ? {} : { method: maskedName(method) }),
      ...(path === undefined ? {} : { path: maskedPath(String(path)) }),
      ...(header && { header: maskedHeaders(header) as Record<string, string> }),
    },
    respond: maskedEffect(respond),
  };
}

/** A scripted reply without what people wrote. */
export function maskedReply({ id, match, reply }: ReturnType<typeof replyInJson>): ReturnType<typeof replyInJson> {
  return { id, match: typeof match === 'string' ? masked(match) : maskedExpression(match), reply: maskedValue(reply) };
}

/** An escape is not valid with other letters. */
function maskedExpression({ pattern, ...rest }: { pattern: string; flags?: string | undefined }) {
  const expression = { ...rest, pattern: masked(pattern.replace(/\\(?:[pPku]\{?|.)/g, '.')) };
  return isExpression(expression) ? expression : { ...rest, pattern: 'x' };
}

/** A snapshot without what people wrote. Ids, roles, times, names of models and keys stay. */
export function maskedState(state: EmulatorState): EmulatorState {
  return {
    ...state,
    ...(state.plan && { plan: maskedValue(state.plan) }),
    ...(state.models && { models: maskedValue(state.models) }),
    apiKeys: state.apiKeys.map((key) => ({ ...key, name: maskedName(key.name) })),
    sessions: state.sessions.map((one) => ({ ...one, userId: maskedName(one.userId) })),
    workspaces: state.workspaces.map((one) => ({ ...maskedValue(one), members: one.members.map(maskedName) })),
    conversations: distinct(maskedValue(state.conversations)).map((one) => ({
      ...one,
      messages: distinct(one.messages),
    })),
    memory: maskedValue(state.memory),
    presets: state.presets.map((preset) => ({ ...maskedValue(preset), template: maskedTemplate(preset.template) })),
    files: state.files.map((file) => ({
      ...maskedValue(file),
      contentType: maskedMedia(file.contentType),
      content: inContent(file.content, maskedContent),
    })),
    ...(state.integrations && { integrations: state.integrations.map(maskedIntegration) }),
    integrationExecutions: state.integrationExecutions.map(({ integration, action, fields, ...done }) => ({
      ...done,
      integration: maskedName(integration),
      action: maskedName(action),
      fields: maskedValue(fields),
    })),
    usage: state.usage.map(({ key, conversation, ...used }) => ({
      ...used,
      model: maskedName(used.model),
      key: key && { ...key, name: maskedName(key.name) },
      conversation: conversation && maskedName(conversation),
    })),
    // Stored responses have replies in them.
    idempotency: [],
  };
}

/** Changes the text of a file, which a snapshot has as base64. */
export function inContent(content: string, change: (text: string) => string): string {
  const bytes = Buffer.from(content, 'base64');
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  return Buffer.from(change(bytes.toString(encoding)), encoding).toString('base64');
}

/** Masks the text of a file. In an unknown encoding, any byte that is not ASCII may be a part of a letter. */
function maskedContent(text: string): string {
  return masked(text).replace(/[\x80-\uffff]/g, 'x');
}

/** The names of actions and fields are what a call must name. */
function maskedIntegration(integration: NonNullable<EmulatorState['integrations']>[number]): typeof integration {
  const actions = integration.actions.map((action) => ({
    ...maskedValue(action),
    name: maskedName(action.name),
    ...(action.fields && { fields: action.fields.map((field) => ({ ...field, name: maskedName(field.name) })) }),
  }));
  return { ...maskedValue(integration), actions };
}

function maskedTemplate(template: string): string {
  return template
    .split('{{input}}')
    .map((part) => masked(part))
    .join('{{input}}');
}

/** Fields whose texts name or classify something. */
const PLAIN_FIELDS = new Set(
  (
    'id model role object type finish_reason code param section category level cause summarizer status messageId ' +
    'conversationId workspaceId ownerId userId requestId createdAt updatedAt pinnedAt at timestamp lastUpdated ' +
    'lastCompactionAt summarySourceHash leftOut purpose preset_id'
  ).split(' '),
);
/** The same for the facts of a logged request. */
const RECORD_FIELDS = new Set([
  ...PLAIN_FIELDS,
  ...'method caller receivedAt outcome fault answeredBy call by first conversation stoppedBy file part'.split(' '),
  ...'name unit endsAt'.split(' '),
]);
