import { Hono } from 'hono';
import * as z from 'zod/mini';
import { checked, parseJson, readBytes } from './body.js';
import type { Emulator } from './emulator.js';
import { Refusal } from './errors.js';
import type { FaultResponse } from './faults.js';

/** The emulator's own plane under `/_emulator`: what the service has no endpoint for, and what a test wants to see. */
export function controlRoutes(emulator: Emulator): (request: Request, path: string) => Response | Promise<Response> {
  const app = new Hono({ strict: false }).basePath('/_emulator');
  const body = async (c: { req: { raw: Request } }): Promise<unknown> =>
    parseJson(new TextDecoder().decode(await readBytes(c.req.raw, BODY_LIMIT, 'body')) || '{}');

  app.get('/', (c) =>
    c.json({
      name: 'context-gateway-emulator',
      time: new Date(emulator.clock.now()).toISOString(),
      models: emulator.models,
      routes: app.routes.map(({ method, path }) => `${method} ${path}`),
    }),
  );
  app.get('/state', (c) => c.json(emulator.state()));
  app.get('/requests', (c) => c.json(emulator.requests));

  app.get('/conversations', (c) => c.json(emulator.conversations.list()));
  app.post('/conversations', async (c) =>
    c.json(emulator.conversations.create(checked(conversationBody, await body(c))), 201),
  );
  app.get('/conversations/:id', (c) => found(emulator.conversations.get(c.req.param('id')), 'conversation'));
  app.post('/conversations/:id/messages', async (c) => {
    const id = c.req.param('id');
    if (emulator.conversations.get(id) === undefined) throw new Refusal(404, `there is no conversation ${id}`);
    const value = await body(c);
    const messages = Array.isArray(value) ? value : checked(messagesBody, value).messages;
    return c.json(emulator.conversations.append(id, checked(messageList, messages)), 201);
  });
  app.post('/workspaces', async (c) => c.json(emulator.workspaces.create(checked(workspaceBody, await body(c))), 201));
  app.post('/sessions', async (c) => c.json(emulator.sessions.create(checked(sessionBody, await body(c))), 201));

  app.get('/faults', (c) => c.json(emulator.faults.list()));
  app.post('/faults', async (c) => {
    const rule = checked(faultBody, await body(c));
    // The schema has checked the parts; which of them go together is for the reader of the rule.
    return c.json({ id: emulator.faults.add({ ...rule, respond: rule.respond as FaultResponse }) }, 201);
  });
  app.delete('/faults', (c) => {
    emulator.faults.clear();
    return c.json({ ok: true });
  });
  app.delete('/faults/:id', (c) => {
    if (!emulator.faults.remove(c.req.param('id'))) throw new Refusal(404, 'there is no such fault');
    return c.json({ ok: true });
  });

  app.get('/files', (c) => c.json(emulator.files.list()));
  app.get('/files/:id', (c) => found(emulator.files.get(c.req.param('id')), 'file'));
  app.get('/files/:id/content', (c) => {
    const id = c.req.param('id');
    const content = emulator.files.content(id);
    if (content === undefined) throw new Refusal(404, `there is no file ${id}`);
    // Never as the type the upload claimed: this is the origin of the control plane.
    const headers = { 'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff' };
    return new Response(content as Uint8Array<ArrayBuffer>, { headers });
  });
  app.get('/integrations/executions', (c) => c.json(emulator.integrations.executions()));
  app.post('/clock', async (c) => {
    emulator.clock.advance(checked(clockBody, await body(c)).advance);
    return c.json({ time: new Date(emulator.clock.now()).toISOString() });
  });
  app.post('/reset', (c) => {
    emulator.reset();
    return c.json({ ok: true });
  });

  app.notFound((c) => c.json({ error: `there is no ${c.req.method} ${c.req.path}` }, 404));
  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json({ error: error.message }, error.status as 400);
    if (error instanceof RangeError) return c.json({ error: error.message }, 400);
    return c.json({ error: error.message }, 500);
  });

  return (request) => {
    const refusal = refusedCaller(request);
    if (refusal !== undefined) return Response.json({ error: refusal }, { status: 403 });
    return app.fetch(request);
  };
}

/**
 * The control plane needs no key, so only this machine may use it: a page of another site reaches it neither by a name
 * that resolves to loopback (its Host header gives it away) nor by a plain form post (its Origin does).
 */
function refusedCaller(request: Request): string | undefined {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  if (!isLoopback(host)) return 'the control plane answers on loopback names only';
  const origin = request.headers.get('origin');
  if (origin !== null && !isLoopback(origin.replace(/^[a-z]+:\/\//i, '')))
    return 'the control plane does not answer other sites';
  if (request.headers.get('sec-fetch-site') === 'cross-site') return 'the control plane does not answer other sites';
  return undefined;
}

function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name);
}

function found(record: unknown, what: string): Response {
  return record === undefined
    ? Response.json({ error: `there is no such ${what}` }, { status: 404 })
    : Response.json(record);
}

const BODY_LIMIT = 64 * 1024 * 1024;
const id = z.string().check(z.minLength(1));
const messageList = z.array(
  z.object({
    id: z.optional(id),
    role: z.enum(['system', 'user', 'assistant']),
    content: z.string(),
    createdAt: z.optional(z.string()),
  }),
);
const messagesBody = z.object({ messages: messageList });
const conversationBody = z.object({
  id: z.optional(id),
  workspaceId: z.optional(id),
  ownerId: z.optional(id),
  stylePreferences: z.optional(z.record(z.string(), z.unknown())),
  messages: z.optional(messageList),
});
const workspaceBody = z.object({ id: z.optional(id), name: z.optional(z.string()), members: z.optional(z.array(id)) });
const sessionBody = z.object({ userId: z.optional(id) });
const clockBody = z.object({ advance: z.number().check(z.gte(0)) });
const count = z.int().check(z.gte(0));
const faultBody = z.object({
  match: z.optional(
    z.object({
      method: z.optional(z.string()),
      path: z.optional(z.string()),
      header: z.optional(z.record(z.string(), z.string())),
    }),
  ),
  times: z.optional(z.int().check(z.gte(1))),
  respond: z.union([
    z.object({
      type: z.optional(z.literal('status')),
      status: z.int().check(z.gte(200), z.lte(599)),
      body: z.optional(z.unknown()),
      headers: z.optional(z.record(z.string(), z.string())),
      retryAfter: z.optional(z.number()),
      message: z.optional(z.string()),
    }),
    z.object({ type: z.enum(['reset', 'stall']) }),
    z.object({ type: z.literal('slow'), delay: z.number().check(z.gte(0)) }),
    z.object({ type: z.literal('garbage'), body: z.optional(z.string()), contentType: z.optional(z.string()) }),
    z.object({ type: z.literal('cutBody'), afterBytes: count }),
    z.object({ type: z.literal('cutStream'), afterEvents: count, how: z.optional(z.enum(['end', 'reset', 'stall'])) }),
    z.object({
      type: z.literal('streamError'),
      afterEvents: count,
      error: z.optional(z.record(z.string(), z.unknown())),
    }),
  ]),
});
