import type { Context } from 'hono';
import * as z from 'zod/mini';
import { described, text } from '../../base/fields.js';
import { Slices } from '../../base/slices.js';
import { PIN_CATEGORIES, pinnedItem, receiptRecord } from '../../store/conversation-records.js';
import { memoryInput, memoryItem } from '../../store/memory.js';
import type { Stores } from '../../store/stores.js';
import {
  type ControlRoutes,
  checkedBody,
  checkedQuery,
  deletion,
  found,
  idOf,
  pageSize,
  wholeNumber,
} from '../control-routes.js';
import type { EmulatorParts } from '../parts.js';
import { foundConversations, searchConversations } from './conversation-search.js';
import { COSTS_BY, costReport, costResponse } from './cost.js';
import { pushedEvent, pushedEvents } from './events.js';

const searchQuery = z.object({
  q: z.optional(described('Words. The id or one message contains all of them.', z.string())),
  offset: z.optional(wholeNumber),
  limit: z.optional(pageSize),
});
const costQuery = z.object({
  by: z.optional(z.enum(COSTS_BY)),
  from: z.optional(described('A day such as 2026-01-31.', z.string())),
  to: z.optional(z.string()),
});
const pinBody = z.object({ category: z.optional(z.enum(PIN_CATEGORIES)) });
const messageChange = z.object({ excluded: z.boolean() });
const memoryChange = z.object({ content: z.optional(text), isActive: z.optional(z.boolean()) });

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
    handle: (c) => {
      const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
      const events = pushedEvents({ log, changes, clock, ends: [closed, c.req.raw.signal] });
      return new Response(events, { headers });
    },
  });
  const slices = new Slices();
  routes.add('GET /search/conversations', {
    id: 'searchConversations',
    summary: 'Find conversations by any words of a message, newest first',
    query: searchQuery,
    responses: { 200: foundConversations },
    handle: (c) => {
      const { q, offset = '0', limit = '50' } = checkedQuery(c, searchQuery);
      return slices.run(searchConversations(stores, { q, offset: Number(offset), limit: Number(limit) }));
    },
  });
  routes.add('GET /conversations/:id/receipts', {
    id: 'listReceipts',
    summary: 'List what the last 100 compactions of a conversation did, newest first',
    responses: { 200: z.array(receiptRecord) },
    handle: (c) => stores.conversations.receipts(idIn(stores, c)).reverse(),
  });
  routes.add('GET /usage', {
    id: 'getCost',
    summary: 'Get the tokens of a period and their price, by key, model, conversation or day',
    query: costQuery,
    responses: { 200: costResponse },
    handle: (c) => costReport(stores, clock.now(), checkedQuery(c, costQuery)),
  });
}

/** What it changes. */
function changeRoutes(routes: ControlRoutes, { stores, contexts }: EmulatorParts): void {
  routes.add('PUT /conversations/:id/pins/:messageId', {
    id: 'pin',
    summary: 'Pin a message',
    body: pinBody,
    responses: { 200: pinnedItem },
    handle: async (c) => {
      const { category } = await checkedBody(c, pinBody);
      return contexts.pin(idIn(stores, c), idOf(c, 'messageId'), category ?? 'other');
    },
  });
  routes.add('DELETE /conversations/:id/pins/:messageId', {
    id: 'unpin',
    summary: 'Unpin a message',
    handle: (c) => contexts.unpin(idIn(stores, c), idOf(c, 'messageId')),
  });
  routes.add('PATCH /conversations/:id/messages/:messageId', {
    id: 'changeMessage',
    summary: 'Exclude a message from the summary, or include it again',
    body: messageChange,
    handle: async (c) => {
      const { excluded } = await checkedBody(c, messageChange);
      await contexts.exclude(idIn(stores, c), idOf(c, 'messageId'), excluded);
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
    handle: async (c) => stores.memory.create(await checkedBody(c, memoryInput)),
  });
  routes.add('PATCH /memory/:id', {
    id: 'changeMemory',
    summary: 'Update a memory item',
    body: memoryChange,
    responses: { 200: memoryItem },
    handle: async (c) => {
      const { content, isActive } = await checkedBody(c, memoryChange);
      const { item } = found(stores.memory.get(idOf(c)), 'memory item');
      return stores.memory.update(item.id, { content: content ?? item.content, isActive });
    },
  });
  routes.add(
    'DELETE /memory/:id',
    deletion('removeMemory', 'memory item', (c) => stores.memory.delete(idOf(c))),
  );
}

/** The id of the conversation in the path. Throws a 404 if there is none. */
function idIn({ conversations }: Stores, c: Context): string {
  return found(conversations.state(idOf(c)), 'conversation').id;
}
