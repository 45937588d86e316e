/** `app/api/chat/route.ts` of a Next.js app whose page uses `useChat` and keeps the messages. The model can search them. */
import { convertToModelMessages, stepCountIs, streamText, type UIMessage, wrapLanguageModel } from 'ai';
import { GatewayClient, toErrorData } from 'context-gateway';
import { contextMiddleware, createAiSdkProvider, searchTool } from 'context-gateway/ai-sdk';
import { createConversation } from 'context-gateway/conversation';

const gateway = new GatewayClient({ maxRetryAfter: 0 }); // the page counts down
const svc = createAiSdkProvider(gateway, { undocumented: 'send' }); // tools

export async function POST(request: Request): Promise<Response> {
  const { id: conversationId, messages }: { id: string; messages: UIMessage[] } = await request.json();
  const store = { load: () => ({ messages: messages.slice(0, -1).map(asMessage) }) };
  const conversation = createConversation({
    ...{ gateway, conversationId, store },
    model: 'atlas-small',
    contextWindow: 4_000,
  });
  const result = streamText({
    model: wrapLanguageModel({ model: svc('atlas-small'), middleware: contextMiddleware(conversation) }),
    messages: await convertToModelMessages(messages),
    tools: { searchConversation: searchTool(conversation) },
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    abortSignal: request.signal,
    onError: ({ error }) => console.error(error), // for the log; the page gets the lines below
  });
  return result.toUIMessageStreamResponse({ onError: (error) => JSON.stringify(toErrorData(error)) });
}

function asMessage({ id, role, parts }: UIMessage) {
  return { id, role, content: parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n') };
}
