import { convertToModelMessages, isStepCount, streamText, wrapLanguageModel } from 'ai';
import { GatewayClient, toErrorData } from 'context-gateway';
import { contextMiddleware, createAiSdkProvider, searchTool } from 'context-gateway/ai-sdk';
import { createConversation } from 'context-gateway/conversation';
import { store } from '../../database';
import { begin, isRunning, refuseSecond } from '../../replies';
import { asMessage } from '../../store';

const gateway = new GatewayClient({ maxRetryAfter: 5_000 });
const svc = createAiSdkProvider(gateway);

export async function POST(request: Request): Promise<Response> {
  const { id: conversationId, messages } = await request.json().catch(() => ({}));
  if (!conversationId || !messages?.length) return new Response('There are no messages.', { status: 400 });
  // Check here that the visitor may use the conversation.
  if (await isRunning(conversationId)) return refuseSecond();
  const contextWindow = 4_000; // at most so many tokens for each request
  const conversation = createConversation({ gateway, model: 'atlas-small', conversationId, store, contextWindow });
  const turn = await conversation.prepare([asMessage(messages.at(-1))]); // stores the question before it is sent
  const { signal, consumeSseStream } = await begin(conversationId);
  const result = streamText({
    model: wrapLanguageModel({ model: svc('atlas-small'), middleware: contextMiddleware(conversation) }),
    messages: await convertToModelMessages(messages),
    tools: { searchConversation: searchTool(conversation) }, // and your own
    stopWhen: isStepCount(5),
    maxRetries: 0, // the page counts down
    abortSignal: signal,
    onError: ({ error }) => console.error(error), // the page gets the text of the other onError
  });
  return result.toUIMessageStreamResponse({
    consumeSseStream,
    originalMessages: messages,
    generateMessageId: () => turn.replyId,
    onError: (error) => JSON.stringify(toErrorData(error)),
    onFinish: async ({ responseMessage, finishReason }) => {
      const { content } = asMessage(responseMessage);
      if (content === '') return; // the question is stored: the page asks again
      await turn.finish({ content, stopped: finishReason !== 'stop' });
    },
  });
}
