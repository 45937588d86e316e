import { Hono } from 'hono';
import { Refusal } from '../base/errors.js';
import { isLoopback } from '../base/loopback.js';
import { accountRoutes } from './account-routes.js';
import { conversationRoutes } from './conversation-routes.js';
import { inspectorPage } from './inspector-page.js';
import type { ControlledEmulator } from './plane.js';
import { systemRoutes } from './system-routes.js';
import { type WorkbenchParts, workbenchRoutes } from './workbench-routes.js';

/** The emulator's own plane under `/_emulator`: what the service has no endpoint for, and what a test wants to see. */
export function controlRoutes(
  emulator: ControlledEmulator,
  workbench: WorkbenchParts,
): (request: Request, caller: string | undefined) => Response | Promise<Response> {
  const inspectorFile = inspectorPage();
  const app = new Hono({ strict: false }).basePath('/_emulator');

  app.get('/', (c) => {
    if (c.req.header('accept')?.includes('text/html')) return inspectorFile('index.html');
    return c.json({
      name: 'context-gateway-emulator',
      time: new Date(emulator.clock.now()).toISOString(),
      models: emulator.models,
      routes: app.routes.map(({ method, path }) => `${method} ${path}`),
    });
  });
  app.get('/inspector/:file', (c) => inspectorFile(c.req.param('file')));
  systemRoutes(app, emulator);
  conversationRoutes(app, emulator);
  accountRoutes(app, emulator);
  workbenchRoutes(app, emulator, workbench);

  app.notFound((c) => c.json({ error: `there is no ${c.req.method} ${c.req.path}` }, 404));
  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json({ error: error.message }, error.status as 400);
    if (error instanceof RangeError) return c.json({ error: error.message }, 400);
    return c.json({ error: error.message }, 500);
  });

  return (request, caller) => {
    const refusal = refusedCaller(request, caller);
    if (refusal !== undefined) return Response.json({ error: refusal }, { status: 403 });
    return app.fetch(request);
  };
}

/**
 * The control plane needs no key, so only this machine may use it, whatever the emulator listens on, and of all pages only its own:
 * a page elsewhere reaches it neither by a name that resolves to loopback (its Host header gives it away) nor by a plain form post
 * (its Origin does).
 */
function refusedCaller(request: Request, caller: string | undefined): string | undefined {
  // Whoever comes from elsewhere can write any name into the Host header.
  if (caller !== undefined && !isLoopback(caller)) return 'the control plane is for this machine';
  const { protocol, host: named } = new URL(request.url);
  const host = request.headers.get('host') ?? named;
  if (!isLoopback(host)) return 'the control plane answers on loopback names only';
  const origin = request.headers.get('origin');
  const isOwn = origin === null || origin.toLowerCase() === `${protocol}//${host}`.toLowerCase();
  const site = request.headers.get('sec-fetch-site') ?? 'none';
  if (!isOwn || (site !== 'none' && site !== 'same-origin')) return 'the control plane answers no pages but its own';
  return undefined;
}
