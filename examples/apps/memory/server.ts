/** A chat that remembers what its user says, and a page where the user sees it. */
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { ContextClient, GatewayClient } from 'context-gateway';
import { createConversation, memoryStore, toResponse } from 'context-gateway/conversation';
import { Hono } from 'hono';
import { remember } from './facts.js';
import { memoryPage } from './page.js';

/** For one user. With several, `context.forUser(token)` is the context of each request. */
export function memoryChat(clients: { gateway: GatewayClient; context: ContextClient }): Hono {
  const settings = { ...clients, model: 'atlas-small', conversationId: 'conv_sample', store: memoryStore() };
  const app = new Hono();
  app.route(
    '/',
    memoryPage(() => clients.context),
  );
  app.post('/chat', async ({ req }) => {
    const { text = '' } = Object(await req.json().catch(() => undefined)); // a page may send anything
    const reply = createConversation(settings).stream(String(text), { signal: req.raw.signal });
    const response = await toResponse(reply, { onError: console.error });
    // While the reply is written, unless the message was refused.
    if (response.ok) remember(String(text), clients).catch(({ message }) => console.log('not remembered:', message));
    return response;
  });
  return app;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const app = memoryChat({ gateway: new GatewayClient(), context: new ContextClient() });
  const port = Number(process.env.PORT ?? 0);
  serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (info) =>
    console.log(`POST {"text"} to http://127.0.0.1:${info.port}/chat, and open http://127.0.0.1:${info.port}/memory`),
  );
}
