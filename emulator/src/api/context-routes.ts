import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { notFound, Refusal } from '../base/errors.js';
import { COMPACTION_LEVELS } from '../context/compaction/compact.js';
import type { ConversationContexts } from '../context/conversation-context.js';
import { json } from '../http/answers.js';
import { AreaRoutes, pathParam, type RouteContext, requiredQuery } from '../http/area-routes.js';
import { type ConversationState, PIN_CATEGORIES } from '../store/conversation-records.js';
import { MEMORY_TYPES, type UserMemoryItem } from '../store/memory.js';
import type { Stores } from '../store/stores.js';
import type { Workspaces } from '../store/workspaces.js';

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
    GET: async (c) => {
      const { id } = conversation(c, requiredQuery(c, 'conversationId'));
      const metadata = await contexts.metadata(id);
      const current = conversation(c, id);
      return json({
        success: true,
        context: { rollingSummary: contexts.summary(current), pinnedMemory: current.pins, metadata },
      });
    },
  });

  area.route('/api/context/summary', {
    GET: (c) => json({ success: true, summary: contexts.summary(conversation(c, requiredQuery(c, 'conversationId'))) }),
  });

  area.route('/api/context/compact', {
    POST: async (c) => {
      const body = checked(compactBody, await c.env.exchange.json(), strict);
      const { id } = conversation(c, body.conversationId);
      const { result, summarizer } = await contexts.compact(id, body.level ?? 'light'); // A4
      const answer = json({ success: true, result });
      answer.headers['x-emulator-summarizer'] = summarizer;
      return answer;
    },
  });

  area.route('/api/context/pin/:conversationId', {
    POST: async (c) => {
      const body = checked(pinBody, await c.env.exchange.json(), strict);
      const { id } = conversation(c, pathParam(c, 'conversationId'));
      return json({ success: true, pinnedItem: contexts.pin(id, body.messageId, body.category ?? 'other') }); // A6
    },
    DELETE: (c) => {
      const messageId = requiredQuery(c, 'messageId');
      contexts.unpin(conversation(c, pathParam(c, 'conversationId')).id, messageId);
      return json({ success: true });
    },
  });

  area.route('/api/context/exclude/:conversationId/:messageId', {
    PATCH: async (c) => {
      const { exclude } = checked(excludeBody, await c.env.exchange.json(), strict);
      const { id } = conversation(c, pathParam(c, 'conversationId'));
      await contexts.exclude(id, pathParam(c, 'messageId'), exclude);
      return json({ success: true });
    },
  });

  area.route('/api/memory', {
    GET: (c) => {
      const { workspaceId, type } = checked(memoryQuery, c.req.query());
      if (workspaceId !== undefined) requireMember(workspaces, workspaceId, c.env.exchange.userId);
      const items = memory.list(c.env.exchange.userId, workspaceId, type);
      // A24: a list shows four fields of each item.
      return json({ success: true, memories: items.map(({ id, type, key, content }) => ({ id, type, key, content })) });
    },
    POST: async (c) => {
      const body = checked(memoryBody, await c.env.exchange.json(), strict);
      const { workspaceId } = body;
      if (workspaceId !== undefined) requireMember(workspaces, workspaceId, c.env.exchange.userId);
      return json({ success: true, memory: memory.create(body, c.env.exchange.userId) });
    },
  });

  area.route('/api/memory/:memoryId', {
    PATCH: async (c) => {
      const body = checked(memoryChange, await c.env.exchange.json(), strict);
      return json({ success: true, memory: memory.update(memoryItem(c).id, body) });
    },
    DELETE: (c) => {
      memory.delete(memoryItem(c).id);
      return json({ success: true });
    },
  });

  return area;
}

function requireMember(workspaces: Workspaces, workspaceId: string, userId: string): void {
  if (!workspaces.hasMember(workspaceId, userId))
    throw new Refusal(403, 'You are not a member of this workspace', { param: 'workspaceId' });
}

const text = z.string().check(z.minLength(1));
const memoryType = z.enum(MEMORY_TYPES);
const compactBody = z.object({ conversationId: text, level: z.optional(z.enum(COMPACTION_LEVELS)) });
const pinBody = z.object({
  messageId: text,
  category: z.optional(z.enum(PIN_CATEGORIES)),
});
const excludeBody = z.object({ exclude: z.boolean() });
const memoryQuery = z.object({ workspaceId: z.optional(text), type: z.optional(memoryType) });
const memoryBody = z.object({ type: memoryType, key: text, content: text, workspaceId: z.optional(text) });
const memoryChange = z.object({ content: text, isActive: z.optional(z.boolean()) });
