/** Runs one example against its own emulator: `npm run example agent` */
import { spawn } from 'node:child_process';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';

const EXAMPLES = new Map([
  ['agent', 'examples/agent/agent.ts'],
  ['batch', 'examples/batch/batch.ts'],
  ['support-chat', 'examples/support-chat/server.ts'],
]);

const [name = '', ...rest] = process.argv.slice(2);
const program = EXAMPLES.get(name);
if (program === undefined) {
  console.error(`Usage: npm run example <name>\n\n${[...EXAMPLES.keys()].map((each) => `  ${each}`).join('\n')}\n
Also: npm run demo, npm run chat, and a page with useChat in Next.js: docs/guides/chat-page.md`);
  process.exit(2);
}

const emulator = createEmulator({ setup: addSampleConversation, pace: { tokensPerSecond: 60 } });
const { url } = await emulator.listen({ port: 0 });
process.exitCode = await run(program);
await emulator.close();

/** Environment variables configure the example for the emulator, as they would for the service. */
async function run(program: string): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--import', './scripts/import-lua.js', program, ...rest], {
    stdio: 'inherit',
    env: {
      ...process.env,
      CONTEXT_GATEWAY_BASE_URL: url,
      CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret,
      CONTEXT_GATEWAY_SESSION_TOKEN: emulator.sessionToken,
    },
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
