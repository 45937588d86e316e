import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { HttpError, notFound } from '../base/errors.js';
import { id, text } from '../base/fields.js';
import { type AreaRoutes, pathParam, queryOf, type RouteContext } from '../http/area-routes.js';
import { json } from '../http/plain-response.js';
import { MEMORY_TYPES, memoryInput, memoryItem, type UserMemoryItem } from '../store/memory.js';
import type { Workspaces } from '../store/workspaces.js';
import type { ContextApiState } from './state.js';

export const success = z.literal(true);
export const done = z.object({ success });
const memoryQuery = z.object({ workspaceId: z.optional(id), type: z.optional(z.enum(MEMORY_TYPES)) });
const memoryChange = z.object({ content: text, isActive: z.optional(z.boolean()) });
// A24: a list shows four fields of each item.
const listedItem = z.pick(memoryItem, { id: true, type: true, key: true, content: true });
const memoriesResponse = z.object({ success, memories: z.array(listedItem) });
const memoryResponse = z.object({ success, memory: memoryItem });

/** `/api/memory` */
export function memoryRoutes(area: AreaRoutes, state: ContextApiState): void {
  const { stores, strict } = state;
  area.add('GET /api/memory', {
    id: 'listMemory',
    summary: 'List memory items: your own, or those of a workspace',
    query: memoryQuery,
    responses: { 200: memoriesResponse },
    handle: (c) => {
      const { workspaceId, type } = checked(memoryQuery, queryOf(c));
      if (workspaceId !== undefined) requireMember(stores.workspaces, workspaceId, c.exchange.userId);
      const items = stores.memory.list(c.exchange.userId, workspaceId, type);
      const memories = items.map(({ id, type, key, content }) => ({ id, type, key, content }));
      return json({ success: true, memories });
    },
  });
  area.add('POST /api/memory', {
    id: 'createMemory',
    summary: 'Create a memory item',
    body: memoryInput,
    responses: { 200: memoryResponse },
    handle: async (c) => {
      const body = checked(memoryInput, await c.exchange.json(), strict);
      const { workspaceId } = body;
      if (workspaceId !== undefined) requireMember(stores.workspaces, workspaceId, c.exchange.userId);
      return json({ success: true, memory: stores.memory.create(body, c.exchange.userId) });
    },
  });
  area.add('PATCH /api/memory/:memoryId', {
    id: 'updateMemory',
    summary: 'Update a memory item',
    body: memoryChange,
    responses: { 200: memoryResponse },
    handle: async (c) => {
      const body = checked(memoryChange, await c.exchange.json(), strict);
      return json({ success: true, memory: stores.memory.update(itemOf(state, c).id, body) });
    },
  });
  area.add('DELETE /api/memory/:memoryId', {
    id: 'deleteMemory',
    summary: 'Delete a memory item',
    responses: { 200: done },
    handle: (c) => {
      stores.memory.delete(itemOf(state, c).id);
      return json({ success: true });
    },
  });
}

/** The item of the path, if the caller may see it. */
function itemOf({ stores }: ContextApiState, c: RouteContext): UserMemoryItem {
  const { userId } = c.exchange;
  const found = stores.memory.get(pathParam(c, 'memoryId'));
  const workspaceId = found?.item.workspaceId;
  if (workspaceId !== undefined) requireMember(stores.workspaces, workspaceId, userId);
  if (found === undefined || (workspaceId === undefined && found.ownerId !== userId)) {
    throw notFound('memoryId', 'The memory item does not exist', 'memory_not_found');
  }
  return found.item;
}

/** @throws {HttpError} 403 */
export function requireMember(workspaces: Workspaces, workspaceId: string, userId: string): void {
  if (!workspaces.hasMember(workspaceId, userId))
    throw new HttpError(403, 'You are not a member of this workspace', { param: 'workspaceId' });
}
