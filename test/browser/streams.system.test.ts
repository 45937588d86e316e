import { describe, expect, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { ScriptServer } from '../stream/script-server.js';
import { browsers, launchBrowser } from './launch.js';
import { listen } from './listen.js';
import { bundled } from './pages.js';

// In `npm test` each browser streams in browser.system.test.ts.
describe.runIf(AT_LENGTH).each(browsers)('$name', (one) => {
  test('passes the stream suite', { timeout: 240_000 }, async ({ skip }) => {
    const browser = await launchBrowser(one);
    if (browser === undefined) return skip();
    const scripts = await ScriptServer.start();
    const { url, close } = await servePage();
    const page = await browser.newPage();
    await page.goto(url);

    const run = (server: string) =>
      (globalThis as unknown as { runCases(server: string): Promise<{ ran: number; failures: string[] }> }).runCases(
        server,
      );
    const { ran, failures } = await page.evaluate(run, scripts.url);

    await browser.close();
    close();
    await scripts.close();
    expect(failures).toEqual([]);
    expect(ran).toBeGreaterThan(120);
  });
});

/** A page with the cases, bundled like an app. */
async function servePage(): Promise<{ url: string; close: () => void }> {
  const bundle = await bundled('stream-page', { vitest: './test/browser/expect.ts' });
  return listen((request, response) => {
    const script = request.url === '/app.js';
    response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
    response.end(script ? bundle : '<!doctype html><script type="module" src="/app.js"></script>');
  });
}
