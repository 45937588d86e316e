/** Stream a completion through the AI SDK (ai 7). Run: npm run example ai-sdk */
import { streamText } from 'ai';
import { GatewayClient } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';

await using gateway = new GatewayClient(); // address and key from the environment
const svc = createAiSdkProvider(gateway); // for ai 5: { specification: 'v2' }

const result = streamText({
  model: svc('atlas-large'),
  instructions: 'The export is written as Parquet. It runs every night at two.',
  prompt: 'When does it run?',
  onError: ({ error }) => console.error('The stream failed:', error),
});

for await (const text of result.textStream) process.stdout.write(text);
const { totalTokens } = await result.usage;
console.log(`\n${totalTokens} tokens, ended by ${await result.finishReason}`);
console.log('The rate limit:', (await result.providerMetadata)?.svc?.rateLimit);
