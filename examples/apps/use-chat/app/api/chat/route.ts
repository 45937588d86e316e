import { createUIMessageStreamResponse } from 'ai';
import { GatewayClient, toErrorData } from 'context-gateway';
import { toUIMessageStream } from 'context-gateway/ai-sdk';
import { createConversation } from 'context-gateway/conversation';
import { newQuestions, store } from '../../store';

const gateway = new GatewayClient({ maxRetryAfter: 5_000 }); // the page counts down a longer wait

export async function POST(request: Request): Promise<Response> {
  const { id: conversationId, messages } = await request.json().catch(() => ({}));
  if (!conversationId || !messages?.length) return new Response('There are no messages.', { status: 400 });
  // Check here that the visitor may use the conversation.
  const conversation = createConversation({ gateway, model: 'atlas-small', conversationId, store });
  const questions = await newQuestions(conversationId, messages);
  const options = { signal: request.signal }; // stop ends the reply, and keeps its text so far
  const reply = questions.length > 0 ? conversation.stream(questions, options) : conversation.regenerate(options);
  const onError = (error: unknown) => JSON.stringify(toErrorData(error)); // safe to show
  return createUIMessageStreamResponse({ stream: toUIMessageStream(reply, { onError }) });
}
