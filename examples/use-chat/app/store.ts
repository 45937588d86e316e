import type { UIMessage } from 'ai';
import type { TurnMetadata } from 'context-gateway/ai-sdk';
import { type FoundMessage, type StoredRow, textOf } from 'context-gateway/conversation';
import { store } from './database';
import { isRunning } from './replies';

/** An earlier message that a reply was given, as the page shows it. */
type Source = Pick<FoundMessage, 'id' | 'role' | 'text' | 'match'>;
type Search = { searchConversation: { input: { query: string }; output: FoundMessage[] } };
export type ChatMessage = UIMessage<TurnMetadata, { recalled: Source[] }, Search>;

/** The stored messages, for the page. If a reply is being written, the page resumes it. */
export async function earlier(conversationId: string): Promise<{ messages: ChatMessage[]; resume: boolean }> {
  const resume = await isRunning(conversationId); // first: a reply that ends meanwhile is stored
  const { messages = [] } = (await store.load(conversationId)) ?? {};
  const end = resume ? messages.map(({ role }) => role).lastIndexOf('user') + 1 : messages.length;
  return { messages: messages.slice(0, end).map((message) => shown(message, messages)), resume };
}

function shown(message: StoredRow, all: readonly StoredRow[]): ChatMessage {
  const { id, role, recalled } = message;
  const sources = recalled?.map(({ id, text = '', match }): Source => {
    const found = all.find((message) => message.id === id);
    return { id, match, role: found?.role ?? 'summary', text: found ? textOf(found) : text };
  });
  return {
    id: String(id ?? ''),
    role: role === 'user' ? 'user' : 'assistant',
    parts: [
      ...(sources ? [{ type: 'data-recalled' as const, data: sources }] : []),
      { type: 'text', text: textOf(message) },
    ],
  };
}

export function asMessage({ id, role, parts }: UIMessage) {
  return { id, role, content: parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n') };
}
