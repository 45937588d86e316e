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
 * excluded, too. A reply whose question is not there comes first.
 */
export function inTurns(messages: Messages): Messages {
  const counting = countingReplies(messages);
  const early: ConversationMessage[] = [];
  const turns = [early];
  const known = new Map<string, ConversationMessage[]>();
  const answered = new Set<ConversationMessage>();
  for (const message of messages) {
    const { id, role, replyTo } = message;
    if (role === 'user') {
      const turn = [message];
      turns.push(turn);
      if (id !== undefined) known.set(id, turn);
    } else {
      const turn = replyTo === undefined ? turns.at(-1) : known.get(replyTo);
      const question = replyTo ?? turn?.[0]?.id;
      const counted = question === undefined ? undefined : counting.get(question);
      if (counted === message) answered.add(message);
      // What an app adds behind the reply that counts, counts too.
      const counts = counted === undefined || answered.has(replyTo === undefined ? counted : message);
      const isSent = counts && turn?.[0]?.excluded !== true;
      (turn ?? early).push(isSent || message.excluded ? message : { ...message, excluded: true });
    }
  }
  const ordered = turns.flat();
  return ordered.every((message, at) => message === messages[at]) ? messages : ordered;
}

/** Of each question that replies name, the reply that counts. */
function countingReplies(messages: Messages): Map<string, ConversationMessage> {
  const counting = new Map<string, ConversationMessage>();
  for (const message of messages) {
    const { role, replyTo, stopped } = message;
    if (role === 'user' || replyTo === undefined) continue;
    const other = counting.get(replyTo);
    if (stopped !== true || other === undefined || other.stopped === true) counting.set(replyTo, message);
  }
  return counting;
}
