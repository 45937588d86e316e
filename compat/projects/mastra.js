/** An agent of Mastra with the AI SDK provider, and with the gateway's address: `mastra.js provider` and `mastra.js url`. */
import { Agent } from '@mastra/core/agent';
import { GatewayClient } from 'context-gateway';
import { createAiSdkProvider } from 'context-gateway/ai-sdk';

const MODELS = {
  provider: () => createAiSdkProvider(new GatewayClient(), { specification: 'v2' })('atlas-small'),
  url: () => ({
    id: 'context-gateway/atlas-small',
    url: `${process.env.CONTEXT_GATEWAY_BASE_URL}/v1`,
    apiKey: process.env.CONTEXT_GATEWAY_API_KEY,
  }),
};
const agent = new Agent({ id: 'agent', name: 'agent', instructions: 'Be short.', model: MODELS[process.argv[2]]() });
const question = 'We decided to keep invoices in PostgreSQL. Where do we keep invoices?';
const { text: plain } = await agent.generate(question);
let streamed = '';
for await (const piece of (await agent.stream(question)).textStream) streamed += piece;
console.log(JSON.stringify({ plain, streamed }));
process.exit(0); // its timers stay
