import * as z from 'zod/mini';
import { HttpError } from '../base/errors.js';
import { PLANS } from '../store/account.js';
import { accountBody, keyBody, sessionBody, workspaceSchema } from './bodies.js';
import { type ControlledEmulator, type ControlRoutes, checkedBody, found, idOf } from './control-routes.js';
import {
  accountResponse,
  keysResponse,
  newKeyResponse,
  ok,
  planResponse,
  sessionResponse,
  workspaceRecord,
} from './responses.js';

/** The service's dashboard as endpoints: plan, keys, users and workspaces. */
export function accountRoutes(routes: ControlRoutes, emulator: ControlledEmulator): void {
  const { account, apiKeys, sessions, workspaces } = emulator;

  routes.route('/account', {
    GET: {
      id: 'getAccount',
      summary: 'Get the plan, and the available plans',
      responses: { 200: accountResponse },
      handle: (c) => c.json({ plan: account.plan, plans: PLANS }),
    },
    PUT: {
      id: 'setPlan',
      summary: 'Change the plan',
      body: accountBody,
      responses: { 200: planResponse },
      handle: async (c) => {
        account.setPlan((await checkedBody(c, accountBody)).plan);
        return c.json({ plan: account.plan });
      },
    },
  });

  routes.route('/keys', {
    GET: {
      id: 'listKeys',
      summary: 'List API keys with their prefixes',
      responses: { 200: keysResponse },
      handle: (c) => c.json(apiKeys.list()),
    },
    POST: {
      id: 'createKey',
      summary: 'Create an API key',
      body: keyBody,
      responses: { 201: newKeyResponse },
      handle: async (c) => {
        const { kind, ...options } = await checkedBody(c, keyBody);
        const key = apiKeys.create(kind, options);
        // The only response that ever contains the key.
        return c.json({ ...apiKeys.get(key), key }, 201, { 'cache-control': 'no-store' });
      },
    },
  });
  routes.route('/keys/:id', {
    DELETE: {
      id: 'deleteKey',
      summary: 'Delete an API key; it stops working immediately',
      responses: { 200: ok },
      handle: (c) => {
        if (!apiKeys.delete(idOf(c))) throw new HttpError(404, 'there is no such key');
        return c.json({ ok: true });
      },
    },
  });

  routes.route('/sessions', {
    POST: {
      id: 'createSession',
      summary: 'Create a session for a user; without an id, for a new user',
      body: sessionBody,
      responses: { 201: sessionResponse },
      handle: async (c) => c.json(sessions.create(await checkedBody(c, sessionBody)), 201),
    },
  });

  routes.route('/users', {
    GET: {
      id: 'listUsers',
      summary: 'List the ids of all users who have a session',
      responses: { 200: z.array(z.string()) },
      handle: (c) => c.json(sessions.users()),
    },
  });
  routes.route('/workspaces', {
    GET: {
      id: 'listWorkspaces',
      summary: 'List workspaces',
      responses: { 200: z.array(workspaceRecord) },
      handle: (c) => c.json(workspaces.list()),
    },
    POST: {
      id: 'createWorkspace',
      summary: 'Create a workspace; by default, its member is the first user',
      body: workspaceSchema,
      responses: { 201: workspaceRecord },
      handle: async (c) => c.json(workspaces.create(await checkedBody(c, workspaceSchema)), 201),
    },
  });
  routes.route('/workspaces/:id/members/:userId', {
    PUT: {
      id: 'addMember',
      summary: 'Add a member to a workspace',
      responses: { 200: workspaceRecord },
      handle: (c) => {
        const { id } = found(workspaces.get(idOf(c)), 'workspace');
        workspaces.addMember(id, idOf(c, 'userId'));
        return c.json(workspaces.get(id));
      },
    },
    DELETE: {
      id: 'removeMember',
      summary: 'Remove a member from a workspace',
      responses: { 200: workspaceRecord },
      handle: (c) => {
        const { id } = found(workspaces.get(idOf(c)), 'workspace');
        workspaces.removeMember(id, idOf(c, 'userId'));
        return c.json(workspaces.get(id));
      },
    },
  });
}
