import { ConfigurationError } from '../../index.js';
import type { Spot } from '../context/session.js';
import { badInput, questionIn, wellFormed } from '../messages.js';
import type { ConversationMessage, RecordedReply, StoredMessage } from '../model.js';
import { ConversationConflictError } from '../store.js';

/**
 * Where a turn belongs in its conversation. Places are ids, never positions, because a store may return a part of a
 * conversation. docs/reference/conversation-rules.md says for each kind what is stored when.
 */
export type Place<Message extends ConversationMessage = StoredMessage> =
  /** The input is not stored. It becomes the newest before it is sent. Its reply has the place `again`. */
  | { kind: 'new'; input: readonly Message[] }
  /** As `new`, but it was sent with another client, and becomes the newest whatever was stored meanwhile. */
  | { kind: 'recorded'; input: readonly Message[] }
  /** The input is stored. The reply replaces its earlier ones, if these are the newest messages. */
  | { kind: 'again'; input: readonly Message[] }
  /** As `again`, but the reply replaces only what was there when the turn began. `hasReply`: whether something was. */
  | { kind: 'regenerate'; input: readonly Message[]; hasReply: boolean }
  /** The input and its reply replace the message with this id, and all after it, in one step. */
  | { kind: 'edit'; input: readonly Message[]; from: string };

/**
 * The place of an input. `mayEdit`: a changed text of the last question edits it.
 *
 * @throws {ConversationConflictError} when the id of a message is known with another text
 */
export function placeOf<Message extends ConversationMessage>(
  input: readonly Message[],
  messages: readonly ConversationMessage[],
  { mayEdit = false }: { mayEdit?: boolean } = {},
): Place<Message> {
  const positions = positionsOf(input, messages);
  const isOther = ({ role, content }: ConversationMessage, at: number): boolean => {
    const known = messages[positions[at] ?? -1];
    return known !== undefined && (known.role !== role || known.content !== content);
  };
  const other = input.findIndex(isOther);
  if (other >= 0) {
    const [edited, from] = [input.slice(other), input[other]?.id];
    if (mayEdit && from !== undefined && isLastQuestion(edited, messages, positions.slice(other)))
      return { kind: 'edit', input: edited, from };
    throw new ConversationConflictError(
      `The id of input[${other}] is known with another text: it was edited, or two messages have one id. Load the messages again.`,
    );
  }
  const added = input.filter((_, at) => positions[at] === -1);
  if (added.length > 0) return { kind: 'new', input: added };
  // Other messages may stand between those of the input: the last ones in a row are asked, and the rest is history.
  const first = positions.findLastIndex((position, at) => position !== (positions[at - 1] ?? -2) + 1);
  return { kind: 'again', input: input.slice(first) };
}

/** The place of another reply to the last question, or of the first one. @throws {RequestValidationError} */
export function placeOfAnother(messages: readonly ConversationMessage[]): Place<ConversationMessage> {
  const end = messages.findLastIndex(isQuestion) + 1;
  if (end === 0) throw badInput('regenerate', 'there is no message of the user to reply to');
  const before = messages.slice(0, end).findLastIndex((message) => !isQuestion(message)) + 1;
  const again = { kind: 'again', input: messages.slice(before, end) } as const;
  return { ...again, kind: 'regenerate', hasReply: spotOf(again, messages).removed.length > 0 };
}

/** The position of a message. @throws {RequestValidationError} */
export function positionOf(messageId: string, messages: readonly ConversationMessage[]): number {
  const at = messages.findIndex(({ id }) => id === messageId);
  if (at >= 0) return at;
  if (messages.some(({ id }) => id === undefined))
    throw new ConfigurationError('store.load must return the id of each message, to find one by its id.');
  throw badInput('messageId', 'must be the id of a message of this conversation');
}

/** The messages before the input, which its prompt may contain. */
export function historyOf(
  place: Place<ConversationMessage>,
  messages: readonly ConversationMessage[],
): readonly ConversationMessage[] {
  const id = isNew(place) ? undefined : place.input[0]?.id;
  const at = id === undefined ? -1 : messages.findLastIndex((message) => message.id === id);
  return at === -1 ? messages : messages.slice(0, at);
}

export function spotOf(place: Place<ConversationMessage>, messages: readonly ConversationMessage[]): Spot {
  const end = endOfKept(place, messages);
  const [kept, removed] = [messages.slice(0, end), messages.slice(end)];
  return { kept, removed, after: kept.at(-1)?.id, newest: messages.at(-1)?.id };
}

