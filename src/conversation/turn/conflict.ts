import { findStored } from '../context/stored.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
import { type Place, spotOf } from './place.js';

/** What a turn does with messages that were not stored. `ids`: of those that are stored, `undefined` for each that is missing. */
export type Next =
  | { next: 'done'; ids: readonly string[] }
  | { next: 'retry'; ids: readonly (string | undefined)[] }
  | { next: 'conflict' };

/** What is known when messages were not stored. */
export interface Failure {
  /** What the turn saw. A message that was there is not the one that was to be stored, unless it has its id. */
  seen: readonly ConversationMessage[];
  /** What is stored now. */
  now: readonly ConversationMessage[];
  /** Ids that this turn has made: another process does not have them. */
  made: ReadonlySet<string>;
  /** Whether the store reported a conflict. Otherwise, its response may be lost. */
  isConflict: boolean;
}

/**
 * Decides what to do when another process has changed the conversation, or the response of the store was lost.
 *
 * @param place where the messages were to be stored
 */
export function afterConflict(place: Place, messages: readonly StoredMessage[], failure: Failure): Next {
  const { seen, now, made, isConflict } = failure;
  const [old, own] = [seen, messages].map((list) => new Set<string | undefined>(list.map(({ id }) => id)));
  const rows = findStored(
    messages,
    now.filter(({ id }) => own?.has(id) || !old?.has(id)),
  );
  // Another process may ask the same question, even in the same millisecond.
  const isOurs = (row: ConversationMessage | undefined): boolean =>
    row !== undefined && (place.kind !== 'new' || !isConflict || made.has(row.id ?? ''));
  if (rows.every(isOurs)) return { next: 'done', ids: rows.map((row) => row?.id ?? '') };
  return mayRetry(place, messages, now) ? { next: 'retry', ids: rows.map((row) => row?.id) } : { next: 'conflict' };
}

function mayRetry(place: Place, messages: readonly StoredMessage[], now: readonly ConversationMessage[]): boolean {
  // The prompt does not have what another process has stored, or that process asks the same question.
  if (place.kind === 'new') return false;
  // A turn removes only what it has seen.
  if (place.kind === 'edit' || (place.kind === 'regenerate' && place.hasReply)) return false;
  const texts = new Map(now.map(({ id, content }) => [id ?? '', content]));
  const hasOtherText = ({ id, content }: StoredMessage): boolean => (texts.get(id) ?? content) !== content;
  if (messages.some(hasOtherText)) return false;
  if (place.kind === 'recorded') return true;
  // Another tab may have edited or removed the question, or have stored its whole reply, of which this one is a part.
  if (place.input.some(({ id, content }) => texts.get(id) !== content)) return false;
  if (spotOf(place, now).removed.length === 0) return true;
  return place.kind === 'again' && messages.at(-1)?.stopped !== true;
}
