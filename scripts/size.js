/** What a browser app pays for this package, minified and gzipped, against a budget that fails the check. */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const ask = "{ model: 'm', messages: [{ role: 'user', content: 'Hello' }], stream: true }";
const PROGRAMS = [
  {
    name: 'a streamed completion, everything checked',
    budget: 23,
    code: `import { GatewayClient } from 'context-gateway';
      const gateway = new GatewayClient({ baseURL: 'https://example.com', apiKey: 'svc_pk_x' });
      for await (const text of (await gateway.chat.completions.create(${ask})).textStream) console.log(text);`,
  },
  {
    name: 'both clients whole',
    budget: 24.5,
    code: `export { ContextClient, GatewayClient } from 'context-gateway';`,
  },
  {
    name: 'one error class',
    budget: 1,
    code: `export { RateLimitError } from 'context-gateway';`,
  },
  {
    name: 'one zod schema, with as much of zod as it takes',
    budget: 9,
    code: `export { completionUsageSchema } from 'context-gateway/schemas';`,
  },
];

let failed = false;
for (const { name, budget, code } of PROGRAMS) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: process.cwd(), loader: 'js' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'error',
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    tsconfigRaw: '{}', // ours leads to the sources; users get the built package
  });
  const size = gzipSync(outputFiles[0].contents, { level: 9 }).length / 1024;
  const stray = Object.keys(metafile.inputs).find((path) => path.includes('undici') || path.includes('platform/node'));
  const ok = size <= budget && stray === undefined;
  failed ||= !ok;
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} ${size.toFixed(1).padStart(5)} KB of ${budget} KB  ${name}${stray ? `, with ${stray} in it` : ''}`,
  );
}
process.exitCode = failed ? 1 : 0;
