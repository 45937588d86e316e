import type { ToolCall } from '../../index.js';
import { bodyOf, type Content } from '../content.js';
import type { Seen } from '../context/session.js';
import { inTurns, questionsOf, replyOf, wholeReplies } from '../in-turns.js';
import { badInput, OpenCalls, questionIn } from '../messages.js';
import type { ConversationMessage, StoredMessage } from '../model.js';
import { type AppendPlace, ConversationConflictError } from '../store.js';

type Messages = readonly ConversationMessage[];

/** What a turn does with its conversation. docs/reference/conversation-rules.md says for each kind what is stored when. */
export type Place<Message extends ConversationMessage = StoredMessage> =
  /** The input is not stored. It is added before it is sent, and its reply when it has ended. */
  | { kind: 'new'; input: readonly Message[] }
  /** The question is stored. Its reply replaces the earlier ones, if these are the newest messages. */
  | { kind: 'again'; input: readonly Message[] }
  /** The question and its reply replace the question with this id, and what follows it. */
  | { kind: 'edit'; input: readonly Message[] }
  /**
   * Results of calls that wait. They are added before they are sent, and the reply goes on. `turn`: the question and the reply so far.
   * Without input, all are stored already: the request failed, or its reply was stopped, and is replaced.
   */
  | { kind: 'results'; input: readonly Message[]; turn: Messages; reply: string | undefined };

/** The id of the question that a turn answers. */
export function questionOf(place: Place<ConversationMessage>): string | undefined {
  return questionIn(place.kind === 'results' ? place.turn : place.input)?.id;
}

/** All that a reply answers, which must be stored for it. */
export function answeredBy(place: Place): readonly StoredMessage[] {
  // The cast is true: a turn with calls that wait was stored with its ids.
  return place.kind === 'results' ? [...(place.turn as readonly StoredMessage[]), ...place.input] : place.input;
}

/** Those of an input that are not stored. @throws {ConversationConflictError} when an id is known with another text or role */
export function notStored<Message extends ConversationMessage>(
  input: readonly Message[],
  messages: Messages,
): readonly Message[] {
  const ids = new Set(input.map(({ id }) => id));
  const stored = new Map(messages.flatMap((message) => (ids.has(message.id) ? [[message.id, message] as const] : [])));
  return input.filter((message, at) => {
    const known = message.id === undefined ? undefined : stored.get(message.id);
    if (known === undefined || (known.role === message.role && bodyOf(known) === bodyOf(message)))
      return known === undefined;
    throw new ConversationConflictError(
      `The id of input[${at}] is known with another text: it was edited, or two messages have one id. Load the messages again.`,
    );
  });
}

/** The place of an input. @throws {ConversationConflictError} @throws {RequestValidationError} */
export function placeOf<Message extends ConversationMessage>(
  input: readonly Message[],
  messages: Messages,
): Place<Message> {
  const added = notStored(input, messages);
  if (input.length > 0 && input.every(({ role }) => role === 'tool')) return placeOfResults(input, messages);
  const reply = added.find(({ role }) => role !== 'user');
  if (reply !== undefined)
    throw badInput(
      ['input', input.indexOf(reply)],
      reply.role === 'tool'
        ? 'is the result of a call: send the results first, then the question'
        : 'is a reply that is not stored: send the new message of the user alone, or store the reply with add',
    );
  if (added.length > 0) return { kind: 'new', input: added };
  const question = questionIn(input);
  if (question === undefined) throw badInput('input', 'must have a message of the user');
  // A tool may have done what must not be done twice.
  const calls = callsIn(messages);
  if (questionIn(calls.turn)?.id === question.id && !calls.isAnswered && calls.open.size === 0)
    return { kind: 'results', input: [], turn: calls.turn, reply: calls.reply };
  return { kind: 'again', input: [question] };
}

/**
 * The place of results of calls that wait. A second result of a call is ignored.
 *
 * @throws {RequestValidationError} when one is of another call, or a call has none
 * @throws {ConversationConflictError} when they have a reply already, or the model has read that they were not run
 */
