import { createUIMessageStreamResponse } from 'ai';
import { GatewayClient, toErrorData } from 'context-gateway';
import { toUIMessageStream } from 'context-gateway/ai-sdk';
import { createConversation } from 'context-gateway/conversation';
import { store } from '../../store';

const gateway = new GatewayClient({ maxRetryAfter: 5_000 }); // the page counts down a longer wait

export async function POST(request: Request): Promise<Response> {
  const { id: conversationId, messages } = await request.json();
  // Check here that the visitor may use the conversation.
  const conversation = createConversation({ gateway, model: 'atlas-small', conversationId, store });
  const { id, parts } = messages.at(-1);
  const question = { id: String(id), role: 'user', content: String(parts[0].text) }; // the page may send anything
  const stored = (await store.load(conversationId))?.messages ?? [];
  const options = { signal: request.signal }; // stop ends the reply, and keeps its text so far
  const last = stored.findLast(({ role }) => role === 'user');
  const reply = last?.id === question.id ? conversation.regenerate(options) : conversation.stream([question], options); // also after an error: such a turn is not stored
  const onError = (error: unknown) => JSON.stringify(toErrorData(error)); // safe to show
  return createUIMessageStreamResponse({ stream: toUIMessageStream(reply, { onError }) });
}
