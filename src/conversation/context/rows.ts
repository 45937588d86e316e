import { isObject } from '../../base/objects.js';
import { ConfigurationError } from '../../index.js';
import { findBadField } from '../messages.js';
import type { ConversationMessage } from '../model.js';
import type { StoredConversation, StoredRow } from '../store.js';

/** @throws {ConfigurationError} */
export function checkLoaded(loaded: unknown): StoredConversation {
  const { messages = [], state, count } = (loaded ?? {}) as Partial<StoredConversation>;
  if (isObject(loaded ?? {}) && Array.isArray(messages)) return { messages, state, count: countOf(messages, count) };
  throw new ConfigurationError(
    'store.load must return { messages, state }: messages as an array of { role, content }.',
  );
}

/** The number of all messages, if it is known where these stand among them. */
function countOf(messages: readonly StoredRow[], count: unknown): number | undefined {
  if (count === undefined || count === null) return undefined;
  const all = Number(count);
  if (!Number.isSafeInteger(all) || all < 0)
    throw new ConfigurationError('store.load must return, as count, how many messages the conversation has.');
  let before = -1;
  for (const { position } of messages) {
    const at = Number(position);
    if (!Number.isInteger(at) || at <= before || at >= all)
      throw new ConfigurationError(
        'store.load must return, with count, the position of each message: whole numbers below count that rise.',
      );
    before = at;
  }
  return all;
}

/** Takes a message as databases give it: with null for what is missing, or 1 for true. `reject` gets what is wrong. */
export function messageOf(row: StoredRow, reject: (field: string, message: string) => Error): ConversationMessage {
  const isPlain = Object.hasOwn(Object(row), 'content'); // in some libraries, a row has getters
  if (isPlain && findBadField(row) === undefined) return row as ConversationMessage; // not copied: there are many
  const { role, content, id, name, createdAt, excluded, stopped, replyTo, recalled } = Object(row) as StoredRow;
  const fields = { ...(isPlain && row), role, content, id, name, createdAt, excluded, stopped, replyTo, recalled };
  const present = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  const message = Object.fromEntries(present.map(([name, value]) => [name, converted(name, value)]));
  const problem = findBadField(message);
  if (problem !== undefined) throw reject(...problem);
  return message as unknown as ConversationMessage;
}

/** Ids that a store returned, as texts, if they can be those of so many messages. */
export function textsOf(ids: unknown, length: number): string[] | undefined {
  if (!Array.isArray(ids) || ids.length !== length || new Set(ids).size !== length) return undefined;
  return ids.every((id) => /^(?:string|number|bigint)$/.test(typeof id)) ? ids.map(String) : undefined;
}

function converted(name: string, value: unknown): unknown {
  if ((name === 'id' || name === 'replyTo') && (typeof value === 'number' || typeof value === 'bigint'))
    return String(value);
  if (name === 'createdAt' && typeof value === 'number') return new Date(value);
  const isFlag = name === 'excluded' || name === 'stopped';
  return isFlag && (value === 0 || value === 1) ? value === 1 : value;
}