function placeOfResults<Message extends ConversationMessage>(
  results: readonly Message[],
  messages: Messages,
): Place<Message> {
  const { turn, calls, open, reply, isAnswered } = callsIn(messages);
  const ids = new Set(calls.map(({ id }) => id));
  const question = questionIn(turn);
  const isHalf = reply !== undefined && question === undefined; // a late reply, whose question is not loaded
  if (isHalf || results.some(({ tool_call_id = '' }) => !ids.has(tool_call_id)))
    throw badInput('input', 'is the result of a call that does not wait');
  if (isAnswered)
    throw new ConversationConflictError(
      `The calls ${open.size === 0 ? 'have results and' : 'were not run: another question has'} a reply. Load the messages again.`,
    );
  const of = reply === undefined ? {} : { replyTo: question?.id, reply }; // what an app has added belongs together by its place
  const input = results.filter((result) => open.take(result)).map((message) => ({ ...message, ...of }));
  if (open.size === 0) return { kind: 'results', input, turn, reply };
  throw badInput('input', `must have the result of each call that waits: ${open.ids().join(', ')} is missing`);
}

/** The last calls, if they wait: without those that have a result. */
export function waitingCalls(messages: Messages): ToolCall[] {
  const { calls, open, isAnswered } = callsIn(messages);
  return isAnswered ? [] : calls.filter(({ id }) => open.take({ tool_call_id: id }));
}

/** The last calls, and what became of them. */
interface Calls {
  /** The question, and the reply up to their results, without a text that was stopped. */
  turn: Messages;
  calls: readonly ToolCall[];
  /** Those without a result. */
  open: OpenCalls;
  reply: string | undefined;
  /** Whether a reply stands behind them. What an app has added is none. */
  isAnswered: boolean;
}

/** The last calls. */
function callsIn(messages: Messages): Calls {
  const turns = inTurns(messages).filter((message) => message.excluded !== true && !isPartOfText(message));
  const at = turns.findLastIndex(({ tool_calls = [] }) => tool_calls.length > 0);
  const { tool_calls: calls = [], reply } = turns[at] ?? {};
  const open = new OpenCalls(turns[at]);
  let end = at + 1;
  while (turns[end]?.role === 'tool') open.take(turns[end++] ?? {});
  // Of calls that an app has added, the reply names no question either.
  const isReply = ({ role, replyTo }: ConversationMessage): boolean =>
    role === 'assistant' && (replyTo !== undefined || (reply === undefined && open.size === 0));
  const isAnswered = turns.slice(end).some(isReply);
  return { turn: turns.slice(startOfTurn(turns, at), end), calls, open, reply, isAnswered };
}

/** What arrived of a text that was stopped. */
function isPartOfText({ role, stopped, tool_calls = [] }: ConversationMessage): boolean {
  return role === 'assistant' && stopped === true && tool_calls.length === 0;
}

/** The place of another reply to the last question, which is asked again. @throws {RequestValidationError} */
export function placeOfAnother(messages: Messages): Place<ConversationMessage> {
  const question = questionIn(messages);
  if (question === undefined) throw badInput('regenerate', 'there is no message of the user to reply to');
  return placeOf([question], messages);
}

/** The place of another text of a question, with what the app keeps of it. @throws {RequestValidationError} */
export function placeOfEdit(messageId: string, text: Content, messages: Messages): Place<ConversationMessage> {
  const message = messages[positionOf(messageId, messages)];
  if (message?.role !== 'user') throw badInput('messageId', 'must be the id of a message of the user');
  const { excluded, createdAt, ...fields } = message;
  return { kind: 'edit', input: [{ ...fields, content: text }] };
}

/** The position of a message. @throws {RequestValidationError} */
export function positionOf(messageId: string, messages: Messages): number {
  const at = messages.findIndex(({ id }) => id === messageId);
  if (at === -1) throw badInput('messageId', 'must be the id of a message of this conversation');
  return at;
}

/** The position where the turn of a message begins. */
export function startOfTurn(messages: Messages, at: number): number {
  let start = at;
  while (start > 0 && messages[start]?.role !== 'user') start -= 1;
  return start;
}

/** The messages before the input, in the order of their turns. */
export function historyOf(place: Place<ConversationMessage>, { messages }: Pick<Seen, 'messages'>): Messages {
  const turns = inTurns(messages);
  const [first] = place.kind === 'results' ? place.turn : place.input;
  const at = turns.findLastIndex(({ id, role }) => (first?.id === undefined ? role === 'user' : id === first.id));
  return at === -1 ? turns : turns.slice(0, at);
}

