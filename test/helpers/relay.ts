/** A server that relays completions to its page, and keeps the key. */
import { type GatewayClient, toErrorResponse, toEventStream } from 'context-gateway';
import { Hono } from 'hono';
import * as z from 'zod';

/** What the page may send: no system messages, and no more than a person types. */
const chatSchema = z.object({
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string().max(20_000) })).max(50),
});
const INSTRUCTIONS = { role: 'system' as const, content: 'Answer briefly.' };

export function relayTo(gateway: GatewayClient): Hono {
  const app = new Hono();

  app.post('/chat', async ({ req, body, json }) => {
    const chat = chatSchema.safeParse(await req.json().catch(() => undefined));
    if (!chat.success) return json({ error: { message: 'Send { messages }.', type: 'invalid_request_error' } }, 400);
    const messages = [INSTRUCTIONS, ...chat.data.messages];
    const stream = await gateway.chat.completions.create(
      { model: 'atlas-small', messages, stream: true },
      // A page that leaves before the first word ends the completion as well; later on, its unread body does.
      { signal: req.raw.signal },
    );
    return body(toEventStream(stream), 200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  });

  // The page gets a typed error, without this server's own troubles; those are for the log.
  app.onError((error) => {
    console.error(error);
    return toErrorResponse(error);
  });

  return app;
}
