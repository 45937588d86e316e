/** Store a preference of the user, and use it in a completion. Run: npm run example remember-preference */
import { ContextClient, GatewayClient } from 'context-gateway';

await using context = new ContextClient();
await using gateway = new GatewayClient();

const item = await context.memory.create({
  type: 'preference',
  key: 'dates',
  content: 'Dates are written as 2026-01-31.',
});
await context.memory.update(item.id, { content: 'Dates are written as 31 January 2026.' });

const preferences = await context.memory.list({ type: 'preference' });
const completion = await gateway.chat.completions.create({
  model: 'birch-medium',
  messages: [
    { role: 'system', content: preferences.map(({ content }) => content).join('\n') },
    { role: 'user', content: 'How are dates written?' },
  ],
});
console.log(completion.choices[0]?.message.content);

await context.memory.delete(item.id);
