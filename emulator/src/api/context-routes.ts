import { checked } from '../base/checked.js';
import { notFound, Refusal } from '../base/errors.js';
import type { ConversationContexts } from '../context/conversation-context.js';
import { json } from '../http/answers.js';
import { AreaRoutes, pathParam, type RouteContext, requiredQuery } from '../http/area-routes.js';
import type { ConversationState } from '../store/conversation-records.js';
import type { UserMemoryItem } from '../store/memory.js';
import type { Stores } from '../store/stores.js';
import type { Workspaces } from '../store/workspaces.js';
import {
  compactAnswer,
  compactBody,
  contextAnswer,
  conversationQuery,
  done,
  excludeBody,
  memoriesAnswer,
  memoryAnswer,
  memoryBody,
  memoryChange,
  memoryQuery,
  pinAnswer,
  pinBody,
  summaryAnswer,
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
    const { userId } = c.env.exchange;
    const found = conversations.state(id);
    if (found?.workspaceId !== undefined) requireMember(workspaces, found.workspaceId, userId);
    // A conversation of another user that is in no workspace does not exist for the caller.
    if (found === undefined || (found.workspaceId === undefined && found.ownerId !== userId)) {
      throw notFound('conversationId', 'The conversation does not exist', 'conversation_not_found');
    }
    return found;
  };
  const memoryItem = (c: RouteContext): UserMemoryItem => {
    const { userId } = c.env.exchange;
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
      answers: { 200: contextAnswer },
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
      answers: { 200: summaryAnswer },
      handle: (c) =>
        json({ success: true, summary: contexts.summary(conversation(c, requiredQuery(c, 'conversationId'))) }),
    },
  });

  area.route('/api/context/compact', {
    POST: {
      id: 'compactContext',
      summary: 'Compact a conversation',
      body: compactBody,
      answers: { 200: compactAnswer },
      handle: async (c) => {
        const body = checked(compactBody, await c.env.exchange.json(), strict);
        const { id } = conversation(c, body.conversationId);
        const { result, summarizer } = await contexts.compact(id, body.level ?? 'light'); // A4
        const answer = json({ success: true, result });
        answer.headers['x-emulator-summarizer'] = summarizer;
        return answer;
      },
    },
  });

  area.route('/api/context/pin/:conversationId', {
    POST: {
      id: 'pinMessage',
      summary: 'Pin a message',
      body: pinBody,
      answers: { 200: pinAnswer },
      handle: async (c) => {
        const body = checked(pinBody, await c.env.exchange.json(), strict);
        const { id } = conversation(c, pathParam(c, 'conversationId'));
        return json({ success: true, pinnedItem: contexts.pin(id, body.messageId, body.category ?? 'other') }); // A6
      },
    },
    DELETE: {
      id: 'unpinMessage',
      summary: 'Unpin a message',
      query: unpinQuery,
      answers: { 200: done },
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
      answers: { 200: done },
      handle: async (c) => {
        const { exclude } = checked(excludeBody, await c.env.exchange.json(), strict);
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
      answers: { 200: memoriesAnswer },
      handle: (c) => {
        const { workspaceId, type } = checked(memoryQuery, c.req.query());
        if (workspaceId !== undefined) requireMember(workspaces, workspaceId, c.env.exchange.userId);
        const items = memory.list(c.env.exchange.userId, workspaceId, type);
        // A24: a list shows four fields of each item.
        const memories = items.map(({ id, type, key, content }) => ({ id, type, key, content }));
        return json({ success: true, memories });
      },
    },
    POST: {
      id: 'createMemory',
      summary: 'Create a memory item',
      body: memoryBody,
      answers: { 200: memoryAnswer },
      handle: async (c) => {
        const body = checked(memoryBody, await c.env.exchange.json(), strict);
        const { workspaceId } = body;
        if (workspaceId !== undefined) requireMember(workspaces, workspaceId, c.env.exchange.userId);
        return json({ success: true, memory: memory.create(body, c.env.exchange.userId) });
      },
    },
  });

  area.route('/api/memory/:memoryId', {
    PATCH: {
      id: 'updateMemory',
      summary: 'Update a memory item',
      body: memoryChange,
      answers: { 200: memoryAnswer },
      handle: async (c) => {
        const body = checked(memoryChange, await c.env.exchange.json(), strict);
        return json({ success: true, memory: memory.update(memoryItem(c).id, body) });
      },
    },
    DELETE: {
      id: 'deleteMemory',
      summary: 'Delete a memory item',
      answers: { 200: done },
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
    throw new Refusal(403, 'You are not a member of this workspace', { param: 'workspaceId' });
}
