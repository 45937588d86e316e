import { isObject } from '../../base/objects.js';
import { ConfigurationError } from '../../index.js';
import { findBadField } from '../messages.js';
import type { ConversationMessage } from '../model.js';
import type { StoredConversation, StoredRow } from '../store.js';

/** What a store returned, checked. */
export interface Loaded extends Pick<StoredConversation, 'messages' | 'state'> {
  edits: number;
  revision: number;
  /** How many messages the conversation has, if these are a part of them. */
  count?: number | undefined;
}

/** More messages than any conversation has: their places in memory would take longer than a turn. */
const MOST_MESSAGES = 10_000_000;

/** @throws {ConfigurationError} */
export function checkLoaded(loaded: unknown): Loaded {
  const { messages = [], state, edits, revision, count } = (loaded ?? {}) as Partial<StoredConversation>;
  if (!isObject(loaded ?? {}) || !Array.isArray(messages))
    throw new ConfigurationError(
      'store.load must return { messages, edits, state, revision }: messages as an array of { role, content }.',
    );
  return {
    messages,
    state,
    edits: wholeNumber(edits, 'edits'),
    revision: wholeNumber(revision, 'revision'),
    count: countOf(messages, count),
  };
}

function wholeNumber(value: unknown, name: string): number {
  const number = Number(value ?? 0);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new ConfigurationError(`store.load must return, as ${name}, a whole number.`);
}

/** The number of all messages, if it is known where these stand among them. */
function countOf(messages: readonly StoredRow[], count: unknown): number | undefined {
  if (count === undefined || count === null) return undefined;
  const all = wholeNumber(count, 'count');
  if (all > MOST_MESSAGES)
    throw new ConfigurationError(
      `store.load must return, as count, how many messages the conversation has, not ${all}.`,
    );
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
  const known = Object.fromEntries(FIELDS.map((name) => [name, Object(row)[name]]));
  const present = Object.entries({ ...(isPlain && row), ...known }).filter(([, value]) => value != null);
  const message = Object.fromEntries(present.map(([name, value]) => [name, converted(name, value)]));
  const problem = findBadField(message);
  if (problem !== undefined) throw reject(...problem);
  return message as unknown as ConversationMessage;
}

const FIELDS =
  'role content id name createdAt excluded stopped replyTo reply tool_calls tool_call_id recalled finish_reason model usage'.split(
    ' ',
  );

function converted(name: string, value: unknown): unknown {
  if ((name === 'id' || name === 'replyTo') && (typeof value === 'number' || typeof value === 'bigint'))
    return String(value);
  if (name === 'createdAt' && typeof value === 'number') return new Date(value);
  const isFlag = name === 'excluded' || name === 'stopped';
  return isFlag && (value === 0 || value === 1) ? value === 1 : value;
}
