import { createUIMessageStreamResponse } from 'ai';
import { GatewayClient, toErrorData } from 'context-gateway';
import { turnToUIMessageStream } from 'context-gateway/ai-sdk';
import { createConversation } from 'context-gateway/conversation';
import { store } from '../../database';
import { begin, isRunning, refuseSecond } from '../../replies';
import { asMessage } from '../../store';

const gateway = new GatewayClient({ maxRetryAfter: 5_000 }); // the page counts down a longer wait

export async function POST(request: Request): Promise<Response> {
  const { id: conversationId, messages } = await request.json().catch(() => ({}));
  if (!conversationId || !messages?.length) return new Response('There are no messages.', { status: 400 });
  // Check here that the visitor may use the conversation.
  if (await isRunning(conversationId)) return refuseSecond();
  const conversation = createConversation({ gateway, model: 'atlas-small', conversationId, store });
  const { signal, consumeSseStream } = await begin(conversationId);
  const reply = conversation.stream([asMessage(messages.at(-1))], { signal });
  const onError = (error: unknown) => {
    console.error(error);
    return JSON.stringify(toErrorData(error)); // safe to show
  };
  return createUIMessageStreamResponse({ stream: turnToUIMessageStream(reply, { onError }), consumeSseStream });
}
