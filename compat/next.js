/**
 * Follows the guide of `useChat` in a new app: create-next-app, the files of the guide, dev, build and start, in Chromium.
 * Then two processes of it, with Redis and the store of the chat guide.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { createEmulator } from '../emulator/dist/index.js';
import { environment, runWell } from './child.js';
import { install } from './package-file.js';
import { askInDev, comeBack, useChat, WIDTHS } from './use-chat.js';

const APP = join(import.meta.dirname, '../examples/use-chat');
/** A server action, an edge route and a client component. */
const KINDS = join(import.meta.dirname, 'projects/next');
const ENV = {
  NEXT_TELEMETRY_DISABLED: '1',
  // The app's fonts are Google's, which cannot be reached everywhere.
  NEXT_FONT_GOOGLE_MOCKED_RESPONSES: join(import.meta.dirname, 'projects/fonts.cjs'),
};

const { launchChromium } = await tsImport('../test/browser/launch.ts', import.meta.url);
const { findChromiums } = await tsImport('../test/helpers/chromium.ts', import.meta.url);
const { missing: hasNoRedis, RedisServer } = await tsImport('../test/redis/redis-server.ts', import.meta.url);

/**
 * `app` follows the guide; `processes` has its variants, in the project that the first check makes. Each check uses what
 * those before it have made.
 */
export function nextChecks(file, folder) {
  const project = join(folder, 'next');
  const next = (...args) => [process.execPath, join(project, 'node_modules/next/dist/bin/next'), ...args];
  const listen = ['--port', '0', '--hostname', '127.0.0.1'];
  const create = async () => {
    const command = ['npx', '--yes', 'create-next-app@16.4.3', 'next', '--yes', '--skip-install', '--disable-git'];
    await runWell(command, { cwd: folder, env: ENV });
    await install([file, 'ai', '@ai-sdk/react', '@ai-sdk/provider', 'resumable-stream'], project);
    cpSync(join(APP, 'app'), join(project, 'app'), { recursive: true });
    return (await runWell(next('--version'), { cwd: project })).trim();
  };
  const build = async () => {
    await runWell(next('build'), { cwd: project, env: ENV, timeout: 300_000 });
    return '';
  };
  const start = (use, options) => inChromium(next('start', ...listen), project, use, options);
  const buildForTwo = async () => {
    await install(['redis', 'libsql'], project);
    cpSync(join(APP, 'processes'), join(project, 'app'), { recursive: true });
    writeFileSync(join(project, 'app/database.ts'), storeOfGuide());
    return build();
  };
  const startTwo = async () => {
    if (hasNoRedis && process.env.REQUIRE_REDIS)
      throw new Error('redis-server is not installed. On Debian: see .ci/run');
    if (hasNoRedis) return 'SKIPPED: redis-server is not installed';
    const redis = await RedisServer.start();
    const env = { REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    try {
      return await inChromium(next('start', ...listen), project, comeBack, { processes: 2, env, browsers: 1 });
    } finally {
      await redis.kill();
    }
  };
  const buildWithEdge = () => {
    cpSync(KINDS, join(project, 'app/kinds'), { recursive: true });
    const config = join(project, 'next.config.ts');
    // With these, Next rejects an edge route.
    writeFileSync(config, readFileSync(config, 'utf8').replaceAll(/(cacheComponents|partialPrefetching): true,/g, ''));
    return build();
  };
  const app = [
    ['create-next-app, with the files of the guide', create],
    ['next dev: a reply, and no issue', () => inChromium(next('dev', ...listen), project, askInDev)],
    ['next build, as create-next-app configures it', build],
    [`useChat in Next: stop, again, countdown, search, reload, at ${WIDTHS.join(' and ')} px`, () => start(useChat)],
    [
      'useChat in Next, in one process: reload, lost connection, stop after a reload',
      () => start(comeBack, { browsers: 1 }),
    ],
  ];
  const processes = [
    ['next build, with Redis and a store in SQLite', buildForTwo],
    ['useChat in Next, in two processes: the same', startTwo],
    ['next build, without cache components', buildWithEdge],
    ['Next: a server action, an edge route, a client component', () => start(askEachKind, { browsers: 1 })],
  ];
  return { app, processes };
}

/** The store that the chat guide has. */
function storeOfGuide() {
  const guide = readFileSync(join(import.meta.dirname, '../docs/guides/chat-app.md'), 'utf8');
  return guide.match(/^```ts\n(\/\/ store\.ts\n[\s\S]*?)^```$/m)[1];
}

/** Starts the app for an emulator, and uses it in a new page of every Chromium that is here, or of the first `browsers`. */
async function inChromium(command, cwd, use, { processes = 1, env = {}, browsers } = {}) {
  const paths = (await findChromiums()).slice(0, browsers);
  if (process.env.REQUIRE_BROWSERS && browsers === undefined && paths.length < 2)
    throw new Error("Debian's Chromium is not installed, and REQUIRE_BROWSERS is set. npm run verify installs it.");
  const emulator = createEmulator({ seed: 'next', pace: { tokensPerSecond: 20 } });
  const { url: baseURL } = await emulator.listen({ port: 0 });
  const keys = { CONTEXT_GATEWAY_BASE_URL: baseURL, CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret };
  const servers = [];
  const lines = [];
  const versions = [];
  try {
    while (servers.length < processes) {
      servers.push(await start(command, { cwd, env: { ...environment, ...ENV, ...keys, ...env } }));
      lines.push(await lineTo(servers.at(-1).url));
    }
    const [{ url }, { url: otherUrl } = { url }] = lines;
    const cut = () => {
      for (const line of lines) line.cut();
    };
    for (const path of paths) {
      const browser = await launchChromium(path);
      try {
        await use({ page: await browser.newPage(), url, otherUrl, cut, emulator, baseURL });
        versions.push(await browser.version());
      } finally {
        await browser.close();
      }
    }
    return versions.join(', ');
  } finally {
    for (const line of lines) line.close();
    for (const server of servers) server.stop();
    await emulator.close();
  }
}

/** Another address of a server, whose connections can be cut. */
async function lineTo(address) {
  const sockets = new Set();
  const server = createServer((near) => {
    const far = connect(new URL(address).port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket.on('error', () => {}));
      socket.on('close', () => (socket === near ? far : near).destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, cut, close: () => server.close(cut()) };
}

async function askEachKind({ page, url, emulator, baseURL }) {
  await page.goto(`${url}/kinds?${new URLSearchParams({ baseURL, apiKey: emulator.apiKeys.publishable })}`);
  const shown = await page.waitForSelector('pre', { timeout: 20_000 });
  const answers = JSON.parse(await shown.evaluate((pre) => pre.textContent));
  if (answers.length < 3 || !answers.every((text) => text.includes('PostgreSQL')))
    throw new Error(`the page says: ${answers}`);
}

/** `next dev` or `next start` on a free port. */
async function start([command, ...args], options) {
  const child = spawn(command, args, options);
  child.stderr.pipe(process.stderr);
  let text = '';
  for await (const part of child.stdout.iterator({ destroyOnReturn: false })) {
    text += part;
    if (text.includes('Ready')) break;
  }
  child.stdout.resume(); // `next dev` logs each request
  const url = text.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
  if (url === undefined) throw new Error(`next: ${text}`);
  return { url, stop: () => child.kill() };
}
