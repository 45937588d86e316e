import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { notFound } from '../base/errors.js';
import { id, namedObject } from '../base/fields.js';
import { compactionResult, contextMetadata } from '../context/responses.js';
import { type AreaRoutes, pathParam, type RouteContext, requiredQuery } from '../http/area-routes.js';
import { json } from '../http/plain-response.js';
import {
  COMPACTION_LEVELS,
  type ConversationState,
  PIN_CATEGORIES,
  pinnedItem,
} from '../store/conversation-records.js';
import { rollingSummary } from '../store/summary.js';
import { done, requireMember, success } from './memory.js';
import type { ContextApiState } from './state.js';

const conversationQuery = z.object({ conversationId: id });
const unpinQuery = z.object({ messageId: id });
const compactBody = z.object({ conversationId: id, level: z.optional(z.enum(COMPACTION_LEVELS)) });
const pinBody = z.object({ messageId: id, category: z.optional(z.enum(PIN_CATEGORIES)) });
const excludeBody = z.object({ exclude: z.boolean() });
const contextResponse = z.object({
  success,
  context: namedObject('ConversationContext', {
    rollingSummary,
    pinnedMemory: z.array(pinnedItem),
    metadata: contextMetadata,
  }),
});
const summaryResponse = z.object({ success, summary: rollingSummary });
const compactResponse = z.object({ success, result: compactionResult });
const pinResponse = z.object({ success, pinnedItem });

/** `/api/context`: contexts of conversations, and what changes them. */
export function conversationRoutes(area: AreaRoutes, state: ContextApiState): void {
  const { contexts, strict } = state;
  area.add('GET /api/context', {
    id: 'getContext',
    summary: 'Get the context of a conversation: summary, pinned messages, token counts',
    query: conversationQuery,
    responses: { 200: contextResponse },
    handle: async (c) => {
      const { id } = conversationOf(state, c, requiredQuery(c, 'conversationId'));
      const metadata = await contexts.metadata(id);
      const current = conversationOf(state, c, id);
      return json({
        success: true,
        context: { rollingSummary: contexts.summary(current), pinnedMemory: current.pins, metadata },
      });
    },
  });
  area.add('GET /api/context/summary', {
    id: 'getSummary',
    summary: 'Get the rolling summary of a conversation',
    query: conversationQuery,
    responses: { 200: summaryResponse },
    handle: (c) =>
      json({
        success: true,
        summary: contexts.summary(conversationOf(state, c, requiredQuery(c, 'conversationId'))),
      }),
  });
  area.add('POST /api/context/compact', {
    id: 'compactContext',
    summary: 'Compact a conversation',
    body: compactBody,
    responses: { 200: compactResponse },
    handle: async (c) => {
      const body = checked(compactBody, await c.exchange.json(), strict);
      const { id } = conversationOf(state, c, body.conversationId);
      const { result, summarizer } = await contexts.compact(
        id,
        body.level ?? 'light', // A4
        c.exchange.entry.requestId,
      );
      const response = json({ success: true, result });
      response.headers['x-emulator-summarizer'] = summarizer;
      return response;
    },
  });
  area.add('POST /api/context/pin/:conversationId', {
    id: 'pinMessage',
    summary: 'Pin a message',
    body: pinBody,
    responses: { 200: pinResponse },
    handle: async (c) => {
      const body = checked(pinBody, await c.exchange.json(), strict);
      const { id } = conversationOf(state, c, pathParam(c, 'conversationId'));
      return json({ success: true, pinnedItem: contexts.pin(id, body.messageId, body.category ?? 'other') }); // A6
    },
  });
  area.add('DELETE /api/context/pin/:conversationId', {
    id: 'unpinMessage',
    summary: 'Unpin a message',
    query: unpinQuery,
    responses: { 200: done },
    handle: (c) => {
      const messageId = requiredQuery(c, 'messageId');
      contexts.unpin(conversationOf(state, c, pathParam(c, 'conversationId')).id, messageId);
      return json({ success: true });
    },
  });
  area.add('PATCH /api/context/exclude/:conversationId/:messageId', {
    id: 'excludeMessage',
    summary: 'Exclude a message from the summary, or include it again',
    body: excludeBody,
    responses: { 200: done },
    handle: async (c) => {
      const { exclude } = checked(excludeBody, await c.exchange.json(), strict);
      const { id } = conversationOf(state, c, pathParam(c, 'conversationId'));
      await contexts.exclude(id, pathParam(c, 'messageId'), exclude);
      return json({ success: true });
    },
  });
}

/** The conversation with this id, if the caller may see it. */
function conversationOf({ stores }: ContextApiState, c: RouteContext, id: string): ConversationState {
  const { userId } = c.exchange;
  const found = stores.conversations.state(id);
  if (found?.workspaceId !== undefined) requireMember(stores.workspaces, found.workspaceId, userId);
  // A conversation of another user that is in no workspace does not exist for the caller.
  if (found === undefined || (found.workspaceId === undefined && found.ownerId !== userId)) {
    throw notFound('conversationId', 'The conversation does not exist', 'conversation_not_found');
  }
  return found;
}
