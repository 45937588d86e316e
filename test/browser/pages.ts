import { build } from 'esbuild';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type browsers, launchBrowser, type TestBrowser, type TestPage } from './launch.js';

/** The script of a page in this folder, bundled with the `browser` condition, as an app does. */
export async function bundled(name: string, alias: Record<string, string> = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`test/browser/${name}.ts`],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    alias: { '#platform': './src/platform/browser.ts', ...alias },
  });
  return outputFiles[0]?.text ?? '';
}

/** A page for the tests of a `describe`, which are skipped if the browser is not installed. */
export function pageIn(one: (typeof browsers)[number], url: () => string): () => TestPage {
  let browser: TestBrowser | undefined;
  let page: TestPage;
  beforeAll(async () => {
    browser = await launchBrowser(one);
    if (browser === undefined) return;
    page = await browser.newPage();
    await page.goto(url());
  }, 60_000);
  afterAll(() => browser?.close());
  beforeEach(({ skip }) => skip(browser === undefined));
  return () => page;
}
