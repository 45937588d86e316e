import * as z from 'zod/mini';
import type { Changes } from '../base/changes.js';
import { checked } from '../base/checked.js';
import { Refusal } from '../base/errors.js';
import type { ConversationContexts } from '../context/conversation-context.js';
import type { RequestLog } from '../http/request-log.js';
import { PIN_CATEGORIES } from '../store/conversation-records.js';
import { MEMORY_TYPES } from '../store/memory.js';
import type { Stores } from '../store/stores.js';
import { pushedEvents } from './events.js';
import { bodyOf, type ControlledEmulator, found, type Plane } from './plane.js';

/** What the workbench needs beside the emulator's handles. */
export interface WorkbenchParts {
  stores: Stores;
  contexts: ConversationContexts;
  log: RequestLog;
  changes: Changes;
  closed: AbortSignal;
}

/** What a person does at the inspector: watch, pin, exclude, remember, remove; without a session of the service. */
export function workbenchRoutes(
  app: Plane,
  { clock }: ControlledEmulator,
  { stores, contexts, log, changes, closed }: WorkbenchParts,
): void {
  const { conversations, memory } = stores;
  const conversation = (id: string): string => found(conversations.state(id), 'conversation').id;

  app.get('/events', () => {
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
    return new Response(pushedEvents({ log, changes, clock, closed }), { headers });
  });
  app.get('/requests/:id', (c) => c.json(found(log.find(c.req.param('id')), 'request')));

  app.delete('/conversations/:id', (c) => {
    if (!conversations.delete(c.req.param('id'))) throw new Refusal(404, 'there is no such conversation');
    return c.json({ ok: true });
  });
  app.put('/conversations/:id/pins/:messageId', async (c) => {
    const { category } = checked(pinSchema, await bodyOf(c));
    return c.json(contexts.pin(conversation(c.req.param('id')), c.req.param('messageId'), category ?? 'other'));
  });
  app.delete('/conversations/:id/pins/:messageId', (c) => {
    contexts.unpin(conversation(c.req.param('id')), c.req.param('messageId'));
    return c.json({ ok: true });
  });
  app.patch('/conversations/:id/messages/:messageId', async (c) => {
    const { excluded } = checked(messageChangeSchema, await bodyOf(c));
    await contexts.exclude(conversation(c.req.param('id')), c.req.param('messageId'), excluded);
    return c.json({ ok: true });
  });

  app.get('/memory', (c) => c.json(memory.all().map(({ item }) => item)));
  app.post('/memory', async (c) => c.json(memory.create(checked(memorySchema, await bodyOf(c))), 201));
  app.patch('/memory/:id', async (c) => {
    const id = c.req.param('id');
    const { content, isActive } = checked(memoryChangeSchema, await bodyOf(c));
    const { item } = found(memory.get(id), 'memory item');
    return c.json(memory.update(id, { content: content ?? item.content, isActive }));
  });
  app.delete('/memory/:id', (c) => {
    if (!memory.delete(c.req.param('id'))) throw new Refusal(404, 'there is no such memory item');
    return c.json({ ok: true });
  });
}

const text = z.string().check(z.minLength(1));
const pinSchema = z.object({ category: z.optional(z.enum(PIN_CATEGORIES)) });
const messageChangeSchema = z.object({ excluded: z.boolean() });
const memorySchema = z.object({ type: z.enum(MEMORY_TYPES), key: text, content: text, workspaceId: z.optional(text) });
const memoryChangeSchema = z.object({ content: z.optional(text), isActive: z.optional(z.boolean()) });
