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
      import { createConversation } from 'context-gateway/conversation';
      import { runSuite } from './suite.js';
      // workerd forbids timers, signals and random numbers here.
      const gateway = new sdk.GatewayClient({ baseURL: 'https://gateway.test', apiKey: 'svc_pk_compat_0123456789' });
      createConversation({ gateway, conversationId: 'c', model: 'm' });
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
  compatibilityDate: process.env.COMPATIBILITY_DATE ?? '2025-01-01',
});
const response = await worker.dispatchFetch(`http://worker/?server=${encodeURIComponent(server)}`);
console.log(await response.text());
await worker.dispose();
