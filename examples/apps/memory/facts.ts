import type { ContextClient, GatewayClient } from 'context-gateway';
import * as z from 'zod';

const Facts = z.object({
  facts: z.array(
    z.object({
      type: z.enum(['preference', 'fact', 'constraint', 'definition']),
      key: z.string().min(1), // what it is about: the memory has one item for each
      content: z.string().min(1),
    }),
  ),
});

const TASK = `The user's message follows, with what is known about the user. Which lasting facts about themselves does the
user state? Reply with JSON only: { "facts": [{ "type": "preference" | "fact" | "constraint" | "definition", "key": "one
or two words", "content": "one sentence" }] }. If a fact changes what is known, use the same key. Most messages state none.`;

/** Remembers what a user says about themselves. Returns the new and the changed items. */
export async function remember(
  message: string,
  { gateway, context }: { gateway: GatewayClient; context: ContextClient },
) {
  const known = await context.memory.list();
  const content = JSON.stringify({ message, known: known.map(({ key, content }) => ({ key, content })) });
  const { parsed } = await gateway.chat.completions.parse(
    {
      model: 'atlas-small',
      temperature: 0,
      messages: [
        { role: 'system', content: TASK },
        { role: 'user', content },
      ],
    },
    { schema: Facts },
  );
  const items = [];
  for (const fact of parsed.facts) {
    const same = known.find(({ key }) => key === fact.key); // whatever type the model gives it now
    const item = await (same ? context.memory.update(same.id, { content: fact.content }) : context.memory.upsert(fact));
    if (!same) known.push(item);
    items.push(item);
  }
  return items;
}
