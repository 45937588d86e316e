import type { Emulator } from './emulator.js';
import type { MessageRecord, MessageRole } from './store/conversation-records.js';

/** A message as the SDK's conversations have it. */
interface StoreMessage {
  id?: string | undefined;
  role: string;
  content: string;
  createdAt?: string | Date | undefined;
  name?: string | undefined;
  excluded?: boolean | undefined;
  stopped?: boolean | undefined;
  replyTo?: string | undefined;
  recalled?: readonly object[] | undefined;
}

/** A `store` for `createConversation` of the SDK. */
export interface EmulatorStore {
  // biome-ignore lint/suspicious/noExplicitAny: the state belongs to the SDK, which checks it
  load(conversationId: string): { messages: MessageRecord[]; state: any };
  append(
    conversationId: string,
    messages: readonly StoreMessage[],
    place: { after: string | undefined; newest: string | undefined },
  ): string[];
  saveState(conversationId: string, state: object): void;
}

/**
 * Stores the turns of `createConversation` in the emulator's conversations, so that its compactions have them. Creates a
 * conversation that does not exist. The API has no such call: with the service, turns arrive there in another way.
 */
export function emulatorStore(emulator: Pick<Emulator, 'conversations'>): EmulatorStore {
  const { conversations } = emulator;
  const states = new Map<string, object>();
  const removed = new Set<string>();
  /** Fields of messages that the service does not have. */
  const fields = new Map<
    string,
    Pick<StoreMessage, 'name' | 'stopped' | 'replyTo' | 'recalled'> & { excluded?: true }
  >();
  const messagesOf = (id: string): MessageRecord[] =>
    (conversations.get(id)?.messages ?? []).filter((message) => !removed.has(message.id));
  return {
    load: (id) => {
      if (conversations.get(id) === undefined) conversations.create({ id }); // before its context is read
      return { messages: messagesOf(id).map((one) => ({ ...one, ...fields.get(one.id) })), state: states.get(id) };
    },
    append: (id, messages, { after, newest }) => {
      if (conversations.get(id) === undefined) conversations.create({ id });
      const before = messagesOf(id);
      const end = before.findLastIndex((message) => message.id === after) + 1;
      if (before.at(-1)?.id !== newest || (after !== undefined && end === 0)) throw conflict();
      const known = new Set(conversations.get(id)?.messages.map((message) => message.id));
      const inputs = messages.map(({ id = '', role, content, createdAt }) => ({
        id: known.has(id) ? undefined : id || undefined, // an edited message gets a new one
        content,
        role: role as MessageRole, // another role is an error of `append`
        createdAt: createdAt === undefined ? undefined : new Date(createdAt).toISOString(),
      }));
      const ids = conversations.append(id, inputs).map((message) => message.id);
      for (const [at, { name, excluded, stopped, replyTo, recalled }] of messages.entries())
        fields.set(ids[at] ?? '', { name, stopped, replyTo, recalled, ...(excluded && { excluded }) });
      for (const message of before.slice(end)) removed.add(message.id);
      return ids;
    },
    saveState: (id, state) => {
      states.set(id, structuredClone(state));
    },
  };
}

/** The SDK knows a conflict by the name of its error, which this package does not import. */
function conflict(): Error {
  const error = new Error('Another turn of this conversation was stored since this one began.');
  error.name = 'ConversationConflictError';
  return error;
}
