import { isObject } from '../base/objects.js';
import { speakerOf } from '../base/speaker.js';
import { toWellFormed as wellFormed } from '../base/unicode.js';
import { RequestValidationError } from '../index.js';
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
  content: string;
}

/**
 * The messages of a request, from whatever part of the prompt. Without those that are excluded, except the `question`, and without
 * replies that have no text, which a service may reject.
 */
export function sentMessages(messages: readonly ConversationMessage[], question?: ConversationMessage): SentMessage[] {
  return messages.filter((message) => message === question || isSent(message)).map(asSent);
}

/** Whether a message may be a part of a request. */
export function isSent({ content, excluded }: ConversationMessage): boolean {
  return excluded !== true && content.trim() !== '';
}

/** A message as a model reads it: that of a user with the speaker, if it has a name. */
export function asSent({ role, name, content }: ConversationMessage): SentMessage {
  const speaker = role === 'user' ? speakerOf({ name }) : undefined;
  return { role, content: wellFormed(speaker === undefined ? content : `[${speaker}] ${content}`) };
}

/** Copies an input, so that later changes by the caller change nothing. @throws {RequestValidationError} */
export function messagesOf(input: string | readonly ConversationMessage[]): ConversationMessage[] {
  const given = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  checkInput(given);
  const ids = given.flatMap(({ id }) => id ?? []);
  if (!ids.every((id) => ID.test(id))) throw badInput('input.id', 'must be 1 to 128 printable ASCII characters');
  const messages = cleaned([...given]);
  if (messages.length === 0 || messages.some(({ content }) => content.trim() === ''))
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
  }
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
  const { role, content, id, name, createdAt, excluded, stopped, replyTo, recalled } = fields;
  const { finish_reason, model, usage } = fields;
  if (role !== 'user' && role !== 'assistant')
    return ['role', "must be 'user' or 'assistant'; pass a system message as instructions"];
  if (typeof content !== 'string') return ['content', 'must be a string'];
  if (id !== undefined && typeof id !== 'string') return ['id', 'must be a string'];
  if (name !== undefined && typeof name !== 'string') return ['name', 'must be a string'];
  if (createdAt !== undefined && !isTime(createdAt)) return ['createdAt', 'must be a Date, or a string in ISO 8601'];
  if (excluded !== undefined && typeof excluded !== 'boolean') return ['excluded', 'must be a boolean'];
  if (stopped !== undefined && typeof stopped !== 'boolean') return ['stopped', 'must be a boolean'];
  if (replyTo !== undefined && typeof replyTo !== 'string') return ['replyTo', 'must be a string'];
  for (const [name, value] of Object.entries({ finish_reason, model }))
    if (value !== undefined && typeof value !== 'string') return [name, 'must be a string'];
  if (usage !== undefined && !isObject(usage))
    return ['usage', 'must be { prompt_tokens, completion_tokens, total_tokens }'];
  if (recalled === undefined || (Array.isArray(recalled) && recalled.every(isSource))) return undefined;
  return ['recalled', 'must be an array of { id or text, score, match }, as append got it'];
}

function isSource(value: unknown): boolean {
  const { id, text, score, match } = Object(value) as Record<string, unknown>;
  return typeof (id ?? text) === 'string' && typeof score === 'number' && typeof match === 'string';
}

function isTime(value: unknown): boolean {
  if (typeof value === 'string' && ISO.test(value)) return true;
  return (value instanceof Date || typeof value === 'string') && !Number.isNaN(new Date(value).getTime());
}
