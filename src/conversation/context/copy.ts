import type { ConversationMessage } from '../model.js';

/**
 * The end of the messages that can be stored in one step with the one at `start`: before the first that names one of them.
 * Its id is known only after that.
 */
export function endOfStep(messages: readonly ConversationMessage[], start: number): number {
  const step = new Set<string | undefined>();
  let end = start;
  while (end < messages.length && !namesOf(messages, end).some((id) => step.has(id))) {
    const { id } = messages[end] ?? {};
    if (id !== undefined) step.add(id);
    end += 1;
  }
  return end;
}

/** A message of another conversation, with the ids of that one. What it names and was not copied was deleted by the app. */
export function copyOf(
  messages: readonly ConversationMessage[],
  at: number,
  { ids, excluded }: { ids: ReadonlyMap<string, string>; excluded: ReadonlySet<string> },
): ConversationMessage {
  const { id, ...message } = messages[at] as ConversationMessage; // `at` is one of its positions
  const { recalled } = message;
  const newId = (one: string | undefined): string | undefined => (one === undefined ? undefined : ids.get(one));
  return {
    ...message,
    replyTo: followsItsQuestion(messages, at) ? undefined : newId(message.replyTo),
    // In the state, as in the other conversation, where `include` finds it.
    excluded: excluded.has(id ?? '') ? undefined : message.excluded,
    recalled: recalled?.flatMap((source) => {
      if (source.id === undefined) return source;
      const copied = newId(source.id);
      return copied === undefined ? [] : { ...source, id: copied };
    }),
  };
}

/** The ids of the messages that one names. */
function namesOf(messages: readonly ConversationMessage[], at: number): (string | undefined)[] {
  const { replyTo, recalled = [] } = messages[at] ?? {};
  return [followsItsQuestion(messages, at) ? undefined : replyTo, ...recalled.map(({ id }) => id)];
}

/** Then the reply need not name it. */
function followsItsQuestion(messages: readonly ConversationMessage[], at: number): boolean {
  const { replyTo } = messages[at] ?? {};
  return replyTo !== undefined && messages[at - 1]?.id === replyTo;
}
