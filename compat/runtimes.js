/** Runs the same suite on every runtime. */
import { existsSync } from 'node:fs';
import { run } from './child.js';
import { startProxy } from './connect-proxy.js';
import { startServer } from './server.js';

const bin = (path) => new URL(`node_modules/${path}`, import.meta.url).pathname;
const node = (version) => bin(`node${version}/bin/node`);
const DENO = ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual'];

/** Of Node the oldest and the newest. `npm run verify` runs the tests on those in between. */
const RUNTIMES = [
  ...[20, 26].flatMap((version) => [
    { name: `Node ${version}, import`, command: [node(version), 'run-esm.js'] },
    { name: `Node ${version}, require`, command: [node(version), 'run-cjs.cjs'] },
  ]),
  { name: 'Bun', command: [bin('@oven/bun-linux-x64/bin/bun'), 'run-esm.js'] },
  { name: 'Deno', command: [bin('@deno/linux-x64-glibc/deno'), ...DENO, 'run-esm.js'] },
  // Some builds for Workers set `node` as well, and some know nothing of Workers.
  { name: 'workerd', command: [node(22), 'run-worker.js', 'workerd,worker,browser,node'] },
  // It has importScripts, as workers of pages have, and neither a user agent nor every option of fetch.
  {
    name: 'workerd of 2023',
    command: [node(22), 'run-worker.js', 'workerd,worker,browser'],
    env: { COMPATIBILITY_DATE: '2023-05-18' },
  },
  { name: 'workerd, bundled for browsers', command: [node(22), 'run-worker.js', 'browser'] },
  // The user's own dispatchers. undici 8 needs Node 22.
  { name: 'Node 20, dispatchers of undici 7.16.0', command: [node(20), 'run-dispatchers.js', 'undici-first'] },
  { name: 'Node 26, dispatchers of undici 8', command: [node(26), 'run-dispatchers.js', 'undici-next'] },
  // All requests of an app through a proxy. Node 20 has no variable for this, and its `fetch` is undici 6.
  ...[
    { name: 'Node 20, app-wide proxy, set with undici 6', command: [node(20), 'run-proxied.js', 'undici-old'] },
    { name: 'Node 26, app-wide proxy, set with undici 8', command: [node(26), 'run-proxied.js', 'undici-next'] },
    {
      name: 'Node 26, NODE_USE_ENV_PROXY',
      command: [node(26), 'run-proxied.js'],
      env: { NODE_USE_ENV_PROXY: '1' },
    },
  ].map((runtime) => ({ ...runtime, proxied: true })),
];
/** Known only to the proxy. */
const HOST = 'gateway.test';

/** Returns a table of runtimes and cases, and the number of failures. Prints each failure immediately. */
export async function checkRuntimes() {
  let failures = 0;
  let names;
  const rows = [];
  for (const { name, ...runtime } of RUNTIMES) {
    const { version, results = [], problem } = await runOn(runtime);
    const failed = results.filter((result) => result.problem !== undefined);
    failures += problem === undefined ? failed.length : 1;
    names ??= problem === undefined ? results.map((result) => result.name.replace(/:.*/, '')) : undefined;
    rows.push(
      `| ${name}${version} | ${results.map((result) => (result.problem === undefined ? '✓' : '✗')).join(' | ')} |`,
    );
    console.error(problem === undefined ? `ran  ${name}${version}` : `FAIL ${name}${version}: ${problem}`);
    for (const result of failed) console.error(`     ✗ ${result.name}: ${result.problem}`);
  }
  const head = [`| | ${names?.join(' | ')} |`, `|---${'|---'.repeat(names?.length ?? 1)}|`];
  return { table: [...head, ...rows].join('\n'), failures };
}

async function runOn({ command, env = {}, proxied = false }) {
  const [binary, ...args] = command;
  if (!existsSync(binary)) return { version: '', problem: `not installed (${binary}); run npm ci in compat` };
  const version = (await run([binary, '--version'])).out.match(/\d+\.\d+\.\d+/)?.[0] ?? '';
  const server = await startServer();
  const proxy = proxied ? await startProxy({ [HOST]: '127.0.0.1' }) : undefined;
  const url = proxied ? server.url.replace('127.0.0.1', HOST) : server.url;
  const proxies = proxied ? { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NO_PROXY: '', no_proxy: '' } : {};
  const { out, error, code } = await run([binary, ...args, url], { env: { ...proxies, ...env } });
  server.stop();
  proxy?.stop();
  const line = out.split('\n').findLast((one) => one.startsWith('['));
  const shown = command[1] === 'run-worker.js' ? '' : ` (${version})`;
  if (code !== 0 || line === undefined)
    return { version: shown, problem: `exit ${code}: ${error.trim().split('\n').slice(-5).join(' ')}` };
  return { version: shown, results: JSON.parse(line) };
}
