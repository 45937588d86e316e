import type { ContextClient } from 'context-gateway';
import { Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { html } from 'hono/html'; // escapes what it inserts

/** A page where users see their memory items, and can delete them. */
export function memoryPage(contextOf: (request: Request) => ContextClient): Hono {
  const app = new Hono();
  app.use('/memory/*', csrf());
  app.get('/memory', async ({ req, html: respond }) => {
    const items = await contextOf(req.raw).memory.list();
    const rows = items.map(
      ({ id, content }) => html`<li>
        <form method="post" action="/memory/${id}/forget">${content} <button aria-label="Forget: ${content}">Forget</button></form>
      </li>`,
    );
    return respond(html`<!doctype html>
      <html lang="en">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Memory</title>
        <h1>What I know about you</h1>
        <ul>${rows}</ul>
        ${rows.length === 0 && html`<p>Nothing yet.</p>`}
      </html>`);
  });
  app.post('/memory/:id/forget', async ({ req, redirect }) => {
    await contextOf(req.raw).memory.delete(req.param('id'));
    return redirect('/memory', 303);
  });
  return app;
}
