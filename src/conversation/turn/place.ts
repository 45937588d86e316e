import { badInput } from '../messages.js';
import type { ConversationMessage, StoredMessage } from '../model.js';

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
  const isStored = (given?: ConversationMessage, at?: ConversationMessage): boolean =>
    given?.id !== undefined && given.id === at?.id && (mayEdit || given.content === at.content);
  const before = messages.findLastIndex((message) => isStored(input[0], message));
  const end = before + input.length;
  if (before >= 0 && input.every((message, at) => isStored(message, messages[before + at]))) {
    const isEdited = input.some(({ content }, at) => content !== messages[before + at]?.content);
    const { isAnswered, kept } = repliesIn(messages, end);
    if (isEdited && kept === end) return { input, before, kept: before, isAgain: true };
    if (!isEdited && !(isAnswered && kept === messages.length)) return { input, before, kept, isAgain: true };
  }
  const others = input.filter((message) => !messages.some((one) => isStored(message, one)));
  return { input: others.length > 0 ? others : input };
}

/** The request for another reply to the last question, or for the first one. @throws {RequestValidationError} */
export function requestAgain(messages: readonly ConversationMessage[]): TurnRequest {
  const end = messages.findLastIndex(isQuestion) + 1;
  if (end === 0) throw badInput('regenerate', 'there is no message of the user to reply to');
  const before = messages.slice(0, end).findLastIndex((message) => !isQuestion(message)) + 1;
  return { input: messages.slice(before, end), before, kept: repliesIn(messages, end).kept };
}

/**
 * The replies to the question that ends before a position: whether there are any, and how many messages stay if the last of
 * them are replaced. Replies to others may stand among them: several tabs may ask at once.
 */
function repliesIn(messages: readonly ConversationMessage[], end: number): { isAnswered: boolean; kept: number } {
  const ids = new Set(messages.map(({ id }) => id));
  const question = messages.slice(0, end).findLast(isQuestion);
  let isOwn = true;
  const own = messages.slice(end).map(({ role, replyTo }) => {
    const isKnown = replyTo !== undefined && ids.has(replyTo);
    isOwn = role === 'assistant' && (isKnown ? replyTo === question?.id : isOwn); // an app may not store `replyTo`
    return isOwn;
  });
  return { isAnswered: own.includes(true), kept: end + own.lastIndexOf(false) + 1 };
}

/**
 * Whether all messages of an input are stored.
 *
 * @throws {RequestValidationError} when a stored message has another text: what followed the old one would be lost
 */
export function isEachStored(input: readonly ConversationMessage[], messages: readonly ConversationMessage[]): boolean {
  const texts = new Map(messages.flatMap(({ id, content }) => (id === undefined ? [] : [[id, content]])));
  const before = input.map(({ id = '' }) => texts.get(id));
  const changed = input.findIndex(({ content }, at) => before[at] !== undefined && before[at] !== content);
  if (changed >= 0)
    throw badInput(
      ['input', changed, 'content'],
      'is not the stored text: to edit the last question, pass it alone, with its new reply',
    );
  return before.every((text) => text !== undefined);
}

/** A stored message that is this one: with its id, or a reply with its text to its question, if a database made the id. */
export function findSame<Message extends ConversationMessage>(
  messages: readonly Message[],
  { id, content, replyTo }: ConversationMessage,
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
  const ids = new Set<string | undefined>(messages.map(({ id }) => id));
  const taken = others.filter(({ id }) => ids.has(id));
  const known = new Set(taken.map(({ id }) => id));
  return messages.map((message) => {
    const id = known.has(message.id) ? crypto.randomUUID() : message.id;
    known.add(id);
    return { ...message, id };
  });
}

export function isQuestion({ role }: ConversationMessage): boolean {
  return role === 'user';
}
