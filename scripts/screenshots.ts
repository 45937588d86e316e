/** Takes the screenshots of the README and the guides: `npm run screenshots` */
import { serve } from '@hono/node-server';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import { buildPage } from '../examples/apps/build-page.js';
import { launchChromium } from '../test/browser/launch.js';

const emulator = createEmulator({ seed: 'screenshots', now: '2026-03-02T09:30:00Z', setup: addSampleConversation });
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
  await tab.screenshot({ path: `docs/guides/images/${name}.png` });
  await tab.close();
}

// A conversation before and after a compaction, in the emulator's workbench.
const workbench = await browser.newPage();
await workbench.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
await workbench.setViewport({ width: 640, height: 940 });
await workbench.goto(`${url}/_emulator#/conversation/conv_sample`);
await workbench.waitForSelector('.chart svg');
const before = await picture();
await workbench.click('#compact-deep');
await workbench.waitForFunction(() => document.body.innerText.includes('Receipt of the deep compaction'));
const after = await picture();
const both = await browser.newPage();
await both.setViewport({ width: 1304, height: 990 });
const side = (title: string, image: string): string =>
  `<figure><figcaption>${title}</figcaption><img src="data:image/png;base64,${image}" width="640"></figure>`;
await both.setContent(`<style>
  body { display: flex; gap: 20px; margin: 0; background: #fff; font: 600 20px system-ui; }
  figure { margin: 0; } figcaption { height: 48px; line-height: 48px; } img { border: 1px solid #d8dde3; border-radius: 8px; }
</style>${side('Before a compaction', before)}${side('After a compaction', after)}`);
await both.screenshot({ path: 'docs/guides/images/compaction.png' });

await browser.close();
server.close();
await emulator.close();

async function picture(): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 800)); // until the gauges stop moving
  return workbench.screenshot({ encoding: 'base64' });
}
