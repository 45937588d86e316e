/**
 * Measures what this package adds to a browser app, minified and gzipped, and fails above a budget.
 * `node scripts/size.js parts` also prints how many bytes of each file are in the first program.
 */
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { analyzeMetafile, build } from 'esbuild';

const ask = "{ model: 'm', messages: [{ role: 'user', content: 'Hello' }], stream: true }";
const STREAMED = `import { GatewayClient } from 'context-gateway';
  const gateway = new GatewayClient({ baseURL: 'https://example.com', apiKey: 'svc_pk_x' });
  for await (const text of (await gateway.chat.completions.create(${ask})).textStream) console.log(text);`;
const CLIENTS = `import { ContextClient, GatewayClient } from 'context-gateway';
  const gateway = new GatewayClient({ baseURL: 'https://example.com', apiKey: 'svc_pk_x' });
  const context = new ContextClient({ baseURL: 'https://example.com', sessionToken: 'token' });`;
const PROGRAMS = [
  { name: 'a streamed completion, everything checked', budget: 39.6, code: STREAMED },
  { name: 'the same, zod/mini already loaded', budget: 33.9, code: STREAMED, external: ['zod/mini'] },
  { name: 'both clients', budget: 42.2, code: `export { ContextClient, GatewayClient } from 'context-gateway';` },
  { name: 'one error class', budget: 1, code: `export { RateLimitError } from 'context-gateway';` },
  {
    name: 'a page that reads turns of its server',
    budget: 2.2,
    code: `export { readTurn } from 'context-gateway/conversation';`,
  },
  {
    name: 'one zod schema, with as much of zod as it takes',
    budget: 7.7,
    code: `export { completionUsageSchema } from 'context-gateway/schemas';`,
  },
  {
    name: 'what the conversation helper adds to a page with both clients',
    budget: 37.2, // the target is 9: docs/internals/decisions/size.md
    code: `import { createConversation } from 'context-gateway/conversation';
      ${CLIENTS}
      const conversation = createConversation({ context, gateway, conversationId: 'c', model: 'm' });
      for await (const text of conversation.stream('Hello')) console.log(text);`,
    less: `${CLIENTS}
      for await (const text of (await gateway.chat.completions.create(${ask})).textStream) console.log(text, context);`,
  },
];

const gzipped = ({ outputFiles: [{ contents }] }) => gzipSync(contents, { level: 9 }).length / 1024;

for (const { name, budget, code, less, external = [] } of PROGRAMS) {
  const bundled = await bundle(code, { external });
  const size = gzipped(bundled) - (less === undefined ? 0 : gzipped(await bundle(less)));
  const files = Object.keys(bundled.metafile.inputs);
  const isConversation = code.includes('/conversation');
  const stray = files.find(
    (path) => /undici|platform\/(node|worker)/.test(path) || (!isConversation && path.includes('conversation')),
  );
  const isOk = size <= budget && stray === undefined;
  console.log(`${isOk ? 'ok  ' : 'FAIL'} ${size.toFixed(3).padStart(6)} KB of ${budget} KB  ${name}`);
  if (stray !== undefined) console.log(`     with ${stray} in it`);
  if (!isOk) process.exitCode = 1;
}
if (process.exitCode === 1)
  console.log('What each file takes: node scripts/size.js parts. The budgets are in scripts/size.js.');
if (process.argv.includes('parts')) {
  const alias = { 'context-gateway': resolve('src/index.ts'), '#platform': resolve('src/platform/browser.ts') };
  console.log(await analyzeMetafile((await bundle(STREAMED, { alias })).metafile));
}

/** Bundles a program as an app would: minified, for browsers. `more` are further options of esbuild. */
function bundle(code, more = {}) {
  return build({
    stdin: { contents: code, resolveDir: process.cwd(), loader: 'js' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'error',
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    tsconfigRaw: '{}', // our tsconfig resolves to the sources, but users get the built package
    ...more,
  });
}
