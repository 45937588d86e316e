/** A server that relays completions to a page, and keeps the key. Run: npx tsx examples/relay/server.ts */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { GatewayClient, toErrorResponse } from 'context-gateway';
import { build } from 'esbuild';
import { Hono } from 'hono';

export function relayTo(gateway: GatewayClient): Hono {
  const app = new Hono();

  app.post('/ask', async ({ req, body }) => {
    const { question } = await req.json<{ question: string }>();
    const stream = await gateway.chat.completions.create(
      { model: 'atlas-small', messages: [{ role: 'user', content: question }], stream: true },
      // A page that leaves before the first word ends the completion as well; later on, its unread body does.
      { signal: req.raw.signal },
    );
    return body(stream.toReadableStream(), 200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  });

  // The page gets a typed error, without this server's own troubles; those are for the log.
  app.onError((error) => {
    console.error(error);
    return toErrorResponse(error);
  });

  return app;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const app = relayTo(new GatewayClient()); // address and key from the environment
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['browser'],
    alias: { '#platform': './src/platform/browser.ts' },
  });
  app.get('/page.js', ({ body }) => body(outputFiles[0]?.text ?? '', 200, { 'content-type': 'text/javascript' }));
  app.get('/', ({ html }) => html(readFileSync(new URL('page.html', import.meta.url), 'utf8')));
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
    console.log(`Open http://127.0.0.1:${port}`),
  );
}