/** @throws {ConfigurationError} when messages cannot be stored there, because the rows have no ids */
export function checkIds({ kept, removed }: Spot): void {
  for (const message of [kept.at(-1), removed.at(-1)])
    if (message !== undefined && message.id === undefined)
      throw new ConfigurationError('store.load must return the id of each message: store.append needs them.');
}

/**
 * Whether there is nothing to store: the input is stored, and the reply to it, if there is one.
 *
 * @throws {ConversationConflictError} when the id of the reply is known with another text
 */
export function isRecorded(
  place: Place<ConversationMessage>,
  reply: RecordedReply | undefined,
  messages: readonly ConversationMessage[],
): boolean {
  const isAgain = place.kind === 'again';
  if (reply === undefined) return isAgain;
  const { id, text } = reply;
  // One with an id of its own may be another with the same text.
  const isIt = (one: ConversationMessage): boolean =>
    one.content === wellFormed(text) && (id === undefined || one.id === id);
  if (isAgain && repliesTo(place.input, messages).some(isIt)) return true;
  const others = [...spotOf(place, messages).kept, ...place.input];
  if (id !== undefined && others.some((message) => message.id === id))
    throw new ConversationConflictError('reply.id is the id of another message. Load the messages again.');
  return false;
}

/**
 * `shown`: the newest message that a page shows. When it sends a question once more, it may not show that question yet.
 *
 * @throws {ConversationConflictError} when the newest message is another
 */
export function checkNewest(
  shown: string | null | undefined,
  place: Place<ConversationMessage>,
  messages: readonly ConversationMessage[],
): void {
  if (shown === undefined) return;
  const isShown = (message: ConversationMessage | undefined): boolean =>
    shown === null ? message === undefined : message?.id === shown;
  if (isShown(messages.at(-1))) return;
  const before = place.kind === 'again' ? historyOf(place, messages) : messages;
  if (isShown(before.at(-1)) && messages.length - before.length === place.input.length) return;
  if (shown !== null && messages.at(-1)?.id === undefined && messages.length > 0)
    throw new ConfigurationError('store.load must return the id of each message: newest names one.');
  throw new ConversationConflictError(
    'The newest message of the conversation is not the one that newest names. Load the messages again.',
  );
}

/** The replies to an input: those that name its question, and those that follow it directly, and name none. */
function repliesTo(
  input: readonly ConversationMessage[],
  messages: readonly ConversationMessage[],
): readonly ConversationMessage[] {
  const id = input.at(-1)?.id;
  const question = questionIn(input)?.id;
  const at = id === undefined ? -1 : messages.findLastIndex((message) => message.id === id);
  let follows = at !== -1;
  return messages.slice(at + 1).filter(({ role, replyTo }) => {
    follows &&= role === 'assistant' && replyTo === undefined;
    return follows || (question !== undefined && replyTo === question);
  });
}

/** Whether the input has to be stored before its reply. */
export function isNew(place: Place<ConversationMessage>): boolean {
  return place.kind === 'new' || place.kind === 'recorded';
}

function isQuestion({ role }: ConversationMessage): boolean {
  return role === 'user';
}

function endOfKept(place: Place<ConversationMessage>, messages: readonly ConversationMessage[]): number {
  if (isNew(place)) return messages.length;
  if (place.kind === 'edit') return messages.findLastIndex(({ id }) => id === place.from);
  const replies = new Set(repliesTo(place.input, messages));
  return messages.findLastIndex((message) => !replies.has(message)) + 1;
}

/** The positions of messages by their ids, -1 for those that are not stored. */
function positionsOf(input: readonly ConversationMessage[], messages: readonly ConversationMessage[]): number[] {
  const wanted = new Set(input.flatMap(({ id }) => id ?? []));
  const found = new Map<string, number>();
  if (wanted.size > 0)
    for (const [at, { id }] of messages.entries()) if (id !== undefined && wanted.has(id)) found.set(id, at);
  return input.map(({ id }) => found.get(id ?? '') ?? -1);
}

/** Whether nothing follows an input but its own replies, so that an edit of it removes nothing else. */
function isLastQuestion(
  input: readonly ConversationMessage[],
  messages: readonly ConversationMessage[],
  positions: readonly number[],
): boolean {
  const [first = -1] = positions;
  const isInRow = positions.every((position, at) => position === first + at);
  const isSameRole = input.every(({ role }, at) => messages[first + at]?.role === role);
  return isInRow && isSameRole && repliesTo(input, messages).length === messages.length - first - input.length;
}
