/** Installs the app of `examples/apps/use-chat`, builds it with Next and its Turbopack, and uses it in Chromium. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { createEmulator } from '../emulator/dist/index.js';
import { runWell } from './child.js';
import { install } from './package-file.js';
import { useChat, WIDTHS } from './use-chat.js';

const APP = join(import.meta.dirname, '../examples/apps/use-chat');
/** A server action, an edge route and a client component. */
const KINDS = join(import.meta.dirname, 'projects/next');
const ENV = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };

const { launchChromium } = await tsImport('../test/browser/launch.ts', import.meta.url);

/** The later checks use what the first one has built. */
export function nextChecks(file, folder) {
  const project = join(folder, 'next');
  const next = (...args) => [process.execPath, join(project, 'node_modules/next/dist/bin/next'), ...args];
  const build = async () => {
    cpSync(APP, project, { recursive: true });
    cpSync(KINDS, join(project, 'app/kinds'), { recursive: true });
    mkdirSync(join(project, 'node_modules'));
    await install([file, '--include=dev'], project);
    await runWell(next('build'), { cwd: project, env: ENV, timeout: 300_000 });
    return (await runWell(next('--version'), { cwd: project })).trim();
  };
  const start = [...next('start', '--port', '0', '--hostname', '127.0.0.1')];
  return [
    ['Next with Turbopack: installed, type-checked and built', build],
    ['Next: a server action, an edge route, a client component', () => inChromium(start, project, askEachKind)],
    [
      `useChat in Next: stop, again, countdown, search, reload, at ${WIDTHS.join(' and ')} px`,
      () => inChromium(start, project, useChat),
    ],
  ];
}

/** Starts the app for an emulator, and uses it in a new page. */
async function inChromium(command, cwd, use) {
  const emulator = createEmulator({ seed: 'next' });
  const { url: baseURL } = await emulator.listen({ port: 0 });
  const keys = { CONTEXT_GATEWAY_BASE_URL: baseURL, CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret };
  const server = await start(command, { cwd, env: { ...process.env, ...ENV, ...keys } });
  const browser = await launchChromium();
  try {
    await use({ page: await browser.newPage(), url: server.url, emulator, baseURL });
    return '';
  } finally {
    await browser.close();
    server.stop();
    await emulator.close();
  }
}

async function askEachKind({ page, url, emulator, baseURL }) {
  await page.goto(`${url}/kinds?${new URLSearchParams({ baseURL, apiKey: emulator.apiKeys.publishable })}`);
  const shown = await page.waitForSelector('pre', { timeout: 20_000 });
  const answers = JSON.parse(await shown.evaluate((pre) => pre.textContent));
  if (answers.length < 3 || !answers.every((text) => text.includes('PostgreSQL')))
    throw new Error(`the page says: ${answers}`);
}

/** `next start` on a free port. */
async function start([command, ...args], options) {
  const child = spawn(command, args, options);
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
