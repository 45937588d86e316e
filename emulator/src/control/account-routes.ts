import * as z from 'zod/mini';
import { checked } from '../base/checked.js';
import { Refusal } from '../base/errors.js';
import { PLAN_NAMES, PLANS } from '../store/account.js';
import { API_KEY_KINDS } from '../store/api-keys.js';
import { bodyOf, type ControlledEmulator, found, type Plane } from './plane.js';
import { idSchema, workspaceSchema } from './schemas.js';

/** What the service's dashboard does: plan, keys, users and workspaces. */
export function accountRoutes(app: Plane, emulator: ControlledEmulator): void {
  const { account, apiKeys, sessions, workspaces } = emulator;

  app.get('/account', (c) => c.json({ plan: account.plan, plans: PLANS }));
  app.put('/account', async (c) => {
    account.setPlan(checked(planSchema, await bodyOf(c)).plan);
    return c.json({ plan: account.plan });
  });

  app.get('/keys', (c) => c.json(apiKeys.list()));
  app.post('/keys', async (c) => {
    const { kind, ...options } = checked(keySchema, await bodyOf(c));
    const key = apiKeys.create(kind, options);
    // The only answer that ever holds it.
    return c.json({ ...apiKeys.get(key), key }, 201, { 'cache-control': 'no-store' });
  });
  app.delete('/keys/:id', (c) => {
    if (!apiKeys.delete(c.req.param('id'))) throw new Refusal(404, 'there is no such key');
    return c.json({ ok: true });
  });

  app.post('/sessions', async (c) => c.json(sessions.create(checked(sessionSchema, await bodyOf(c))), 201));

  app.get('/workspaces', (c) => c.json(workspaces.list()));
  app.post('/workspaces', async (c) => c.json(workspaces.create(checked(workspaceSchema, await bodyOf(c))), 201));
  app.put('/workspaces/:id/members/:userId', (c) => {
    const { id } = found(workspaces.get(c.req.param('id')), 'workspace');
    workspaces.addMember(id, c.req.param('userId'));
    return c.json(workspaces.get(id));
  });
  app.delete('/workspaces/:id/members/:userId', (c) => {
    const { id } = found(workspaces.get(c.req.param('id')), 'workspace');
    workspaces.removeMember(id, c.req.param('userId'));
    return c.json(workspaces.get(id));
  });
}

const rate = z.number().check(z.gte(0));
const planSchema = z.object({
  plan: z.union([
    z.enum(PLAN_NAMES),
    z.object({
      id: idSchema,
      gatewayAccess: z.boolean(),
      pricePerMonth: rate,
      includedTokens: rate,
      overagePricePerMillion: rate,
      limits: z.object({ gateway: rate, context: rate, compact: rate }),
    }),
  ]),
});
const keySchema = z.object({
  kind: z.enum(API_KEY_KINDS),
  name: z.optional(idSchema),
  expiresAt: z.optional(z.string()),
});
const sessionSchema = z.object({ userId: z.optional(idSchema) });
