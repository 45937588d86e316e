import { isObject } from '../base/objects.js';
import { speakerOf } from '../base/speaker.js';
import { toWellFormed as wellFormed } from '../base/unicode.js';
import { RequestValidationError, type ToolCall } from '../index.js';
import type { Content } from './content.js';
import type { ConversationMessage } from './model.js';

export { wellFormed };

/** A time as it is stored. A `Date` of each message would take half of a search. */
const ISO = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Returns a short hash of a text (FNV-1a), always of seven characters. Not for security. */
export function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36).padStart(7, '0');
}

/** When a message was written, in ISO 8601, if that is known. */
export function timeOf({ createdAt }: { createdAt?: string | number | Date | null | undefined }): string | undefined {
  if (typeof createdAt === 'string' && ISO.test(createdAt)) return createdAt;
  const time = new Date(createdAt ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** A message of a request. */
export interface SentMessage {
  role: string;
  /** `null` beside `tool_calls`, if there is no text. */
  content: Content | null;
  tool_calls?: readonly ToolCall[] | undefined;
  tool_call_id?: string | undefined;
}

/** The result of a call that has none: it waited for the app, its process ended, or it is left out. */
export const NOT_RUN = 'This call was not run.';

/**
 * The messages of a request, from whatever part of the prompt. Without those that are excluded, except the `question`, and without
 * replies that have no text, which a service may reject. Each call of a tool has one result, and each result its call.
 */
export function sentMessages(messages: readonly ConversationMessage[], question?: ConversationMessage): SentMessage[] {
  return piecesOf(messages, question).flatMap(({ messages: sent }) => sent);
}

/** What is sent, left out and cut together: a message, or a call and its results. */
export interface Piece {
  /** Its index among the messages that were given. */
  at: number;
  messages: SentMessage[];
}

/** The pieces of `sentMessages`. */
export function piecesOf(messages: readonly ConversationMessage[], question?: ConversationMessage): Piece[] {
  const pieces: Piece[] = [];
  let open = new OpenCalls();
  const end = (): void => {
    for (const tool_call_id of open.ids())
      pieces.at(-1)?.messages.push({ role: 'tool', tool_call_id, content: NOT_RUN });
    open = new OpenCalls();
  };
  for (const [at, message] of messages.entries()) {
    if (message !== question && !isSent(message)) continue;
    if (message.role === 'tool') {
      if (open.take(message)) pieces.at(-1)?.messages.push(asSent(message));
      continue;
    }
    end();
    pieces.push({ at, messages: [asSent(message)] });
    open = new OpenCalls(message);
  }
  end();
  return pieces;
}

/** The calls of a message that have no result yet. A service may give two of them one id: each takes one result. */
export class OpenCalls {
  readonly #left = new Map<string, number>();
  size = 0;

  constructor({ tool_calls = [] }: Pick<ConversationMessage, 'tool_calls'> = {}) {
    for (const { id } of tool_calls) this.#left.set(id, (this.#left.get(id) ?? 0) + 1);
    this.size = tool_calls.length;
  }

  /** Whether a result is that of one of them, which then has it. */
  take({ tool_call_id = '' }: Pick<ConversationMessage, 'tool_call_id'>): boolean {
    const left = this.#left.get(tool_call_id) ?? 0;
    if (left === 0) return false;
    this.#left.set(tool_call_id, left - 1);
    this.size -= 1;
    return true;
  }

  ids(): string[] {
    return [...this.#left].flatMap(([id, left]) => Array<string>(left).fill(id));
  }
}

/** Whether a message may be a part of a request. */
export function isSent({ role, content, excluded, tool_calls }: ConversationMessage): boolean {
  return excluded !== true && (role === 'tool' || (tool_calls?.length ?? 0) > 0 || !isBlank(content));
}

/** Whether a content says nothing. */
export function isBlank(content: Content): boolean {
  return typeof content === 'string' ? content.trim() === '' : content.length === 0;
}

/** A message as a model reads it: that of a user with the speaker, if it has a name. */
export function asSent({ role, name, content, tool_calls, tool_call_id }: ConversationMessage): SentMessage {
  const speaker = role === 'user' ? speakerOf({ name }) : undefined;
  if (tool_calls !== undefined && tool_calls.length > 0)
    return { role, content: isBlank(content) ? null : wellFormedIn(content), tool_calls };
  if (role === 'tool') return { role, content: wellFormedIn(content), tool_call_id };
  if (speaker === undefined) return { role, content: wellFormedIn(content) };
  if (typeof content === 'string') return { role, content: wellFormed(`[${speaker}] ${content}`) };
  return { role, content: [{ type: 'text', text: `[${speaker}]` }, ...content] };
}

function wellFormedIn(content: Content): Content {
  if (typeof content === 'string') return wellFormed(content);
  return content.map((part) => (part.type === 'text' ? { ...part, text: wellFormed(part.text) } : part));
}

/** Copies an input, so that later changes by the caller change nothing. @throws {RequestValidationError} */
export function messagesOf(input: string | readonly ConversationMessage[]): ConversationMessage[] {
  const given = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  checkInput(given);
  const ids = given.flatMap(({ id }) => id ?? []);
  if (!ids.every((id) => ID.test(id))) throw badInput('input.id', 'must be 1 to 128 printable ASCII characters');
  const messages = cleaned([...given]);
  if (messages.length === 0 || messages.some((message) => !isSent({ ...message, excluded: false })))
    throw badInput('input', 'must not be empty');
  if (new Set(ids).size < ids.length) throw badInput('input.id', 'must not be that of another message of the input');
  if (ids.length > 0 && ids.length < messages.length)
    throw badInput('input', 'must have an id for each message, or none');
  return messages;
}

const ID = /^[ -~]{1,128}$/;
/** What no database takes in a text, and what UTF-8 cannot write. */
const UNSTORABLE = /[\0\ud800-\udfff]/gu;

/** A copy of JSON whose texts can be stored anywhere: without U+0000, and without surrogates that stand alone. */
export function cleaned<T>(value: T): T {
  // Every branch returns what it was given, with other texts in it.
  if (typeof value === 'string') return value.replace(UNSTORABLE, '') as T;
  if (Array.isArray(value)) return value.map(cleaned) as T;
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [cleaned(name), cleaned(one)])) as T;
}

function isPlain(value: unknown): value is object {
  const prototype: unknown = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined;
  return prototype === Object.prototype || prototype === null;
}

/** @throws {RequestValidationError} that names the message and its field */
function checkInput(messages: unknown): asserts messages is readonly ConversationMessage[] {
  const expected = 'must be a text, or an array of { role, content }, each with an id if you have one';
  if (!Array.isArray(messages)) throw badInput('input', expected);
  for (const [at, message] of messages.entries()) {
    const [field, problem] = findBadField(message) ?? [];
    if (field !== undefined) throw badInput(['input', at, field], problem);
    if (isLarge(message)) throw badInput(['input', at, 'content'], TOO_LARGE);
  }
}

/** Characters of a data URL that is stored, and sent again with the turns that follow. */
const LARGEST_DATA = 256 * 1024;
const TOO_LARGE =
  'has data of more than 256 kB, which would be stored and sent with each turn that follows: upload it with gateway.files, and pass its URL';

function isLarge({ content }: ConversationMessage): boolean {
  return typeof content !== 'string' && content.some((part) => JSON.stringify(part).length > LARGEST_DATA);
}

/** What an input asks: the last message of the user. */
export function questionIn<Message extends { role: string }>(input: readonly Message[]): Message | undefined {
  return input.findLast(({ role }) => role === 'user');
}

export function badInput(path: string | (string | number)[], message = ''): RequestValidationError {
  return new RequestValidationError([{ path: [path].flat(), message }]);
}

/** Finds what is wrong with a message of a user or the assistant: the field, and what it must be. */
export function findBadField(value: unknown): [field: string, message: string] | undefined {
  const fields = Object(value) as Record<string, unknown>;
  const { role, content, id, name, createdAt, excluded, stopped, replyTo, reply, recalled } = fields;
  const { finish_reason, model, usage, tool_calls, tool_call_id } = fields;
  if (role !== 'user' && role !== 'assistant' && role !== 'tool')
    return ['role', "must be 'user', 'assistant' or 'tool'; pass a system message as instructions"];
  if (!isContent(content)) return ['content', "must be a string, or an array of parts such as { type: 'text', text }"];
  if (tool_calls !== undefined && (role !== 'assistant' || !isCalls(tool_calls)))
    return ['tool_calls', 'must be an array of { id, function: { name, arguments } }, in a message of the assistant'];
  if ((role === 'tool') !== (typeof tool_call_id === 'string'))
    return ['tool_call_id', "must be the id of a call, in a message with the role 'tool'"];
  if (id !== undefined && typeof id !== 'string') return ['id', 'must be a string'];
  if (name !== undefined && typeof name !== 'string') return ['name', 'must be a string'];
  if (createdAt !== undefined && !isTime(createdAt)) return ['createdAt', 'must be a Date, or a string in ISO 8601'];
  if (excluded !== undefined && typeof excluded !== 'boolean') return ['excluded', 'must be a boolean'];
  if (stopped !== undefined && typeof stopped !== 'boolean') return ['stopped', 'must be a boolean'];
  for (const [name, value] of Object.entries({ replyTo, reply, finish_reason, model }))
    if (value !== undefined && typeof value !== 'string') return [name, 'must be a string'];
  if (usage !== undefined && !isObject(usage))
    return ['usage', 'must be { prompt_tokens, completion_tokens, total_tokens }'];
  if (recalled === undefined || (Array.isArray(recalled) && recalled.every(isSource))) return undefined;
  return ['recalled', 'must be an array of { id or text, score, match }, as append got it'];
}

function isContent(value: unknown): value is Content {
  return typeof value === 'string' || (Array.isArray(value) && value.every(isPart));
}

function isPart(value: unknown): boolean {
  const { type, text } = Object(value) as Record<string, unknown>;
  return typeof type === 'string' && (type !== 'text' || typeof text === 'string');
}

function isCalls(value: unknown): boolean {
  return Array.isArray(value) && value.every(isCall);
}

function isCall(value: unknown): boolean {
  const { id, function: called } = Object(value) as Record<string, unknown>;
  const { name, arguments: given } = Object(called) as Record<string, unknown>;
  return typeof id === 'string' && typeof name === 'string' && typeof given === 'string';
}

function isSource(value: unknown): boolean {
  const { id, text, score, match } = Object(value) as Record<string, unknown>;
  return typeof (id ?? text) === 'string' && typeof score === 'number' && typeof match === 'string';
}

function isTime(value: unknown): boolean {
  if (typeof value === 'string' && ISO.test(value)) return true;
  return (value instanceof Date || typeof value === 'string') && !Number.isNaN(new Date(value).getTime());
}
