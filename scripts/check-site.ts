/**
 * Checks the built site, as the last step of `npm run docs`: each link leads to a page and a heading, nothing comes from another
 * host, and in a browser, on a narrow and a wide screen, light and dark, pages are accessible, and the search finds a page.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerType, serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import axe from 'axe-core';
import { Hono } from 'hono';
import type { Page } from 'puppeteer-core';
import { hasChromium, launchChromium } from '../test/browser/launch.js';

const FOLDER = 'site';
const SCREENS = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
];
/** One page of each kind. */
const PAGES = ['/', '/guides/streaming.html', '/reference/gateway.html', '/examples/support-chat.html', '/stories/'];
/** What a new user looks for, with the page on which it must be found. */
const QUESTIONS = { retry: '/reference/retries.html', useChat: '/guides/chat-page.html' };

const pages = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));
const texts = new Map(pages.map((file) => [`/${file}`, readFileSync(join(FOLDER, file), 'utf8')]));
const ids = new Map([...texts].map(([page, html]) => [page, new Set(html.match(/(?<= id=")[^"]+/g))]));

const problems = [...brokenLinks(), ...foreignFiles()];
if (await hasChromium()) problems.push(...(await inBrowser()));
for (const problem of problems) console.error(problem);
console.log(`${pages.length} pages, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function brokenLinks(): string[] {
  return [...texts].flatMap(([page, html]) =>
    [...html.matchAll(/<a [^>]*href="([^"]*)"/g)]
      .map(([, href = '']) => href.replaceAll('&amp;', '&'))
      .filter((href) => !/^[a-z]+:/.test(href) && !leadsSomewhere(page, href))
      .map((href) => `${page}: the link ${href} leads nowhere`),
  );
}

function leadsSomewhere(page: string, href: string): boolean {
  const { pathname, hash } = new URL(href, `http://site${page}`);
  const path = decodeURI(pathname).replace(/\/$/, '/index.html');
  if (hash === '') return existsSync(join(FOLDER, path));
  return ids.get(path)?.has(decodeURIComponent(hash.slice(1))) ?? false;
}

/** Pictures, scripts and styles that are not on the site. */
function foreignFiles(): string[] {
  return [...texts].flatMap(([page, html]) =>
    [...html.matchAll(/<(?:img|script|link|iframe|source)\b[^>]*?(?:src|href)="([a-z]+:)?\/\/[^"]*"/g)].map(
      ([tag]) => `${page}: ${tag} is on another host`,
    ),
  );
}

async function inBrowser(): Promise<string[]> {
  const app = new Hono().use(serveStatic({ root: FOLDER }));
  const { server, url } = await new Promise<{ server: ServerType; url: string }>((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ server, url: `http://127.0.0.1:${port}` }),
    );
  });
  const browser = await launchChromium();
  const found: string[] = [];
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000); // a busy machine is not a problem of the site
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
        found.push(`${page.url()}: asks for ${request.url()}`);
    });
    page.on('pageerror', (error) => found.push(`${page.url()}: ${error}`));
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) found.push(`${page.url()}: ${message.text()}`);
    });
    for (const screen of SCREENS) {
      await page.setViewport(screen);
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        for (const path of PAGES) {
          await page.goto(url + path, { waitUntil: 'networkidle0' });
          const at = `${path} at ${screen.width} px, ${scheme}`;
          found.push(...(await violations(page)).map((violation) => `${at}: ${violation}`));
          const { clientWidth, scrollWidth } = await page.$eval('html', ({ clientWidth, scrollWidth }) => ({
            ...{ clientWidth, scrollWidth },
          }));
          if (scrollWidth > clientWidth) found.push(`${at}: ${scrollWidth} px wide`);
        }
      }
      for (const [words, wanted] of Object.entries(QUESTIONS)) {
        if (!(await finds(page, url, words, wanted)))
          found.push(`A search for ${words} at ${screen.width} px does not lead to ${wanted}`);
      }
    }
  } finally {
    await browser.close();
    server.close();
  }
  return found;
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as axe.AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Whether one of the first results is the page that is wanted, and leads there. */
async function finds(page: Page, url: string, words: string, wanted: string): Promise<boolean> {
  await page.goto(url, { waitUntil: 'networkidle0' });
  await page.click('.VPNavBarSearch button');
  await page.waitForSelector('.search-input');
  await page.type('.search-input', words);
  const result = `.results li:nth-child(-n + 6) a[href^="${wanted}"]`;
  try {
    await page.waitForSelector(result, { timeout: 15_000 });
    await page.click(result);
    await page.waitForFunction((path) => location.pathname === path, { timeout: 15_000 }, wanted);
    return true;
  } catch {
    return false;
  }
}
