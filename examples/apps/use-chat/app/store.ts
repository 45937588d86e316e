import type { UIMessage } from 'ai';
import type { FoundMessage, TurnMetadata } from 'context-gateway/ai-sdk';
import { memoryStore, type Recalled } from 'context-gateway/conversation';

// In place of your database. Global, because Next.js loads this module twice: for pages and for routes.
const shared = globalThis as { store?: ReturnType<typeof memoryStore> };
shared.store ??= memoryStore();
export const { store } = shared;

type Search = { searchConversation: { input: { query: string }; output: FoundMessage[] } };
export type ChatMessage = UIMessage<TurnMetadata, { recalled: Recalled[] }, Search>;

/** The stored messages, for the page. */
export async function earlier(conversationId: string): Promise<ChatMessage[]> {
  const { messages = [] } = (await store.load(conversationId)) ?? {};
  return messages.map(({ id = '', role, content }) => ({
    id,
    role: role === 'user' ? 'user' : 'assistant',
    parts: [{ type: 'text', text: content }],
  }));
}

/** The user's new message, and earlier ones without a reply. None if the page asks for the last reply again. */
export async function newQuestions(conversationId: string, messages: UIMessage[]) {
  const { messages: stored = [] } = (await store.load(conversationId)) ?? {};
  const last = messages.at(-1);
  if (last?.id === stored.filter(({ role }) => role === 'user').at(-1)?.id) return [];
  const isNew = (message: UIMessage) => message === last || !stored.some(({ id }) => id === message.id);
  return messages.filter((message) => message.role === 'user' && isNew(message)).map(asMessage);
}

export function asMessage({ id, role, parts }: UIMessage) {
  return { id, role, content: parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n') };
}
