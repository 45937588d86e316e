import { getPath } from 'hono/utils/url';
import * as z from 'zod/mini';
import packageJson from '../../package.json' with { type: 'json' };
import { time } from '../base/fields.js';
import { modelSchema } from '../base/models.js';
import { readBytes } from '../http/body.js';
import { ControlAccess } from './access.js';
import { accountRoutes } from './account-routes.js';
import { catalogRoutes } from './catalog-routes.js';
import { ControlRoutes, PREFIX } from './control-routes.js';
import { conversationRoutes } from './conversation-routes.js';
import { type OpenApi, openApi } from './openapi.js';
import { inspectorPage } from './page/inspector-page.js';
import { inspectorRoutes } from './page/inspector-routes.js';
import type { EmulatorParts } from './parts.js';
import { requestRoutes } from './request-routes.js';
import { signInPage } from './sign-in-page.js';
import { caseRoutes } from './state/case-routes.js';
import { systemRoutes } from './system-routes.js';

/** The emulator's own endpoints under `/_emulator`: what the service has no endpoint for, and what tests inspect. */
export function controlPlane(
  parts: EmulatorParts,
): (request: Request, caller: string | undefined) => Response | Promise<Response> {
  const access = new ControlAccess(parts.settings.controlToken);
  const routes = new ControlRoutes();
  indexRoutes(routes, parts, access.hasToken);
  systemRoutes(routes, parts);
  requestRoutes(routes, parts);
  conversationRoutes(routes, parts);
  catalogRoutes(routes, parts);
  inspectorRoutes(routes, parts);
  caseRoutes(routes, parts);
  accountRoutes(routes, parts);

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

const indexResponse = z.object({
  name: z.string(),
  version: z.string(),
  time,
  models: z.array(modelSchema),
  routes: z.array(z.string()),
});

/** The index, the health, the descriptions, and the files of the inspector. */
function indexRoutes(routes: ControlRoutes, parts: EmulatorParts, hasControlToken: boolean): void {
  const inspectorFile = inspectorPage();
  routes.add('GET', {
    id: 'getIndex',
    summary: 'Get version, time, models and routes; a browser gets the inspector',
    responses: { 200: { 'application/json': indexResponse, 'text/html': z.string() } },
    handle: (_, c) => {
      if (c.req.header('accept')?.includes('text/html')) return inspectorFile('index.html');
      return {
        name: packageJson.name,
        version: packageJson.version,
        time: new Date(parts.clock.now()).toISOString(),
        models: parts.stores.models.list(),
        routes: routes.endpoints.map(({ method, path }) => `${method} ${path}`),
      };
    },
  });
  routes.add('GET /health', {
    id: 'getHealth',
    summary: 'Check the health of the emulator',
    isOpen: true,
    handle: () => {},
  });
  routes.add('GET /openapi.json', {
    id: 'getDescription',
    summary: 'Get this description as OpenAPI',
    responses: { 200: z.looseObject({ openapi: z.string() }) },
    handle: () => descriptionOf(routes, parts, hasControlToken),
  });
  routes.add('GET /inspector/:file', {
    id: 'getInspectorFile',
    summary: 'Get a file of the inspector',
    responses: { 200: { 'text/html': z.string(), 'text/css': z.string(), 'text/javascript': z.string() } },
    handle: ({ param }) => inspectorFile(param('file')),
  });
}

/** The description of both APIs and of the control plane. */
function descriptionOf(
  routes: ControlRoutes,
  { context, gateway, settings }: EmulatorParts,
  hasControlToken: boolean,
): OpenApi {
  return openApi(
    [
      { name: 'Context API', endpoints: context.endpoints },
      { name: 'Gateway API', endpoints: gateway.endpoints },
      { name: 'Control plane', endpoints: routes.endpoints },
    ],
    { version: packageJson.version, sessionHeader: settings.sessionHeader, hasControlToken },
  );
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
