/** A support chat: streams, stops, regenerates and edits. Messages are in SQLite. Run: npm run example support-chat */
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { GatewayClient, toErrorResponse } from 'context-gateway';
import { type ConversationOptions, type ConversationStore, createConversation } from 'context-gateway/conversation';
import { Hono } from 'hono';
import Database from 'libsql';
import * as z from 'zod';
import { buildPage } from '../build-page.js';
import { sqliteStore } from './sqlite-store.js';

const INSTRUCTIONS = 'You are the support of a shipping company. Answer briefly.';
/** What the page may send. */
const message = z.object({ text: z.string() });
const edit = z.object({ messageId: z.string(), text: z.string() });
const BAD_REQUEST = { error: { message: 'The request is incomplete.', type: 'invalid_request_error' } };

type Options = Pick<ConversationOptions, 'gateway' | 'context' | 'contextWindow'> & {
  store: ConversationStore;
};

export function supportChat(options: Options): Hono {
  const app = new Hono();
  const settings = { ...options, model: 'atlas-small', instructions: INSTRUCTIONS, onError: console.error };
  /** A new object for each request: all that it knows is in the store. */
  const conversation = (conversationId: string) => createConversation({ ...settings, conversationId });

  // A real app checks here that the visitor may use the conversation.
  app.get('/chat/:id', async ({ req, json }) => json((await options.store.load(req.param('id')))?.messages ?? []));
  app.post('/chat/:id', async ({ req, json }) => {
    const { data } = message.safeParse(await req.json().catch(() => undefined));
    if (data === undefined) return json(BAD_REQUEST, 400);
    return conversation(req.param('id')).respond(data.text, { signal: req.raw.signal });
  });
  app.post('/chat/:id/regenerate', ({ req }) =>
    conversation(req.param('id')).regenerate({ signal: req.raw.signal }).toResponse(),
  );
  app.post('/chat/:id/edit', async ({ req, json }) => {
    const { data } = edit.safeParse(await req.json().catch(() => undefined));
    if (data === undefined) return json(BAD_REQUEST, 400);
    return conversation(req.param('id')).edit(data.messageId, data.text, { signal: req.raw.signal }).toResponse();
  });
  app.onError((error) => {
    console.error(error);
    return toErrorResponse(error);
  });
  return app;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const db = new Database(process.env.DATABASE ?? ':memory:');
  const app = supportChat({ gateway: new GatewayClient(), store: sqliteStore(db), contextWindow: 4_000 });
  const page = await buildPage('support-chat');
  app.get('*', ({ req }) => page(req.path));
  const port = Number(process.env.PORT ?? 0);
  serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (info) => console.log(`Open http://127.0.0.1:${info.port}`));
}
