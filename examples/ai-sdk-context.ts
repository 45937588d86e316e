/** Add a conversation's context to a model of the AI SDK (ai 7). Run: npm run example ai-sdk-context */
import { streamText, wrapLanguageModel } from 'ai';
import { ContextClient, GatewayClient } from 'context-gateway';
import { contextMiddleware, createAiSdkProvider } from 'context-gateway/ai-sdk';
import { createConversation } from 'context-gateway/conversation';

await using context = new ContextClient(); // addresses and credentials from the environment
await using gateway = new GatewayClient();
const [conversationId, id] = ['conv_sample', 'atlas-large'];

await context.compact(conversationId, { level: 'deep' });
await using conversation = createConversation({ context, gateway, conversationId, model: id });

// Works with any model of the AI SDK.
const model = wrapLanguageModel({
  model: createAiSdkProvider(gateway, { specification: 'v4' })(id),
  middleware: contextMiddleware(conversation),
});

const result = streamText({ model, prompt: 'What did we decide to write?' });
for await (const text of result.textStream) process.stdout.write(text);
console.log(`\n${(await result.usage).inputTokens} tokens were read, the context among them`);

await conversation.idle(); // waits for a compaction if one is running
