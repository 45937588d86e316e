import { getPath } from 'hono/utils/url';
import * as z from 'zod/mini';
import packageJson from '../../package.json' with { type: 'json' };
import type { AreaRoutes } from '../http/area-routes.js';
import { readBytes } from '../http/body.js';
import { ControlAccess } from './access.js';
import { accountRoutes } from './account-routes.js';
import { catalogRoutes } from './catalog-routes.js';
import { type ControlledEmulator, ControlRoutes, idOf, PREFIX } from './control-routes.js';
import { conversationRoutes } from './conversation-routes.js';
import { inspectorPage } from './inspector-page.js';
import { type OpenApi, openApi } from './openapi.js';
import { signInPage } from './pages.js';
import { referencePage } from './reference.js';
import { indexResponse, ok } from './responses.js';
import { systemRoutes } from './system-routes.js';
import { type WorkbenchParts, workbenchRoutes } from './workbench-routes.js';

/** Settings of the control plane. */
export interface ControlSettings {
  controlToken: string | undefined;
  sessionHeader: { name: string; scheme: string };
  context: AreaRoutes;
  gateway: AreaRoutes;
}

/** The emulator's own endpoints under `/_emulator`: what the service has no endpoint for, and what tests inspect. */
export function controlPlane(
  emulator: ControlledEmulator,
  workbench: WorkbenchParts,
  { controlToken, sessionHeader, context, gateway }: ControlSettings,
): (request: Request, caller: string | undefined) => Response | Promise<Response> {
  const access = new ControlAccess(controlToken);
  const routes = new ControlRoutes();
  const { version } = packageJson;
  const inspectorFile = inspectorPage();

  routes.route('', {
    GET: {
      id: 'getIndex',
      summary: 'Get version, time, models and routes; a browser gets the inspector',
      responses: { 200: { 'application/json': indexResponse, 'text/html': z.string() } },
      handle: (c) => {
        if (c.req.header('accept')?.includes('text/html')) return inspectorFile('index.html');
        return c.json({
          name: packageJson.name,
          version,
          time: new Date(emulator.clock.now()).toISOString(),
          models: emulator.models.list(),
          routes: routes.endpoints.map(({ method, path }) => `${method} ${path}`),
        });
      },
    },
  });
  routes.route('/health', {
    GET: {
      id: 'getHealth',
      summary: 'Check the health of the emulator',
      isOpen: true,
      responses: { 200: ok },
      handle: (c) => c.json({ ok: true }),
    },
  });
  routes.route('/openapi.json', {
    GET: {
      id: 'getDescription',
      summary: 'Get this description as OpenAPI',
      responses: { 200: z.looseObject({ openapi: z.string() }) },
      handle: (c) => c.json(description()),
    },
  });
  routes.route('/reference', {
    GET: {
      id: 'getReference',
      summary: 'Show this description as a page',
      responses: { 200: { 'text/html': z.string() } },
      handle: (c) => referencePage(description(), new URL(c.req.url).origin),
    },
  });
  routes.route('/inspector/:file', {
    GET: {
      id: 'getInspectorFile',
      summary: 'Get a file of the inspector',
      responses: { 200: { 'text/html': z.string(), 'text/css': z.string(), 'text/javascript': z.string() } },
      handle: (c) => inspectorFile(idOf(c, 'file')),
    },
  });
  systemRoutes(routes, emulator);
  conversationRoutes(routes, emulator);
  catalogRoutes(routes, emulator);
  workbenchRoutes(routes, emulator, workbench);
  accountRoutes(routes, emulator);

  const description = (): OpenApi =>
    openApi(
      [
        { name: 'Context API', endpoints: context.endpoints },
        { name: 'Gateway API', endpoints: gateway.endpoints },
        { name: 'Control plane', endpoints: routes.endpoints },
      ],
      { version, sessionHeader, hasControlToken: access.hasToken },
    );

  return async (request, caller) => {
    const path = getPath(request);
    if (path === `${PREFIX}/health`) return routes.handle(request);
    if (path === `${PREFIX}/sign-in` && request.method === 'POST' && access.hasToken) {
      return signIn(access, request, caller);
    }
    const denied = access.check(request, caller);
    if (denied === undefined) return routes.handle(request);
    const { status, reason } = denied;
    if (status === 401 && request.headers.get('accept')?.includes('text/html')) return signInPage();
    return Response.json({ error: reason }, { status });
  };
}

/** Exchanges the token for a cookie. */
async function signIn(access: ControlAccess, request: Request, caller: string | undefined): Promise<Response> {
  if (access.isBraked(caller)) return signInPage('Too many wrong tokens. Wait a minute.', 429);
  const form = new TextDecoder().decode(await readBytes(request, LONGEST_FORM, 'body'));
  const cookie = access.signIn(new URLSearchParams(form).get('token') ?? '', caller);
  if (cookie === undefined) return signInPage('Wrong token.');
  return new Response(null, { status: 303, headers: { location: PREFIX, 'set-cookie': cookie } });
}

const LONGEST_FORM = 64 * 1024;
