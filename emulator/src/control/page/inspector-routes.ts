import type { Context } from 'hono';
import * as z from 'zod/mini';
import { memoryItem, pinnedItem } from '../../api/schemas.js';
import type { Stores } from '../../store/stores.js';
import { costQuery, memoryChange, memorySchema, messageChange, pinBody } from '../bodies.js';
import {
  type ControlMethods,
  type ControlRoutes,
  checkedBody,
  checkedQuery,
  deletion,
  found,
  idOf,
} from '../control-routes.js';
import type { EmulatorParts } from '../parts.js';
import { costResponse, pushedEvent, receiptRecord, requestEvent } from '../responses.js';
import { costReport } from './cost.js';
import { pushedEvents } from './events.js';
import { requestEvents } from './request-events.js';

/** The actions of the inspector: watch, pin, exclude, and edit memory, without a session of the service. */
export function inspectorRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  routes.route('/events', watchMethods(parts));
  routes.route('/requests/:id/events', followMethods(parts));
  routes.route('/conversations/:id/receipts', receiptMethods(parts));
  routes.route('/usage', costMethods(parts));
  routes.route('/conversations/:id/pins/:messageId', pinMethods(parts));
  routes.route('/conversations/:id/messages/:messageId', messageChangeMethods(parts));
  routes.route('/memory', memoryListMethods(parts));
  routes.route('/memory/:id', memoryMethods(parts));
}

/** `/events` */
function watchMethods({ clock, log, changes, closed }: EmulatorParts): ControlMethods {
  return {
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
  };
}

/** `/requests/:id/events` */
function followMethods({ log, closed }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'followRequest',
      summary: 'Stream the events of a response while they are sent, as server-sent events',
      responses: { 200: { 'text/event-stream': requestEvent } },
      handle: (c) => {
        const events = found(requestEvents(log, idOf(c), [closed, c.req.raw.signal]), 'request');
        return new Response(events, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } });
      },
    },
  };
}

/** `/conversations/:id/receipts` */
function receiptMethods({ stores }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listReceipts',
      summary: 'List what the last 100 compactions of a conversation did, newest first',
      responses: { 200: z.array(receiptRecord) },
      handle: (c) => stores.conversations.receipts(idIn(stores, c)).reverse(),
    },
  };
}

/** `/usage` */
function costMethods({ clock, stores }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'getCost',
      summary: 'Get the tokens of a period and their price, by key, model, conversation or day',
      query: costQuery,
      responses: { 200: costResponse },
      handle: (c) => costReport(stores, clock.now(), checkedQuery(c, costQuery)),
    },
  };
}

/** `/conversations/:id/pins/:messageId` */
function pinMethods({ stores, contexts }: EmulatorParts): ControlMethods {
  return {
    PUT: {
      id: 'pin',
      summary: 'Pin a message',
      body: pinBody,
      responses: { 200: pinnedItem },
      handle: async (c) => {
        const { category } = await checkedBody(c, pinBody);
        return contexts.pin(idIn(stores, c), idOf(c, 'messageId'), category ?? 'other');
      },
    },
    DELETE: {
      id: 'unpin',
      summary: 'Unpin a message',
      handle: (c) => {
        contexts.unpin(idIn(stores, c), idOf(c, 'messageId'));
      },
    },
  };
}

/** `/conversations/:id/messages/:messageId` */
function messageChangeMethods({ stores, contexts }: EmulatorParts): ControlMethods {
  return {
    PATCH: {
      id: 'changeMessage',
      summary: 'Exclude a message from the summary, or include it again',
      body: messageChange,
      handle: async (c) => {
        const { excluded } = await checkedBody(c, messageChange);
        await contexts.exclude(idIn(stores, c), idOf(c, 'messageId'), excluded);
      },
    },
  };
}

/** `/memory` */
function memoryListMethods({ stores }: EmulatorParts): ControlMethods {
  return {
    GET: {
      id: 'listAllMemory',
      summary: 'List the memory of all users and workspaces',
      responses: { 200: z.array(memoryItem) },
      handle: () => stores.memory.all().map(({ item }) => item),
    },
    POST: {
      id: 'addMemory',
      summary: 'Create a memory item for the first user, or for a workspace',
      body: memorySchema,
      responses: { 201: memoryItem },
      handle: async (c) => stores.memory.create(await checkedBody(c, memorySchema)),
    },
  };
}

/** `/memory/:id` */
function memoryMethods({ stores }: EmulatorParts): ControlMethods {
  return {
    PATCH: {
      id: 'changeMemory',
      summary: 'Update a memory item',
      body: memoryChange,
      responses: { 200: memoryItem },
      handle: async (c) => {
        const { content, isActive } = await checkedBody(c, memoryChange);
        const { item } = found(stores.memory.get(idOf(c)), 'memory item');
        return stores.memory.update(item.id, { content: content ?? item.content, isActive });
      },
    },
    DELETE: deletion('removeMemory', 'memory item', (c) => stores.memory.delete(idOf(c))),
  };
}

/** The id of the conversation in the path. Throws a 404 if there is none. */
function idIn({ conversations }: Stores, c: Context): string {
  return found(conversations.state(idOf(c)), 'conversation').id;
}
