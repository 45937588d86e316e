import { badInput, wellFormed } from '../messages.js';
import type { ConversationMessage, RecordedReply, StoredMessage } from '../model.js';

/** What a turn sends, and what it replaces. */
export interface TurnRequest {
  input: readonly ConversationMessage[];
  /** The number of messages before the input. @default all */
  before?: number;
  /** The number of messages that stay in the store. If there are more than `before`, the input is among them. */
  kept?: number;
  /** Whether the input is sent once more, by a page that may not know that it is stored. */
  isAgain?: boolean;
}

/**
 * The request for an input. Messages that are stored already, with the same id and text, are not stored again: the new reply
 * replaces those to the same question, if no other message follows them. `mayEdit`: also if the text has changed.
 */
export function requestFor(
  input: readonly ConversationMessage[],
  messages: readonly ConversationMessage[],
  { mayEdit = false }: { mayEdit?: boolean } = {},
): TurnRequest {
  const places = input.map(({ id, content }) =>
    id === undefined ? -1 : messages.findLastIndex((one) => one.id === id && (mayEdit || one.content === content)),
  );
  const others = input.filter((_, at) => places[at] === -1);
  if (others.length > 0) return { input: others };
  // Other messages may stand between those of the input: the last ones in a row are asked, and the rest is history.
  const from = places.findLastIndex((place, at) => place !== (places[at - 1] ?? -2) + 1);
  const before = places[from] ?? 0;
  const end = (places.at(-1) ?? 0) + 1;
  const kept = endOfOthers(messages, end);
  if (input.every(({ content }, at) => content === messages[places[at] ?? -1]?.content))
    return { input: input.slice(from), before, kept, isAgain: true };
  return from === 0 && kept === end ? { input, before, kept: before, isAgain: true } : { input };
}

/** The request for another reply to the last question, or for the first one. @throws {RequestValidationError} */
export function requestAgain(messages: readonly ConversationMessage[]): TurnRequest {
  const end = messages.findLastIndex(isQuestion) + 1;
  if (end === 0) throw badInput('regenerate', 'there is no message of the user to reply to');
  const before = messages.slice(0, end).findLastIndex((message) => !isQuestion(message)) + 1;
  return { input: messages.slice(before, end), before, kept: endOfOthers(messages, end) };
}

/**
 * How many messages stay if the last replies to a question are replaced, which ends at a position. Replies to others may stand
 * among them: several tabs may ask at once. Without `replyTo`, a message that follows the question directly is one, too.
 */
export function endOfOthers(messages: readonly ConversationMessage[], end: number): number {
  const question = messages.slice(0, end).findLast(isQuestion);
  let follows = true;
  const own = messages.slice(end).map(({ role, replyTo }) => {
    follows &&= role === 'assistant' && replyTo === undefined;
    return follows || replyTo === (question?.id ?? '');
  });
  return end + own.lastIndexOf(false) + 1;
}

/** Whether there is nothing to store: the input is stored, and the reply to it, if there is one. */
export function isRecorded(
  { input, before, kept, isAgain }: TurnRequest,
  reply: RecordedReply | undefined,
  messages: readonly ConversationMessage[],
): boolean {
  if (!isAgain || kept === before) return false;
  if (reply === undefined) return true;
  const { id, text } = reply;
  // One with an id of its own may be another with the same text.
  const same = id === undefined ? { replyTo: input.findLast(isQuestion)?.id } : { id };
  return findSame(messages, { ...same, content: wellFormed(text) }) !== undefined;
}

/** @throws {RequestValidationError} when a stored message has another text: what followed the old one would be lost */
export function checkTexts(input: readonly ConversationMessage[], messages: readonly ConversationMessage[]): void {
  const texts = new Map(messages.map(({ id, content }) => [id ?? '', content]));
  const changed = input.findIndex(({ id = '', content }) => (texts.get(id) ?? content) !== content);
  if (changed >= 0)
    throw badInput(
      ['input', changed, 'content'],
      'is not the stored text: pass an edited question alone, with its reply',
    );
}

/** A stored message that is this one: with its id, or a reply with its text to its question, if a database made the id. */
export function findSame<Message extends ConversationMessage>(
  messages: readonly Message[],
  { id, content, replyTo }: Partial<ConversationMessage>,
): Message | undefined {
  return messages.find(
    (one) => one.content === content && (one.id === id || (replyTo !== undefined && one.replyTo === replyTo)),
  );
}

/** With another id in place of one that is taken. Otherwise `after` could be either of two messages. */
export function withNewIds(
  messages: readonly StoredMessage[],
  others: readonly ConversationMessage[],
): StoredMessage[] {
  const known = new Set(others.map(({ id }) => id));
  return messages.map((message) => {
    const id = known.has(message.id) ? crypto.randomUUID() : message.id;
    known.add(id);
    return { ...message, id };
  });
}

export function isQuestion({ role }: ConversationMessage): boolean {
  return role === 'user';
}
