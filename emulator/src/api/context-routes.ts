import { checked } from '../base/checked.js';
import { HttpError, notFound } from '../base/errors.js';
import type { ConversationContexts } from '../context/conversation-context.js';
import { AreaRoutes, pathParam, queryOf, type RouteContext, requiredQuery } from '../http/area-routes.js';
import { json } from '../http/plain-response.js';
import type { ConversationState } from '../store/conversation-records.js';
import type { UserMemoryItem } from '../store/memory.js';
import type { Stores } from '../store/stores.js';
import type { Workspaces } from '../store/workspaces.js';
import {
  compactBody,
  compactResponse,
  contextResponse,
  conversationQuery,
  done,
  excludeBody,
  memoriesResponse,
  memoryBody,
  memoryChange,
  memoryQuery,
  memoryResponse,
  pinBody,
  pinResponse,
  summaryResponse,
  unpinQuery,
} from './schemas.js';

/** The Context API: everything under `/api`. */
export function contextRoutes(
  stores: Stores,
  contexts: ConversationContexts,
  { strict }: { strict: boolean },
): AreaRoutes {
  const { conversations, memory, workspaces } = stores;
  const area = new AreaRoutes();

  const conversation = (c: RouteContext, id: string): ConversationState => {
    const { userId } = c.exchange;
    const found = conversations.state(id);
    if (found?.workspaceId !== undefined) requireMember(workspaces, found.workspaceId, userId);
    // A conversation of another user that is in no workspace does not exist for the caller.
    if (found === undefined || (found.workspaceId === undefined && found.ownerId !== userId)) {
      throw notFound('conversationId', 'The conversation does not exist', 'conversation_not_found');
    }
    return found;
  };
  const memoryItem = (c: RouteContext): UserMemoryItem => {
    const { userId } = c.exchange;
    const found = memory.get(pathParam(c, 'memoryId'));
    const workspaceId = found?.item.workspaceId;
    if (workspaceId !== undefined) requireMember(workspaces, workspaceId, userId);
    if (found === undefined || (workspaceId === undefined && found.ownerId !== userId)) {
      throw notFound('memoryId', 'The memory item does not exist', 'memory_not_found');
    }
    return found.item;
  };

  area.route('/api/context', {
    GET: {
      id: 'getContext',
      summary: 'Get the context of a conversation: summary, pinned messages, token counts',
      query: conversationQuery,
      responses: { 200: contextResponse },
      handle: async (c) => {
        const { id } = conversation(c, requiredQuery(c, 'conversationId'));
        const metadata = await contexts.metadata(id);
        const current = conversation(c, id);
        return json({
          success: true,
          context: { rollingSummary: contexts.summary(current), pinnedMemory: current.pins, metadata },
        });
      },
    },
  });

  area.route('/api/context/summary', {
    GET: {
      id: 'getSummary',
      summary: 'Get the rolling summary of a conversation',
      query: conversationQuery,
      responses: { 200: summaryResponse },
      handle: (c) =>
        json({ success: true, summary: contexts.summary(conversation(c, requiredQuery(c, 'conversationId'))) }),
    },
  });

  area.route('/api/context/compact', {
    POST: {
      id: 'compactContext',
      summary: 'Compact a conversation',
      body: compactBody,
      responses: { 200: compactResponse },
      handle: async (c) => {
        const body = checked(compactBody, await c.exchange.json(), strict);
        const { id } = conversation(c, body.conversationId);
        const { result, summarizer } = await contexts.compact(id, body.level ?? 'light'); // A4
        const response = json({ success: true, result });
        response.headers['x-emulator-summarizer'] = summarizer;
        return response;
      },
    },
  });

  area.route('/api/context/pin/:conversationId', {
    POST: {
      id: 'pinMessage',
      summary: 'Pin a message',
      body: pinBody,
      responses: { 200: pinResponse },
      handle: async (c) => {
        const body = checked(pinBody, await c.exchange.json(), strict);
        const { id } = conversation(c, pathParam(c, 'conversationId'));
        return json({ success: true, pinnedItem: contexts.pin(id, body.messageId, body.category ?? 'other') }); // A6
      },
    },
    DELETE: {
      id: 'unpinMessage',
      summary: 'Unpin a message',
      query: unpinQuery,
      responses: { 200: done },
      handle: (c) => {
        const messageId = requiredQuery(c, 'messageId');
        contexts.unpin(conversation(c, pathParam(c, 'conversationId')).id, messageId);
        return json({ success: true });
      },
    },
  });

  area.route('/api/context/exclude/:conversationId/:messageId', {
    PATCH: {
      id: 'excludeMessage',
      summary: 'Exclude a message from the summary, or include it again',
      body: excludeBody,
      responses: { 200: done },
      handle: async (c) => {
        const { exclude } = checked(excludeBody, await c.exchange.json(), strict);
        const { id } = conversation(c, pathParam(c, 'conversationId'));
        await contexts.exclude(id, pathParam(c, 'messageId'), exclude);
        return json({ success: true });
      },
    },
  });

  area.route('/api/memory', {
    GET: {
      id: 'listMemory',
      summary: 'List memory items: your own, or those of a workspace',
      query: memoryQuery,
      responses: { 200: memoriesResponse },
      handle: (c) => {
        const { workspaceId, type } = checked(memoryQuery, queryOf(c));
        if (workspaceId !== undefined) requireMember(workspaces, workspaceId, c.exchange.userId);
        const items = memory.list(c.exchange.userId, workspaceId, type);
        // A24: a list shows four fields of each item.
        const memories = items.map(({ id, type, key, content }) => ({ id, type, key, content }));
        return json({ success: true, memories });
      },
    },
    POST: {
      id: 'createMemory',
      summary: 'Create a memory item',
      body: memoryBody,
      responses: { 200: memoryResponse },
      handle: async (c) => {
        const body = checked(memoryBody, await c.exchange.json(), strict);
        const { workspaceId } = body;
        if (workspaceId !== undefined) requireMember(workspaces, workspaceId, c.exchange.userId);
        return json({ success: true, memory: memory.create(body, c.exchange.userId) });
      },
    },
  });

  area.route('/api/memory/:memoryId', {
    PATCH: {
      id: 'updateMemory',
      summary: 'Update a memory item',
      body: memoryChange,
      responses: { 200: memoryResponse },
      handle: async (c) => {
        const body = checked(memoryChange, await c.exchange.json(), strict);
        return json({ success: true, memory: memory.update(memoryItem(c).id, body) });
      },
    },
    DELETE: {
      id: 'deleteMemory',
      summary: 'Delete a memory item',
      responses: { 200: done },
      handle: (c) => {
        memory.delete(memoryItem(c).id);
        return json({ success: true });
      },
    },
  });

  return area;
}

function requireMember(workspaces: Workspaces, workspaceId: string, userId: string): void {
  if (!workspaces.hasMember(workspaceId, userId))
    throw new HttpError(403, 'You are not a member of this workspace', { param: 'workspaceId' });
}
