import { convertToModelMessages, stepCountIs, streamText, type UIMessage, wrapLanguageModel } from 'ai';
import { GatewayClient, toErrorData } from 'context-gateway';
import { contextMiddleware, createAiSdkProvider, searchTool } from 'context-gateway/ai-sdk';
import { createConversation } from 'context-gateway/conversation';

const gateway = new GatewayClient({ maxRetryAfter: 5_000 });
const svc = createAiSdkProvider(gateway, { undocumented: 'send' }); // the API documents no tools

export async function POST(request: Request): Promise<Response> {
  const { id: conversationId, messages }: { id: string; messages: UIMessage[] } = await request.json();
  const store = { load: () => ({ messages: messages.slice(0, -1).map(asMessage) }) }; // the page has the messages
  const options = { gateway, model: 'atlas-small', conversationId, store };
  const conversation = createConversation({ ...options, contextWindow: 4_000 }); // the tokens to pay for, at most
  const result = streamText({
    model: wrapLanguageModel({ model: svc('atlas-small'), middleware: contextMiddleware(conversation) }),
    messages: await convertToModelMessages(messages),
    tools: { searchConversation: searchTool(conversation) }, // and yours
    stopWhen: stepCountIs(5),
    maxRetries: 0, // the page counts down
    abortSignal: request.signal,
    onError: ({ error }) => console.error(error), // for the log; the page gets the lines below
  });
  return result.toUIMessageStreamResponse({ onError: (error) => JSON.stringify(toErrorData(error)) });
}

function asMessage({ id, role, parts }: UIMessage) {
  return { id, role, content: parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n') };
}
