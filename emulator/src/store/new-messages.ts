import type { Sliced } from '../base/slices.js';
import { MESSAGE_ROLES, type MessageInput, type MessageRecord } from './conversation-records.js';
import type { IdSource } from './random.js';
import { type Collection, checkedId } from './storage.js';

/** Checks messages to store, and gives those an id that have none. Nothing is stored. */
export function* newMessages(
  inputs: readonly MessageInput[],
  existing: Collection<MessageRecord>,
  source: IdSource,
  time: number,
): Sliced<MessageRecord[]> {
  const seen = new Set<string>();
  const ids = source.series('msg');
  const now = new Date(time).toISOString();
  const messages: MessageRecord[] = [];
  for (const input of inputs) {
    yield;
    if (!MESSAGE_ROLES.includes(input.role)) throw new RangeError(`not a message role: ${String(input.role)}`);
    if (typeof input.content !== 'string') throw new RangeError('the content of a message must be a string');
    const id = checkedId('message', input.id ?? ids.next());
    if (seen.has(id) || existing.get(id) !== undefined) throw new RangeError(`message ${id} already exists`);
    seen.add(id);
    const createdAt = input.createdAt ?? now;
    if (Number.isNaN(Date.parse(createdAt))) throw new RangeError(`not a timestamp: ${createdAt}`);
    messages.push({ id, role: input.role, content: input.content, createdAt, excluded: false });
  }
  if (inputs.some(({ id }) => id === undefined)) ids.save();
  return messages;
}
