/**
 * Measures what this package adds to a browser app, minified and gzipped, and fails above a budget.
 * `node scripts/size.js parts` prints what each source file adds.
 */
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';

const ask = "{ model: 'm', messages: [{ role: 'user', content: 'Hello' }], stream: true }";
const STREAMED = `import { GatewayClient } from 'context-gateway';
  const gateway = new GatewayClient({ baseURL: 'https://example.com', apiKey: 'svc_pk_x' });
  for await (const text of (await gateway.chat.completions.create(${ask})).textStream) console.log(text);`;
const CLIENTS = `import { ContextClient, GatewayClient } from 'context-gateway';
  const gateway = new GatewayClient({ baseURL: 'https://example.com', apiKey: 'svc_pk_x' });
  const context = new ContextClient({ baseURL: 'https://example.com', sessionToken: 'token' });`;
const PROGRAMS = [
  { name: 'a streamed completion, everything checked', budget: 37.2, code: STREAMED },
  { name: 'the same, zod/mini already loaded', budget: 31.5, code: STREAMED, external: ['zod/mini'] },
  {
    name: 'both clients',
    budget: 39.8,
    code: `export { ContextClient, GatewayClient } from 'context-gateway';`,
  },
  {
    name: 'one error class',
    budget: 1,
    code: `export { RateLimitError } from 'context-gateway';`,
  },
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
    budget: 37, // the target is 9: docs/internals/decisions/size.md
    code: `import { createConversation } from 'context-gateway/conversation';
      ${CLIENTS}
      const conversation = createConversation({ context, gateway, conversationId: 'c', model: 'm' });
      for await (const text of conversation.stream('Hello')) console.log(text);`,
    less: `${CLIENTS}
      for await (const text of (await gateway.chat.completions.create(${ask})).textStream) console.log(text, context);`,
  },
];

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

const gzipped = (text) => gzipSync(text, { level: 9 }).length;

async function checkBudgets() {
  let failed = false;
  for (const { name, budget, code, less, external = [] } of PROGRAMS) {
    const { outputFiles, metafile } = await bundle(code, { external });
    const beside = less === undefined ? 0 : gzipped((await bundle(less)).outputFiles[0].contents);
    const size = (gzipped(outputFiles[0].contents) - beside) / 1024;
    const stray = Object.keys(metafile.inputs).find(
      (path) =>
        path.includes('undici') ||
        /platform\/(node|worker)/.test(path) ||
        (path.includes('conversation') && less === undefined && !code.includes('/conversation')),
    );
    const ok = size <= budget && stray === undefined;
    failed ||= !ok;
    console.log(
      `${ok ? 'ok  ' : 'FAIL'} ${size.toFixed(3).padStart(5)} KB of ${budget} KB  ${name}${stray ? `, with ${stray} in it` : ''}`,
    );
  }
  if (failed)
    console.log('What each source file adds: node scripts/size.js parts. The budgets are in scripts/size.js.');
  process.exitCode = failed ? 1 : 0;
}

/** Prints what each source file adds to the first program: its gzipped size minus the size without that file. */
async function printParts() {
  const fromSource = {
    name: 'from-source',
    setup({ onResolve }) {
      onResolve({ filter: /^context-gateway$/ }, () => ({ path: `${process.cwd()}/src/index.ts` }));
      onResolve({ filter: /^#platform$/ }, () => ({ path: `${process.cwd()}/src/platform/browser.ts` }));
    },
  };
  const whitespaceKept = { minify: false, minifyIdentifiers: true, minifySyntax: true };
  const { outputFiles } = await bundle(STREAMED, { plugins: [fromSource], ...whitespaceKept });
  // esbuild writes the path above each file's code, as long as whitespace is kept.
  const pieces = outputFiles[0].text.split(/^\/\/ ((?:src|node_modules)\/.*|<stdin>)$/m).slice(1);
  const parts = [];
  for (let at = 0; at < pieces.length; at += 2) {
    const { code } = await transform(pieces[at + 1], { minifyWhitespace: true, target: 'es2022' });
    parts.push({ file: pieces[at], code });
  }
  const sizeOf = (some) => gzipped(some.map(({ code }) => code).join(''));
  const whole = sizeOf(parts);
  const rows = parts.map((part) => [
    whole - sizeOf(parts.filter((other) => other !== part)),
    part.code.length,
    part.file,
  ]);
  console.log('gzipped  minified, bytes');
  for (const [added, minified, file] of rows.sort(([a], [b]) => b - a))
    console.log(`${String(added).padStart(7)}  ${String(minified).padStart(8)}  ${file}`);
  console.log(`${String(whole).padStart(7)}  the whole`);
}

if (process.argv.includes('parts')) await printParts();
else await checkBudgets();
