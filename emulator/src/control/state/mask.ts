import type { RequestRecord } from '../../http/log/request-record.js';
import type { EmulatorState } from './state.js';

/** Hides what people wrote: a letter becomes x, a digit 0. Length and punctuation stay. */
export function masked(text: string): string {
  return text.replace(/[\p{L}\p{M}]/gu, 'x').replace(/\p{N}/gu, '0');
}

/** A text that names something, as ids, roles, times and models are written. A field may have another, such as prose. */
const NAME = /^[\w.:/+@~-]*$/;

/** A value with all its texts masked, except names in fields that only name or classify something. */
export function maskedValue<T>(value: T, name = ''): T {
  // Every branch returns what it was given, with other texts in it.
  if (typeof value === 'string') return (PLAIN_FIELDS.has(name) && NAME.test(value) ? value : masked(value)) as T;
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, name)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const isByTerm = name === 'definitions';
  const entries = Object.entries(value).map(([key, inner]) => [isByTerm ? masked(key) : key, maskedValue(inner, key)]);
  return Object.fromEntries(entries) as T;
}

/** A request without what people wrote in its bodies. */
export function maskedRequest(record: RequestRecord): RequestRecord {
  const { body, response, prompt } = record;
  const isError = (record.status ?? 0) >= 400;
  return {
    ...record,
    path: maskedPath(record.path),
    model: record.model && maskedName(record.model),
    conversation: record.conversation && maskedName(record.conversation),
    headers: Object.fromEntries(
      Object.entries(record.headers).map(([name, value]) => [name, name === IDEMPOTENCY ? maskedName(value) : value]),
    ),
    body: body === undefined ? undefined : maskedBody(body),
    isBodyExact: false,
    prompt: prompt && {
      ...prompt,
      messages: prompt.messages.map((message) => ({ ...message, text: masked(message.text) })),
    },
    response: response && {
      ...response,
      // The message of an error is what the case is about.
      body: isError ? response.body : maskedBody(response.body),
      events: response.events?.map(({ at, text }) => ({ at, text: maskedBody(text) })),
    },
    error: record.error === undefined ? undefined : masked(record.error),
  };
}

const IDEMPOTENCY = 'idempotency-key';

/** Ids, as in a path or a query, stay; a part with anything else than a name is masked. */
function maskedPath(path: string): string {
  const [place = '', query] = path.split(/\?(.*)/s);
  const segments = place.split('/').map(maskedName).join('/');
  const fields = query?.replace(/=(?!(?:conv|msg)_[\w-]*(?:&|$))[^&]*/g, (text) => masked(text));
  return fields === undefined ? segments : `${segments}?${fields}`;
}

function maskedName(text: string): string {
  return NAME.test(text) ? text : masked(text);
}

/** JSON, or server-sent events of JSON; any other text is masked whole. */
function maskedBody(body: string): string {
  if (body.startsWith('data:') || body.startsWith(':')) {
    return body.replace(/^data: ?(.*)$/gm, (line, data) => (data === '[DONE]' ? line : `data: ${maskedJson(data)}`));
  }
  return maskedJson(body);
}

function maskedJson(text: string): string {
  try {
    return JSON.stringify(maskedValue(JSON.parse(text)));
  } catch {
    return masked(text);
  }
}

/** A snapshot without what people wrote. Ids, roles, times, names of models and keys stay. */
export function maskedState(state: EmulatorState): EmulatorState {
  const { conversations, memory, presets, files, integrations, integrationExecutions } = state;
  return {
    ...state,
    conversations: maskedValue(conversations),
    memory: maskedValue(memory),
    presets: presets.map((preset) => ({ ...preset, template: maskedTemplate(preset.template) })),
    files: files.map((file) => {
      const text = masked(Buffer.from(file.content, 'base64').toString('latin1'));
      return { ...file, filename: masked(file.filename), content: Buffer.from(text, 'latin1').toString('base64') };
    }),
    ...(integrations && { integrations }),
    integrationExecutions: integrationExecutions.map((done) => ({ ...done, fields: maskedValue(done.fields) })),
    // Stored responses have replies in them.
    idempotency: [],
  };
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
