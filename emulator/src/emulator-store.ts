import type { Emulator } from './emulator.js';
import type { MessageInput, MessageRecord, MessageRole, PinnedMemoryItem } from './store/conversation-records.js';

/** A text, or parts of which some are text. */
type Content = string | readonly { type: string; text?: unknown }[];

/** A message as the SDK's conversations have it. */
interface StoreMessage {
  id: string;
  role: string;
  content: Content;
  createdAt?: string | Date | undefined;
  excluded?: boolean | undefined;
}

/** A `store` for `createConversation` of the SDK. */
export interface EmulatorStore {
  // biome-ignore lint/suspicious/noExplicitAny: the state belongs to the SDK, which checks it
  load(conversationId: string): { messages: MessageRecord[]; edits: number; state: any; revision: number };
  append(
    conversationId: string,
    messages: readonly StoreMessage[],
    place: { edits: number; newest?: string | null | undefined; after?: string | null | undefined },
  ): number;
  setExcluded(conversationId: string, messageId: string, excluded: 0 | 1): void;
  saveState(conversationId: string, state: object, revision: number): void;
}

/**
 * Stores the turns of `createConversation` in the emulator's conversations, so that its compactions have them. Creates a
 * conversation that does not exist. The API has no such call: with the service, turns arrive there in another way.
 */
export function emulatorStore({ conversations }: Pick<Emulator, 'conversations'>): EmulatorStore {
  const { sdk } = conversations;
  const create = (id: string): void => {
    if (conversations.state(id) === undefined) conversations.create({ id });
  };
  const editsOf = (id: string): number => conversations.state(id)?.cuts ?? 0;
  const revisionOf = (id: string): number => sdk.states.get(id)?.revision ?? 0;
  const messagesOf = (id: string): MessageRecord[] =>
    conversations.messages(id).map((one) => ({ ...one, ...sdk.fields(id).get(one.id)?.fields }));
  const mark = (id: string, messageId: string, excluded: boolean): void => {
    const message = conversations.message(id, messageId);
    if (message !== undefined) conversations.saveMessage(id, { ...message, excluded });
  };
  return {
    load: (id) => {
      create(id); // before its context is read
      const [edits, revision, state] = [editsOf(id), revisionOf(id), sdk.states.get(id)?.state];
      return structuredClone({ messages: messagesOf(id), edits, state, revision });
    },
    append: (id, given, { edits, newest, after }) => {
      const before = messagesOf(id);
      const { pins = [] } = conversations.state(id) ?? {};
      const isGone = after != null && conversations.message(id, after) === undefined;
      const isNewer = newest !== undefined && newest !== (before.at(-1)?.id ?? null);
      if (edits !== editsOf(id) || isGone || isNewer) throw conflict();
      return conversations.together(() => {
        create(id);
        if (after !== undefined) conversations.cut(id, after);
        const added = unknown(given, (messageId) => conversations.message(id, messageId) !== undefined);
        conversations.append(id, added.map(inputOf));
        const out = new Set([...before, ...added].filter(({ excluded }) => excluded).map((message) => message.id));
        for (const { id: messageId, role, content, createdAt: _, excluded: __, ...more } of added) {
          const fields = { ...more, ...(role === 'tool' && { role }), ...(typeof content !== 'string' && { content }) };
          if (Object.keys(fields).length > 0)
            sdk.fields(id).set(messageId, { id: messageId, fields: structuredClone(fields) });
          if (out.has(messageId)) mark(id, messageId, true);
        }
        const state = conversations.state(id);
        const isStored = ({ messageId, content }: PinnedMemoryItem): boolean =>
          conversations.message(id, messageId)?.content === content;
        if (after !== undefined && state !== undefined) conversations.save({ ...state, pins: pins.filter(isStored) });
        return added.length;
      });
    },
    setExcluded: (id, messageId, excluded) => mark(id, messageId, excluded === 1),
    saveState: (id, state, revision) => {
      if (revision !== revisionOf(id)) throw conflict();
      create(id);
      sdk.states.set(id, { id, state: structuredClone(state), revision: revision + 1 });
    },
  };
}

/** Each message once of which the id is not known. */
function unknown(messages: readonly StoreMessage[], isKnown: (id: string) => boolean): StoreMessage[] {
  const first = new Map(messages.toReversed().map((message) => [message.id, message]));
  return messages.filter((message) => first.get(message.id) === message && !isKnown(message.id));
}

function inputOf({ id, role, content, createdAt }: StoreMessage): MessageInput {
  const time = createdAt === undefined ? undefined : new Date(createdAt).toISOString();
  // The service's conversations have texts, and no results of tools. Another role is an error of `append`.
  return { id, role: (role === 'tool' ? 'assistant' : role) as MessageRole, content: textOf(content), createdAt: time };
}

function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return content.flatMap(({ text }) => (typeof text === 'string' ? text : [])).join('\n');
}

/** The SDK knows a conflict by the name of its error, which this package does not import. */
function conflict(): Error {
  const error = new Error('The conversation has changed since this turn began.');
  error.name = 'ConversationConflictError';
  return error;
}
