/** A page without a bundler, with the package's own file for browsers, in every browser. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tsImport } from 'tsx/esm/api';

const { browsers, launchBrowser } = await tsImport('../test/browser/launch.ts', import.meta.url);

const PAGE = join(import.meta.dirname, 'projects/no-bundler');
const TYPES = { html: 'text/html', js: 'text/javascript' };

/** `project` has the package installed. */
export function unbundledChecks(project, emulator) {
  return browsers.map((one) => [
    `no bundler, dist/browser.js, streaming in ${one.name}`,
    async () => {
      const script = join(project, 'node_modules/context-gateway/dist/browser.js');
      const server = await serve(script);
      const browser = await launchBrowser(one);
      try {
        if (browser === undefined) return 'not installed';
        const page = await browser.newPage();
        await page.goto(
          `${server.url}/?${new URLSearchParams({ baseURL: emulator.url, apiKey: emulator.publishable })}`,
        );
        const { reply, blocked } = await page.evaluate(askInPage, 'Invoices are in PostgreSQL. Where are invoices?');
        if (!reply.includes('PostgreSQL')) throw new Error(`the page says: ${reply}`);
        if (blocked.length > 0) throw new Error(`blocked by its content security policy: ${blocked}`);
        return `${(gzipSync(readFileSync(script), { level: 9 }).length / 1024).toFixed(1)} KB gzipped`;
      } finally {
        await browser?.close();
        server.stop();
      }
    },
  ]);
}

/** Asks a question in the page. Runs there, so it uses nothing from outside. */
async function askInPage(question) {
  const blocked = [];
  document.addEventListener('securitypolicyviolation', ({ blockedURI }) => blocked.push(blockedURI));
  const form = document.querySelector('form');
  const isReady = async () => {
    while (form.ariaBusy === 'true') await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await isReady();
  form.question.value = question;
  form.requestSubmit();
  await isReady();
  return { reply: document.querySelector('p').textContent, blocked };
}

async function serve(script) {
  const files = { '/': join(PAGE, 'index.html'), '/page.js': join(PAGE, 'page.js'), '/context-gateway.js': script };
  const server = createServer((request, response) => {
    const file = files[new URL(request.url, 'http://page').pathname];
    if (file === undefined) return response.writeHead(404).end();
    response.setHeader('content-type', TYPES[file.split('.').at(-1)]).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}
