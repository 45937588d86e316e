/** Runs one example against its own emulator: `npm run example stream-chat` */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { serve } from '@hono/node-server';
import { GatewayClient } from 'context-gateway';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import { buildPage, unbundledPage } from '../examples/apps/build-page.js';

/** Apps with their own program. */
const APPS: Record<string, string> = {
  relay: 'examples/apps/relay/server.ts',
  batch: 'examples/apps/batch/batch.ts',
  memory: 'examples/apps/memory/server.ts',
  'support-chat': 'examples/apps/support-chat/server.ts',
  'usage-report': 'examples/apps/usage-report/report.ts',
};
/** Apps that are a page, which this script serves. */
const PAGES: Record<string, () => ReturnType<typeof buildPage>> = {
  'browser-chat': () => buildPage('browser-chat'),
  'no-bundler': unbundledPage,
};

const [name = '', ...rest] = process.argv.slice(2);
const file = Object.hasOwn(APPS, name) ? APPS[name] : `examples/${name}.ts`;
const page = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
if (file === undefined || (page === undefined && !existsSync(file))) {
  const tasks = readdirSync('examples').filter((entry) => entry.endsWith('.ts'));
  const all = [...tasks.map((entry) => entry.replace('.ts', '')), ...Object.keys(PAGES), ...Object.keys(APPS)];
  console.error(`Usage: npm run example <name>\n\n${all.map((example) => `  ${example}`).join('\n')}\n
A page with useChat, in Next.js: docs/guides/chat-page.md`);
  process.exit(2);
}

const emulator = createEmulator({ setup: addSampleConversation, pace: { tokensPerSecond: 60 } });
const { url } = await emulator.listen({ port: 0 });

if (name === 'usage-report') await useForTwoWeeks();
if (page !== undefined) await servePage(await page());
else process.exitCode = await runExample(file);

/** Environment variables configure the example for the emulator, as they would for the service. */
async function runExample(program: string): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--import', './scripts/import-lua.js', program, ...rest], {
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

async function servePage(page: Awaited<ReturnType<typeof buildPage>>): Promise<void> {
  serve({ fetch: ({ url: asked }) => page(new URL(asked).pathname), port: 0, hostname: '127.0.0.1' }, ({ port }) => {
    const query = new URLSearchParams({ baseURL: url, apiKey: emulator.apiKeys.publishable });
    console.log(`Open http://127.0.0.1:${port}/?${query}\nCtrl+C stops it.`);
  });
}

/** Makes calls over two weeks on the emulator's clock. */
async function useForTwoWeeks(): Promise<void> {
  await using gateway = new GatewayClient({ baseURL: url, apiKey: emulator.apiKeys.secret });
  for (let day = 1; day <= 14; day += 1) {
    const model = day % 3 === 0 ? 'atlas-large' : 'atlas-small';
    const content = 'We keep invoices in PostgreSQL because the finance team reports from it. '.repeat((day * 5) % 11);
    await gateway.chat.completions.create({ model, messages: [{ role: 'user', content: `${content}Why?` }] });
    if (day < 14) emulator.clock.advance(86_400_000);
  }
}
