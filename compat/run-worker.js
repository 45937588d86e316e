/**
 * Runs the suite inside Cloudflare's workerd: `run-worker.js <conditions, with commas> <server>`. Its launcher needs Node
 * 22 or later.
 */
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const [, , conditions, server] = process.argv;
const { outputFiles } = await build({
  stdin: {
    contents: `import * as sdk from 'context-gateway';
      import { runSuite } from './suite.js';
      export default { async fetch(request) { return Response.json(await runSuite({ ...sdk, isForBrowsers: ${conditions === 'browser'} }, new URL(request.url).searchParams.get('server'))); } };`,
    resolveDir: import.meta.dirname,
  },
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  conditions: conditions.split(','),
  tsconfigRaw: '{}',
});
const worker = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: '2025-01-01',
});
const response = await worker.dispatchFetch(`http://worker/?server=${encodeURIComponent(server)}`);
console.log(await response.text());
await worker.dispose();
