/** Imports Lua scripts as text, as the build does: `tsx --import ./scripts/import-lua.js program.ts`. */
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url); // Node calls `load` in a thread of its own

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.lua')) return nextLoad(url, context);
  const script = await readFile(new URL(url), 'utf8');
  return { format: 'module', source: `export default ${JSON.stringify(script)};`, shortCircuit: true };
}
