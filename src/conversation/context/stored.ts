import { timeOf } from '../messages.js';
import type { ConversationMessage, StoredMessage } from '../model.js';

/**
 * The rows with which a store has messages, `undefined` for those that it does not have. A database may have made other ids:
 * a message is then known by its time, or as a reply by its question.
 */
export function findStored(
  messages: readonly StoredMessage[],
  rows: readonly ConversationMessage[],
): (ConversationMessage | undefined)[] {
  const used = new Set<ConversationMessage>();
  const lastFirst = [...messages].reverse().map((message) => {
    const row = rows.findLast((one) => !used.has(one) && isStored(message, one));
    if (row !== undefined) used.add(row);
    return row;
  });
  return lastFirst.reverse();
}

function isStored(message: StoredMessage, row: ConversationMessage): boolean {
  if (row.content !== message.content || row.role !== message.role || row.id === undefined) return false;
  if ((row.name ?? '') !== (message.name ?? '')) return false;
  if (Boolean(row.stopped) !== Boolean(message.stopped)) return false;
  const { id, createdAt, replyTo } = message;
  if (row.id === id) return true;
  // Two questions may get the same reply in the same millisecond.
  if (replyTo !== undefined && row.replyTo !== undefined) return row.replyTo === replyTo;
  return timeOf(row) === createdAt;
}
