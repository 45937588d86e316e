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
  for (const { type, key, content } of parsed.facts) {
    const stored = await context.memory.list(); // again: another message may have stored it meanwhile
    const same = stored.find((item) => item.key.toLowerCase() === key.toLowerCase()); // of any type
    const item = same
      ? await context.memory.update(same.id, { content })
      : await context.memory.create({ type, key, content });
    items.push(item);
  }
  return items;
}
