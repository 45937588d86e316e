/** Takes the pictures of the example apps that the docs show: npm run screenshots */
import { serve } from '@hono/node-server';
import { createEmulator } from 'context-gateway-emulator';
import { buildPage } from '../examples/apps/build-page.js';
import { launchChromium } from '../test/browser/launch.js';

const emulator = createEmulator({ seed: 'screenshots' });
emulator.chat.on(
  'release',
  'On Tuesdays, because support is fully staffed then. Hotfixes may go out on any day until 16:00.',
);
emulator.chat.on(
  'hotfix',
  'The release captain approves it, and a second engineer reviews the change before it goes out.',
);
const { url } = await emulator.listen({ port: 0 });
const page = await buildPage('browser-chat');
const server = serve({ fetch: ({ url: asked }) => page(new URL(asked).pathname), port: 0, hostname: '127.0.0.1' });
await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address() as { port: number };
const query = new URLSearchParams({ baseURL: url, apiKey: emulator.apiKeys.publishable });

const browser = await launchChromium();
for (const [name, width, height, theme] of [
  ['browser-chat', 1000, 560, 'light'],
  ['browser-chat-phone', 390, 700, 'dark'],
] as const) {
  const tab = await browser.newPage();
  await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await tab.setViewport({ width, height });
  await tab.goto(`http://127.0.0.1:${port}/?${query}`);
  const ask = async (question: string): Promise<void> => {
    await tab.type('textarea', question);
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('ol[aria-busy=false]');
  };
  await ask('When do we release?');
  await ask('Who approves a hotfix?');
  emulator.faults.add({ match: { path: '/v1/chat/completions' }, respond: { status: 429, retryAfter: 12 } });
  await tab.type('textarea', 'And on Fridays?');
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('.banner');
  await tab.screenshot({ path: `docs/images/${name}.png` });
  await tab.close();
}
await browser.close();
server.close();
await emulator.close();
