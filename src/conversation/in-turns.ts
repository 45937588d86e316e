import { isBlank, OpenCalls } from './messages.js';
import type { ConversationMessage } from './model.js';

type Messages = readonly ConversationMessage[];

/** The ids of the questions that messages belong to: their own, that of `replyTo`, or that of the user's message before. */
export function questionsOf(messages: Messages): (string | undefined)[] {
  let question: string | undefined;
  return messages.map(({ id, role, replyTo }) => {
    if (role === 'user') question = id;
    return role === 'user' ? id : (replyTo ?? question);
  });
}

/**
 * Messages in the order of their turns: a reply stands after its question, also one that was stored late. Of several replies to a
 * question, only one is not excluded: the newest that names it, but a whole one before one that was stopped. With its question, a reply is
 * excluded, too, and all of it with one of its messages. A reply whose question is not there comes first.
 */
export function inTurns(messages: Messages): Messages {
  const counting = countingReplies(messages);
  const excluded = new Set(
    messages.flatMap((one) => (one.excluded === true && one.reply !== undefined ? one.reply : [])),
  );
  const early: ConversationMessage[] = [];
  const turns = [early];
  const known = new Map<string, ConversationMessage[]>();
  const answered = new Set<unknown>();
  for (const message of messages) {
    const { id, role, replyTo } = message;
    if (role === 'user') {
      const turn = [message];
      turns.push(turn);
      if (id !== undefined) known.set(id, turn);
    } else {
      const reply = replyOf(message);
      const turn = replyTo === undefined ? turns.at(-1) : known.get(replyTo);
      const asked = turn === early ? undefined : turn?.[0]; // a greeting is no question
      const question = replyTo ?? asked?.id;
      const counted = question === undefined ? undefined : counting.get(question);
      if (counted === reply) answered.add(counted);
      // What an app adds behind the reply that counts, counts too.
      const counts = counted === undefined || (replyTo === undefined ? answered.has(counted) : counted === reply);
      const isSent = counts && asked?.excluded !== true && !excluded.has(message.reply ?? '');
      (turn ?? early).push(isSent || message.excluded ? message : { ...message, excluded: true });
    }
  }
  const ordered = turns.flat();
  return ordered.every((message, at) => message === messages[at]) ? messages : ordered;
}

/** Of each question that replies name, the reply that counts. */
function countingReplies(messages: Messages): Map<string, unknown> {
  const counting = new Map<string, { reply: unknown; isWhole: boolean }>();
  const whole = wholeReplies(messages);
  for (const message of messages) {
    const { role, replyTo } = message;
    if (role === 'user' || replyTo === undefined) continue;
    const reply = replyOf(message);
    const one = { reply, isWhole: whole.has(reply) };
    if (one.isWhole || counting.get(replyTo)?.isWhole !== true) counting.set(replyTo, one);
  }
  return new Map([...counting].map(([question, { reply }]) => [question, reply]));
}

/**
 * The replies that have an end: a text that was not stopped, or a call that waits for its result. Steps alone are none, because what
 * they were for has failed, or is still being generated.
 */
export function wholeReplies(messages: Messages): Set<unknown> {
  const whole = new Set<unknown>();
  const questions = questionsOf(messages);
  /** The last calls of each reply, without those that have a result. */
  const open = new Map<unknown, { reply: unknown; calls: OpenCalls }>();
  for (const [at, message] of messages.entries()) {
    const { role, content, stopped, tool_calls = [] } = message;
    const key = message.reply ?? questions[at];
    if (role === 'tool') open.get(key)?.calls.take(message);
    if (role !== 'assistant' || stopped === true) continue;
    const reply = replyOf(message);
    if (tool_calls.length > 0) open.set(key, { reply, calls: new OpenCalls(message) });
    else if (!isBlank(content)) whole.add(reply);
  }
  for (const { reply, calls } of open.values()) if (calls.size > 0) whole.add(reply);
  return whole;
}

/** What the messages of one reply have in common. */
export function replyOf(message: ConversationMessage): unknown {
  return message.reply ?? message;
}
