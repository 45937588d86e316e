/** Runs one example against an emulator of its own: npm run example stream-chat */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import { build } from 'esbuild';

const name = process.argv[2];
const examples = readdirSync('examples')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace('.ts', ''));
const file = name === 'relay' ? 'examples/relay/server.ts' : `examples/${name}.ts`;
if (name !== 'browser' && (name === undefined || !existsSync(file))) {
  console.error(
    `Which one? ${[...examples, 'browser', 'relay'].map((example) => `npm run example ${example}`).join('\n           ')}`,
  );
  process.exit(2);
}

const emulator = createEmulator({ setup: addSampleConversation, pace: { tokensPerSecond: 60 } });
const { url } = await emulator.listen({ port: 0 });

if (name === 'browser') await serveBrowserExample();
else process.exitCode = await runExample();

/** The example finds the emulator in its environment, as it would find the service. */
async function runExample(): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    stdio: 'inherit',
    env: {
      ...process.env,
      CONTEXT_GATEWAY_BASE_URL: url,
      CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret,
      CONTEXT_GATEWAY_SESSION_TOKEN: emulator.sessionToken,
    },
  });
  const code = await new Promise<number>((resolve) => child.on('exit', (exit) => resolve(exit ?? 1)));
  await emulator.close();
  return code;
}

async function serveBrowserExample(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: ['examples/browser/app.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    alias: { '#platform': './src/platform/browser.ts' },
  });
  const page = createServer((request, response) => {
    const script = request.url?.startsWith('/app.js') === true;
    response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
    response.end(script ? outputFiles[0]?.text : readFileSync('examples/browser/index.html'));
  });
  page.listen(0, '127.0.0.1', () => {
    const { port } = page.address() as { port: number };
    const query = new URLSearchParams({ baseURL: url, apiKey: emulator.apiKeys.publishable });
    console.log(`Open http://127.0.0.1:${port}/?${query}\nCtrl+C stops it.`);
  });
}
