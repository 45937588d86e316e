import { Hono } from 'hono';
import { accountRoutes } from './control/account-routes.js';
import { conversationRoutes } from './control/conversation-routes.js';
import type { ControlledEmulator } from './control/plane.js';
import { systemRoutes } from './control/system-routes.js';
import { Refusal } from './errors.js';
import { inspectorFile } from './inspector.js';

/** The emulator's own plane under `/_emulator`: what the service has no endpoint for, and what a test wants to see. */
export function controlRoutes(
  emulator: ControlledEmulator,
): (request: Request, caller: string | undefined) => Response | Promise<Response> {
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
 * The control plane needs no key, so only this machine may use it, whatever the emulator listens on: a page of another site reaches it neither by a name
 * that resolves to loopback (its Host header gives it away) nor by a plain form post (its Origin does).
 */
function refusedCaller(request: Request, caller: string | undefined): string | undefined {
  // Whoever comes from elsewhere can write any name into the Host header.
  if (caller !== undefined && !isLoopback(caller.replace(/^::ffff:/, '')))
    return 'the control plane is for this machine';
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
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    name === '::1' ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  );
}
