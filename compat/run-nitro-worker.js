/** Runs what Nitro built for Cloudflare in workerd: `run-nitro-worker.js <folder> <query>`. Needs Node 22. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';

const [, , folder, query] = process.argv;
const files = ['index.mjs', ...globSync('chunks/**/*.mjs', { cwd: folder })];
const worker = new Miniflare({
  modules: files.map((path) => ({ type: 'ESModule', path: join(folder, path) })),
  modulesRoot: folder,
  compatibilityDate: '2026-01-01',
  compatibilityFlags: ['nodejs_compat'],
});
const response = await worker.dispatchFetch(`http://worker/?${query}`);
const body = await response.text();
await worker.dispose();
if (!response.ok) throw new Error(`${response.status}: ${body}`);
console.log(body);
