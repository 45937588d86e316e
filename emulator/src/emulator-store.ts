import type { Emulator } from './emulator.js';
import type { MessageRecord, MessageRole } from './store/conversation-records.js';

/** A message as the SDK's conversations have it. */
interface StoreMessage {
  id?: string | undefined;
  role: string;
  content: string;
  createdAt?: string | Date | undefined;
}

/** A `store` for `createConversation` of the SDK. */
export interface EmulatorStore {
  // biome-ignore lint/suspicious/noExplicitAny: the state belongs to the SDK, which checks it
  load(conversationId: string): { messages: MessageRecord[]; state: any };
  append(conversationId: string, messages: readonly StoreMessage[]): string[];
  truncate(conversationId: string, fromMessageId: string): void;
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
  const messagesOf = (id: string): MessageRecord[] =>
    (conversations.get(id)?.messages ?? []).filter((message) => !removed.has(message.id));
  return {
    load: (id) => {
      if (conversations.get(id) === undefined) conversations.create({ id }); // before its context is read
      return { messages: messagesOf(id), state: states.get(id) };
    },
    append: (id, messages) => {
      if (conversations.get(id) === undefined) conversations.create({ id });
      const inputs = messages.map(({ id, role, content, createdAt }) => ({
        ...{ id, content, role: role as MessageRole }, // another role is an error of `append`
        createdAt: createdAt === undefined ? undefined : new Date(createdAt).toISOString(),
      }));
      return conversations.append(id, inputs).map((message) => message.id);
    },
    truncate: (id, fromMessageId) => {
      const messages = messagesOf(id);
      const from = messages.findIndex((message) => message.id === fromMessageId);
      for (const message of from < 0 ? [] : messages.slice(from)) removed.add(message.id);
    },
    saveState: (id, state) => {
      states.set(id, structuredClone(state));
    },
  };
}
