import * as z from 'zod/mini';
import { described, text } from '../../base/fields.js';
import { Slices } from '../../base/slices.js';
import { PIN_CATEGORIES, pinnedItem, receiptRecord } from '../../store/conversation-records.js';
import { memoryInput, memoryItem } from '../../store/memory.js';
import type { Stores } from '../../store/stores.js';
import { type ControlRoutes, deletion, found, pageSize, wholeNumber } from '../control-routes.js';
import type { EmulatorParts } from '../parts.js';
import { foundConversations, searchConversations } from './conversation-search.js';
import { COSTS_BY, costReport, costResponse } from './cost.js';
import { pushedEvent, pushedEvents } from './events.js';

/** The actions of the inspector: watch, pin, exclude, and edit memory, without a session of the service. */
export function inspectorRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  watchRoutes(routes, parts);
  changeRoutes(routes, parts);
}

/** What the inspector watches. */
function watchRoutes(routes: ControlRoutes, { clock, log, changes, closed, stores }: EmulatorParts): void {
  routes.add('GET /events', {
    id: 'watch',
    summary: 'Stream requests and changes of stored data, as server-sent events',
    responses: { 200: { 'text/event-stream': pushedEvent } },
    handle: (_, c) => {
      const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
      const events = pushedEvents({ log, changes, clock, ends: [closed, c.req.raw.signal] });
      return new Response(events, { headers });
    },
  });
  const slices = new Slices();
  routes.add('GET /search/conversations', {
    id: 'searchConversations',
    summary: 'Find conversations by any words of a message, newest first',
    query: z.object({
      q: z.optional(described('Words. The id or one message contains all of them.', z.string())),
      offset: z.optional(wholeNumber),
      limit: z.optional(pageSize),
    }),
    responses: { 200: foundConversations },
    handle: ({ query }) => {
      const { q, offset = '0', limit = '50' } = query();
      return slices.run(searchConversations(stores, { q, offset: Number(offset), limit: Number(limit) }));
    },
  });
  routes.add('GET /conversations/:id/receipts', {
    id: 'listReceipts',
    summary: 'List what the last 100 compactions of a conversation did, newest first',
    responses: { 200: z.array(receiptRecord) },
    handle: ({ id }) => stores.conversations.receipts(idIn(stores, id)).reverse(),
  });
  routes.add('GET /usage', {
    id: 'getCost',
    summary: 'Get the tokens of a period and their price, by key, model, conversation or day',
    query: z.object({
      by: z.optional(z.enum(COSTS_BY)),
      from: z.optional(described('A day such as 2026-01-31.', z.string())),
      to: z.optional(z.string()),
    }),
    responses: { 200: costResponse },
    handle: ({ query }) => costReport(stores, clock.now(), query()),
  });
}

/** What it changes. */
function changeRoutes(routes: ControlRoutes, { stores, contexts }: EmulatorParts): void {
  routes.add('PUT /conversations/:id/pins/:messageId', {
    id: 'pin',
    summary: 'Pin a message',
    body: z.object({ category: z.optional(z.enum(PIN_CATEGORIES)) }),
    responses: { 200: pinnedItem },
    handle: async ({ id, param, body }) => {
      const { category } = await body();
      return contexts.pin(idIn(stores, id), param('messageId'), category ?? 'other');
    },
  });
  routes.add('DELETE /conversations/:id/pins/:messageId', {
    id: 'unpin',
    summary: 'Unpin a message',
    handle: ({ id, param }) => contexts.unpin(idIn(stores, id), param('messageId')),
  });
  routes.add('PATCH /conversations/:id/messages/:messageId', {
    id: 'changeMessage',
    summary: 'Exclude a message from the summary, or include it again',
    body: z.object({ excluded: z.boolean() }),
    handle: async ({ id, param, body }) => {
      const { excluded } = await body();
      await contexts.exclude(idIn(stores, id), param('messageId'), excluded);
    },
  });
  routes.add('GET /memory', {
    id: 'listAllMemory',
    summary: 'List the memory of all users and workspaces',
    responses: { 200: z.array(memoryItem) },
    handle: () => stores.memory.all().map(({ item }) => item),
  });
  routes.add('POST /memory', {
    id: 'addMemory',
    summary: 'Create a memory item for the first user, or for a workspace',
    body: memoryInput,
    responses: { 201: memoryItem },
    handle: async ({ body }) => stores.memory.create(await body()),
  });
  routes.add('PATCH /memory/:id', {
    id: 'changeMemory',
    summary: 'Update a memory item',
    body: z.object({ content: z.optional(text), isActive: z.optional(z.boolean()) }),
    responses: { 200: memoryItem },
    handle: async ({ id, body }) => {
      const { content, isActive } = await body();
      const { item } = found(stores.memory.get(id), 'memory item');
      return stores.memory.update(item.id, { content: content ?? item.content, isActive });
    },
  });
  routes.add(
    'DELETE /memory/:id',
    deletion('removeMemory', 'memory item', ({ id }) => stores.memory.delete(id)),
  );
}

/** The id of the conversation in the path. Throws a 404 if there is none. */
function idIn({ conversations }: Stores, id: string): string {
  return found(conversations.state(id), 'conversation').id;
}
