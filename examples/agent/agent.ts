/** An agent that looks up orders by itself, and refunds one only after your yes. Run: npm run example agent */
import { createInterface } from 'node:readline';
import { GatewayClient, tool } from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
import * as z from 'zod';

const ORDERS = new Map([
  ['A-7', { item: 'a rope of 20 metres', price: '35 euros', isRefunded: false }],
  ['B-2', { item: 'a lamp for the pier', price: '80 euros', isRefunded: false }],
]);
const parameters = z.object({ order: z.string() });

const lookUp = tool({
  name: 'look_up',
  description: 'What was ordered, and for how much',
  parameters,
  execute: ({ order }) => {
    const found = ORDERS.get(order);
    if (found === undefined) return `There is no order ${order}.`;
    return `Order ${order} is ${found.item} for ${found.price}${found.isRefunded ? ', which was refunded' : ''}.`;
  },
});
/** Without `execute`: its calls wait for a person. */
const refund = tool({ name: 'refund', description: 'Pays the price of an order back', parameters });

await using gateway = new GatewayClient(); // address and key from the environment
await using conversation = createConversation({
  gateway,
  model: 'atlas-small',
  conversationId: 'desk',
  instructions: 'You help at the desk of a shop.',
  tools: [lookUp, refund],
});

const lines = createInterface({ input: process.stdin, output: process.stdout });
lines.setPrompt('> ');
console.log('Try: Look up order "A-7". Then: Refund order "A-7". Ctrl+D ends.');
lines.prompt();
for await (const line of lines) {
  const waiting = await conversation.toolCalls();
  const reply = conversation.stream(waiting.length === 0 ? line : waiting.map((call) => decide(call, line)));
  for await (const text of reply) process.stdout.write(text);
  for (const { function: called } of (await reply.final()).toolCalls ?? [])
    process.stdout.write(`${called.name} ${called.arguments}: is that right? yes or no`);
  console.log();
  lines.prompt();
}

/** The result of a call: the refund after a yes, or what the person said instead. */
function decide(call: { id: string; function: { arguments: string } }, answer: string) {
  const { order } = parameters.parse(JSON.parse(call.function.arguments));
  const found = ORDERS.get(order);
  const isApproved = answer.trim().toLowerCase() === 'yes' && found !== undefined;
  if (isApproved) found.isRefunded = true;
  const content = isApproved ? `Order ${order} is refunded.` : `Not done. The person said: ${answer}`;
  return { role: 'tool' as const, tool_call_id: call.id, content };
}
