/** Builds an app with Next and its Turbopack, starts it, and asks in Chromium through each kind of its code. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { runWell } from './child.js';

const PROJECT = join(import.meta.dirname, 'projects/next');
const NEXT = [process.execPath, join(import.meta.dirname, 'node_modules/next/dist/bin/next')];
const { version } = createRequire(import.meta.url)('next/package.json');
const ENV = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };

const { launchChromium } = await tsImport('../test/browser/launch.ts', import.meta.url);

export function nextChecks(emulator) {
  return [
    [
      `Next ${version} with Turbopack: a server action, an edge route, a client component`,
      async () => {
        try {
          await runWell([...NEXT, 'build'], { cwd: PROJECT, env: ENV });
          return await ask(emulator);
        } finally {
          rmSync(join(PROJECT, '.next'), { recursive: true, force: true });
        }
      },
    ],
  ];
}

async function ask({ env, url, publishable }) {
  const server = await start(env);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${server.url}/?${new URLSearchParams({ baseURL: url, apiKey: publishable })}`);
    await page.waitForFunction(() => document.title !== '', { timeout: 20_000 });
    const title = await page.title();
    const { action, edge, client } = title.startsWith('{') ? JSON.parse(title) : {};
    if (![action, edge, client].every((text) => text?.includes('PostgreSQL')))
      throw new Error(`the page says: ${title}`);
    return '';
  } finally {
    await browser.close();
    server.stop();
  }
}

/** `next start` on a free port. */
async function start(env) {
  const [command, ...args] = [...NEXT, 'start', '--port', '0', '--hostname', '127.0.0.1'];
  const child = spawn(command, args, { cwd: PROJECT, env: { ...process.env, ...ENV, ...env } });
  child.stderr.pipe(process.stderr);
  let text = '';
  for await (const part of child.stdout.iterator({ destroyOnReturn: false })) {
    text += part;
    if (text.includes('Ready')) break;
  }
  const url = text.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
  if (url === undefined) throw new Error(`next start: ${text}`);
  return { url, stop: () => child.kill() };
}
