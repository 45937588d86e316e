/** A support chat: streams, stops, resumes, regenerates and edits. Messages are in SQLite or PostgreSQL. Run: npm run example support-chat */
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { GatewayClient, toErrorResponse } from 'context-gateway';
import {
  type Conversation,
  ConversationConflictError,
  type ConversationOptions,
  type ConversationStore,
  createConversation,
  type ReplyStream,
  type StoredRow,
  type TurnOptions,
  toResponse,
} from 'context-gateway/conversation';
import { postgresStore, sqliteStore } from 'context-gateway/stores';
import { Hono } from 'hono';
import Database from 'libsql';
import pg from 'pg';
import * as z from 'zod';
import { buildPage } from './build-page.js';

const INSTRUCTIONS = 'You are the support of a shipping company. Answer briefly.';
/** What the page may send. `newest` is the newest message that it shows. */
const newest = z.optional(z.string());
const message = z.object({ id: z.string(), text: z.string() });
const again = z.object({ newest });
const edit = z.object({ messageId: z.string(), text: z.string(), newest });
const BAD_REQUEST = { error: { message: 'The request is incomplete.', type: 'invalid_request_error' } };

type Options = Pick<ConversationOptions, 'gateway' | 'context' | 'compaction' | 'contextWindow'> & {
  store: ConversationStore;
};

/** A reply that is being written, and the messages above it. */
interface Running {
  reply: ReplyStream;
  above: StoredRow[];
  stop: AbortController;
}

export function supportChat(options: Options): Hono {
  const app = new Hono();
  const settings = { ...options, model: 'atlas-small', instructions: INSTRUCTIONS, onError: console.error };
  /** A new object for each request: all that it knows is in the store. */
  const conversation = (conversationId: string) => createConversation({ ...settings, conversationId });
  const stored = async (id: string): Promise<readonly StoredRow[]> => (await options.store.load(id))?.messages ?? [];
  /** By conversation. A reply goes on when its page leaves: a page that is reloaded, or finds its connection again, reads it. */
  const running = new Map<string, Running>();

  async function respond(
    id: string,
    start: (one: Conversation, options: TurnOptions) => ReplyStream,
    above: (messages: readonly StoredRow[]) => Running['above'],
  ): Promise<Response> {
    const messages = await stored(id);
    if (running.has(id)) throw new ConversationConflictError(); // another tab was faster
    const stop = new AbortController();
    const reply = start(conversation(id), { background: true, signal: stop.signal });
    running.set(id, { reply, above: above(messages), stop });
    const end = () => running.delete(id);
    reply.final().then(end, end); // when it is stored
    return toResponse(reply, { onError: console.error });
  }

  // A real app checks here that the visitor may use the conversation.
  app.get('/chat/:id', async ({ req, json }) => {
    const id = req.param('id');
    const messages = await stored(id);
    const above = running.get(id)?.above;
    return json({ messages: above ?? messages, isRunning: above !== undefined });
  });
  app.get('/chat/:id/reply', async ({ req, body }) => {
    const one = running.get(req.param('id'));
    return one === undefined ? body(null, 204) : toResponse(one.reply);
  });
  app.post('/chat/:id/stop', ({ req, body }) => {
    running.get(req.param('id'))?.stop.abort();
    return body(null, 204);
  });
  app.post('/chat/:id', async ({ req, json }) => {
    const { data } = message.safeParse(await req.json().catch(() => undefined));
    if (data === undefined) return json(BAD_REQUEST, 400);
    const question = { id: data.id, role: 'user' as const, content: data.text };
    return respond(
      req.param('id'),
      (one, options) => one.stream([question], options),
      (messages) => [...messages.filter(({ id }) => id !== question.id), question],
    );
  });
  app.post('/chat/:id/regenerate', async ({ req, json }) => {
    const { data } = again.safeParse(await req.json().catch(() => undefined));
    if (data === undefined) return json(BAD_REQUEST, 400);
    return respond(
      req.param('id'),
      (one, options) => one.regenerate({ ...options, ...data }),
      (messages) => messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1),
    );
  });
  app.post('/chat/:id/edit', async ({ req, json }) => {
    const { data } = edit.safeParse(await req.json().catch(() => undefined));
    if (data === undefined) return json(BAD_REQUEST, 400);
    const { messageId, text: content, newest } = data;
    return respond(
      req.param('id'),
      (one, options) => one.edit(messageId, content, { ...options, newest }),
      (messages) => [
        ...messages.slice(
          0,
          messages.findIndex(({ id }) => id === messageId),
        ),
        { id: messageId, role: 'user', content },
      ],
    );
  });
  app.onError((error) => {
    console.error(error);
    return toErrorResponse(error);
  });
  return app;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const database = process.env.DATABASE ?? ':memory:'; // a file, or postgres://…
  const store = database.startsWith('postgres')
    ? postgresStore(new pg.Pool({ connectionString: database }))
    : sqliteStore(new Database(database));
  await store.migrate();
  const app = supportChat({ gateway: new GatewayClient(), store, contextWindow: 4_000 });
  const page = await buildPage();
  app.get('*', ({ req }) => page(req.path));
  const port = Number(process.env.PORT ?? 0);
  serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (info) => console.log(`Open http://127.0.0.1:${info.port}`));
}