/** A turn that has begun. */
interface ReplyPlace {
  place: Place<ConversationMessage>;
  seen: Seen;
  /** What all messages of its reply have in common. */
  reply: string;
  /** What it has stored of its input. */
  question: Messages;
  /** What it has stored of the steps of its reply. */
  kept: Messages;
}

/** What a turn replaces, and what of that is given again. */
export interface Replaced {
  /** Only if something is replaced. */
  at?: Pick<AppendPlace, 'after' | 'newest'> | undefined;
  removed: Messages;
  /** Replies to earlier questions that stand behind an edited one, and what an app has added behind calls that waited. */
  again: Messages;
}

export function replacedBy({ place, seen: { messages }, reply, question, kept }: ReplyPlace): Replaced {
  const id = questionOf(place);
  let questions: (string | undefined)[] | undefined;
  const isReplaced = (message: ConversationMessage | undefined, at: number): boolean => {
    if (message === undefined || message.role === 'user') return false;
    if (place.kind === 'results' ? !isPartOfText(message) : message.reply === reply) return false;
    questions ??= questionsOf(messages); // not for each step of a reply
    return questions[at] === id;
  };
  let end = messages.length;
  if (place.kind === 'edit') end = messages.findIndex((message) => message.id === id);
  else if (place.kind === 'again') while (isReplaced(messages[end - 1], end - 1)) end -= 1;
  else if (place.kind === 'results') {
    const last = (kept.at(-1) ?? question.at(-1) ?? place.turn.at(-1))?.id;
    end = messages.findLastIndex((message) => message.id === last) + 1 || end;
  }
  if (end === messages.length || end === -1) return { removed: [], again: [] };
  const removed = messages.slice(end);
  const before = new Set(messages.slice(0, end).map((message) => message.id));
  const again = removed.filter((message, at) =>
    place.kind === 'results'
      ? !isReplaced(message, end + at)
      : place.kind === 'edit' && message.role !== 'user' && before.has(message.replyTo),
  );
  return {
    at: { after: messages[end - 1]?.id ?? null, newest: messages.at(-1)?.id ?? null },
    removed,
    // Without the mark of what is excluded, which the store keeps: it may have changed meanwhile.
    again: again.map(({ excluded: _, ...message }) => message),
  };
}

/** The replies to a question that were there, and that its new one does not replace. */
export function repliesBefore(
  place: Place<ConversationMessage>,
  { messages }: Seen,
  removed: Messages,
  replyId: string,
): Messages {
  const id = questionOf(place);
  if (id === undefined) return [];
  return messages.filter((message) => {
    const { role, replyTo, reply, excluded } = message;
    return role !== 'user' && replyTo === id && reply !== replyId && excluded !== true && !removed.includes(message);
  });
}

/** Whether a question has a whole reply, beside the one with this id. What an app has added behind calls that waited is none. */
export function hasWholeReply(place: Place<ConversationMessage>, messages: Messages, replyId: string): boolean {
  const id = questionOf(place);
  const questions = place.kind === 'results' ? messages.map(({ replyTo }) => replyTo) : questionsOf(messages);
  const whole = wholeReplies(messages);
  return messages.some(
    (message, at) => questions[at] === id && message.reply !== replyId && whole.has(replyOf(message)),
  );
}

/** Whether another process has continued a reply. `known`: the messages of this turn. */
export function isContinued(replyId: string, messages: Messages, known: Messages): boolean {
  const ids = new Set(known.map(({ id }) => id));
  return messages.some((message) => message.reply === replyId && !isPartOfText(message) && !ids.has(message.id));
}

/**
 * `shown`: the newest message that a page shows. When it sends a question once more, it may not show that question yet.
 *
 * @throws {ConversationConflictError} when the newest message is another
 */
export function checkNewest(shown: string | null | undefined, input: Messages, messages: Messages): void {
  const isShown = (message: ConversationMessage | undefined): boolean => (message?.id ?? null) === shown;
  if (shown === undefined || isShown(messages.at(-1))) return;
  const before = messages.length - input.length;
  const isStored = input.length > 0 && input.every(({ id }, at) => messages[before + at]?.id === id);
  if (isStored && isShown(messages[before - 1])) return;
  throw new ConversationConflictError('The newest message is not the one that newest names. Load the messages again.');
}
