import * as z from 'zod/mini';
import { described, id, text } from '../base/fields.js';
import { PLAN_NAMES, PLANS, planSchema } from '../store/account.js';
import { API_KEY_KINDS, keyInfo } from '../store/api-keys.js';
import { workspaceInput, workspaceRecord } from '../store/workspaces.js';
import { type ControlRoutes, deletion, found } from './control-routes.js';
import type { EmulatorParts } from './parts.js';

/** The service's dashboard as endpoints: plan, keys, users and workspaces. */
export function accountRoutes(routes: ControlRoutes, parts: EmulatorParts): void {
  keyRoutes(routes, parts);
  workspaceRoutes(routes, parts);
}

/** Plan, keys and users. */
function keyRoutes(routes: ControlRoutes, { stores: { account, apiKeys, sessions } }: EmulatorParts): void {
  routes.add('GET /account', {
    id: 'getAccount',
    summary: 'Get the plan, and the available plans',
    responses: { 200: z.object({ plan: planSchema, plans: z.array(planSchema) }) },
    handle: () => ({ plan: account.plan, plans: PLANS }),
  });
  routes.add('PUT /account', {
    id: 'setPlan',
    summary: 'Change the plan',
    body: z.object({ plan: z.union([z.enum(PLAN_NAMES), planSchema]) }),
    responses: { 200: z.object({ plan: planSchema }) },
    handle: async ({ body }) => {
      account.setPlan((await body()).plan);
      return { plan: account.plan };
    },
  });
  routes.add('GET /keys', {
    id: 'listKeys',
    summary: 'List API keys with their prefixes',
    responses: { 200: z.array(keyInfo) },
    handle: () => apiKeys.list(),
  });
  routes.add('POST /keys', {
    id: 'createKey',
    summary: 'Create an API key',
    body: z.object({ kind: z.enum(API_KEY_KINDS), name: z.optional(text), expiresAt: z.optional(z.string()) }),
    responses: { 201: z.object({ ...keyInfo.shape, key: described('The full key. Not shown again.', z.string()) }) },
    handle: async ({ body }, c) => {
      const { kind, ...options } = await body();
      const key = apiKeys.create(kind, options);
      // The only response that ever contains the key.
      c.header('cache-control', 'no-store');
      return { ...apiKeys.get(key), key };
    },
  });
  routes.add('DELETE /keys/:id', {
    ...deletion('deleteKey', 'key', ({ id }) => apiKeys.delete(id)),
    summary: 'Delete an API key; it stops working immediately',
  });
  routes.add('POST /sessions', {
    id: 'createSession',
    summary: 'Create a session for a user; without an id, for a new user',
    body: z.object({ userId: z.optional(text) }),
    responses: { 201: z.object({ token: z.string(), userId: id }) },
    handle: async ({ body }) => sessions.create(await body()),
  });
  routes.add('GET /users', {
    id: 'listUsers',
    summary: 'List the ids of all users who have a session',
    responses: { 200: z.array(z.string()) },
    handle: () => sessions.users(),
  });
}

function workspaceRoutes(routes: ControlRoutes, { stores: { workspaces } }: EmulatorParts): void {
  routes.add('GET /workspaces', {
    id: 'listWorkspaces',
    summary: 'List workspaces',
    responses: { 200: z.array(workspaceRecord) },
    handle: () => workspaces.list(),
  });
  routes.add('POST /workspaces', {
    id: 'createWorkspace',
    summary: 'Create a workspace; by default, its member is the first user',
    body: workspaceInput,
    responses: { 201: workspaceRecord },
    handle: async ({ body }) => workspaces.create(await body()),
  });
  routes.add('PUT /workspaces/:id/members/:userId', {
    id: 'addMember',
    summary: 'Add a member to a workspace',
    responses: { 200: workspaceRecord },
    handle: ({ id, param }) => {
      found(workspaces.get(id), 'workspace');
      workspaces.addMember(id, param('userId'));
      return workspaces.get(id);
    },
  });
  routes.add('DELETE /workspaces/:id/members/:userId', {
    id: 'removeMember',
    summary: 'Remove a member from a workspace',
    responses: { 200: workspaceRecord },
    handle: ({ id, param }) => {
      found(workspaces.get(id), 'workspace');
      workspaces.removeMember(id, param('userId'));
      return workspaces.get(id);
    },
  });
}
