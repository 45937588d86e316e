import * as z from 'zod/mini';
import { memoryItem, pinnedItem } from '../api/schemas.js';
import type { Changes } from '../base/changes.js';
import { HttpError } from '../base/errors.js';
import type { ConversationContexts } from '../context/conversation-context.js';
import type { RequestLog } from '../http/request-log.js';
import type { Stores } from '../store/stores.js';
import { memoryChange, memorySchema, messageChange, pinBody } from './bodies.js';
import { type ControlledEmulator, type ControlRoutes, checkedBody, found, idOf } from './control-routes.js';
import { pushedEvents } from './events.js';
import { ok, pushedEvent } from './responses.js';

/** Further dependencies of the inspector's endpoints. */
export interface WorkbenchParts {
  stores: Stores;
  contexts: ConversationContexts;
  log: RequestLog;
  changes: Changes;
  closed: AbortSignal;
}

/** The actions of the inspector: watch, pin, exclude, and edit memory, without a session of the service. */
export function workbenchRoutes(
  routes: ControlRoutes,
  { clock }: ControlledEmulator,
  { stores, contexts, log, changes, closed }: WorkbenchParts,
): void {
  const { conversations, memory } = stores;
  const conversation = (id: string): string => found(conversations.state(id), 'conversation').id;

  routes.route('/events', {
    GET: {
      id: 'watch',
      summary: 'Stream requests and changes of stored data, as server-sent events',
      responses: { 200: { 'text/event-stream': pushedEvent } },
      handle: (c) => {
        const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
        const events = pushedEvents({ log, changes, clock, ends: [closed, c.req.raw.signal] });
        return new Response(events, { headers });
      },
    },
  });
  routes.route('/conversations/:id/pins/:messageId', {
    PUT: {
      id: 'pin',
      summary: 'Pin a message',
      body: pinBody,
      responses: { 200: pinnedItem },
      handle: async (c) => {
        const { category } = await checkedBody(c, pinBody);
        return c.json(contexts.pin(conversation(idOf(c)), idOf(c, 'messageId'), category ?? 'other'));
      },
    },
    DELETE: {
      id: 'unpin',
      summary: 'Unpin a message',
      responses: { 200: ok },
      handle: (c) => {
        contexts.unpin(conversation(idOf(c)), idOf(c, 'messageId'));
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/conversations/:id/messages/:messageId', {
    PATCH: {
      id: 'changeMessage',
      summary: 'Exclude a message from the summary, or include it again',
      body: messageChange,
      responses: { 200: ok },
      handle: async (c) => {
        const { excluded } = await checkedBody(c, messageChange);
        await contexts.exclude(conversation(idOf(c)), idOf(c, 'messageId'), excluded);
        return c.json({ ok: true });
      },
    },
  });
  routes.route('/memory', {
    GET: {
      id: 'listAllMemory',
      summary: 'List the memory of all users and workspaces',
      responses: { 200: z.array(memoryItem) },
      handle: (c) => c.json(memory.all().map(({ item }) => item)),
    },
    POST: {
      id: 'addMemory',
      summary: 'Create a memory item for the first user, or for a workspace',
      body: memorySchema,
      responses: { 201: memoryItem },
      handle: async (c) => c.json(memory.create(await checkedBody(c, memorySchema)), 201),
    },
  });
  routes.route('/memory/:id', {
    PATCH: {
      id: 'changeMemory',
      summary: 'Update a memory item',
      body: memoryChange,
      responses: { 200: memoryItem },
      handle: async (c) => {
        const { content, isActive } = await checkedBody(c, memoryChange);
        const { item } = found(memory.get(idOf(c)), 'memory item');
        return c.json(memory.update(item.id, { content: content ?? item.content, isActive }));
      },
    },
    DELETE: {
      id: 'removeMemory',
      summary: 'Delete a memory item',
      responses: { 200: ok },
      handle: (c) => {
        if (!memory.delete(idOf(c))) throw new HttpError(404, 'there is no such memory item');
        return c.json({ ok: true });
      },
    },
  });
}
