import { findStored } from '../context/stored.js';
import { timeOf } from '../messages.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
import { type Place, spotOf } from './place.js';

/** What a turn does with messages that were not stored. `ids`: of those that are stored, `undefined` for each that is missing. */
export type Next =
  | { next: 'done'; ids: readonly string[] }
  | { next: 'retry'; ids: readonly (string | undefined)[] }
  | { next: 'conflict' };

/**
 * Decides what to do when another process has changed the conversation, or the response of the store was lost.
 *
 * @param place where the messages were to be stored
 * @param now what is stored now
 */
export function afterConflict(
  place: Place,
  messages: readonly StoredMessage[],
  now: readonly ConversationMessage[],
): Next {
  const rows = findStored(messages, now);
  const isOurs = (row: ConversationMessage | undefined, at: number): boolean =>
    row !== undefined && (place.kind !== 'new' || (timeOf(row) ?? messages[at]?.createdAt) === messages[at]?.createdAt);
  if (rows.every(isOurs)) return { next: 'done', ids: rows.map((row) => row?.id ?? '') };
  return mayRetry(place, messages, now) ? { next: 'retry', ids: rows.map((row) => row?.id) } : { next: 'conflict' };
}

function mayRetry(place: Place, messages: readonly StoredMessage[], now: readonly ConversationMessage[]): boolean {
  // The prompt does not have what another process has stored, or that process asks the same question.
  if (place.kind === 'new') return false;
  // A turn removes only what it has seen.
  if (place.kind === 'edit' || (place.kind === 'regenerate' && place.replaces.length > 0)) return false;
  const texts = new Map(now.map(({ id, content }) => [id ?? '', content]));
  const hasOtherText = ({ id, content }: StoredMessage): boolean => (texts.get(id) ?? content) !== content;
  if (messages.some(hasOtherText)) return false;
  if (place.kind === 'recorded') return true;
  // Another tab may have edited or removed the question, or have stored its whole reply, of which this one is a part.
  if (place.input.some(({ id, content }) => texts.get(id) !== content)) return false;
  return spotOf(place, now).removed.length === 0 || messages.at(-1)?.stopped !== true;
}
