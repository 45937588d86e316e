/**
 * Takes the pictures of the README, the guides and the stories in docs/stories: `npx tsx scripts/screenshots.ts`, or with the
 * names of some: `npx tsx scripts/screenshots.ts recall batch`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { GatewayClient } from 'context-gateway';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import { launchChromium } from '../test/browser/launch.js';
import { picture, record } from './terminal-picture.js';

const STORIES: Readonly<Record<string, () => Promise<void>>> = {
  recall,
  compaction,
  batch,
  attempts,
  trace,
  'failed-test': failedTest,
};
const GUIDES = 'docs/guides/images';
const FOLDER = 'docs/stories';

mkdirSync(FOLDER, { recursive: true });
const browser = await launchChromium();
const names = process.argv.slice(2);
for (const [name, tell] of Object.entries(STORIES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  await tell();
  console.log(name);
}
await browser.close();

/** A question about something said long ago, and where the answer was said. */
async function recall(): Promise<void> {
  const inputs = ['Which constraints make a double booking impossible?'];
  const text = await record(['examples/chat/chat.ts'], { inputs });
  await picture(
    browser,
    'npm run chat',
    text.replace(/\n[^\n]*> *(\u001b\[\d+m)*( >)*\s*$/, ''),
    `${GUIDES}/recall.webp`,
  );
}

/** A conversation before and after a compaction, in the emulator's inspector. */
async function compaction(): Promise<void> {
  const emulator = createEmulator({ seed: 'screenshots', now: '2026-03-02T09:30:00Z', setup: addSampleConversation });
  const { url } = await emulator.listen({ port: 0 });
  const inspector = await browser.newPage();
  await inspector.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await inspector.setViewport({ width: 640, height: 940 });
  await inspector.goto(`${url}/_emulator#/conversation/conv_sample`);
  await inspector.waitForSelector('.tokens .gauge');
  const shot = async (): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve, 800)); // until the gauges stop moving
    return inspector.screenshot({ encoding: 'base64' });
  };
  const before = await shot();
  await inspector.click('#compact-deep');
  await inspector.waitForFunction(() => document.body.innerText.includes('What the deep compaction did'));
  const after = await shot();
  const both = await browser.newPage();
  await both.setViewport({ width: 1304, height: 990 });
  const side = (title: string, image: string): string =>
    `<figure><figcaption>${title}</figcaption><img src="data:image/png;base64,${image}" width="640"></figure>`;
  await both.setContent(`<style>
    body { display: flex; gap: 20px; margin: 0; background: #fff; font: 600 20px system-ui; }
    figure { margin: 0; } figcaption { height: 48px; line-height: 48px; } img { border: 1px solid #d8dde3; border-radius: 8px; }
  </style>${side('Before a compaction', before)}${side('After a compaction', after)}`);
  await both.screenshot({ path: `${FOLDER}/compaction.webp`, type: 'webp', quality: 80 });
  await inspector.close();
  await both.close();
  await emulator.close();
}

/** The program of the batch guide, stopped by its limit, and run again. */
async function batch(): Promise<void> {
  const code = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync('docs/guides/batch.md', 'utf8'))?.[1] ?? '';
  const emulator = createEmulator({ seed: 'screenshots' });
  const { url } = await emulator.listen({ port: 0 });
  const env = { CONTEXT_GATEWAY_BASE_URL: url, CONTEXT_GATEWAY_API_KEY: emulator.apiKeys.secret };
  const folder = mkdtempSync('examples/.batch-');
  const results = `${folder}/results.jsonl`;
  const run = async (limit: number): Promise<string> => {
    const program = code.replace("'results.jsonl'", `'${results}'`).replace('100_000', `${limit}`);
    writeFileSync(`${folder}/batch.ts`, program);
    return record([`${folder}/batch.ts`], { env });
  };
  const stopped = await run(500);
  const resumed = await run(100_000);
  rmSync(folder, { recursive: true });
  const prompt = (limit: string): string =>
    `\u001b[1m$ npx tsx batch.mts\u001b[22m   \u001b[2m# TOKEN_LIMIT = ${limit}\u001b[22m\n`;
  const text = `${prompt('500')}${stopped}\n\n${prompt('100_000')}${resumed}`;
  await picture(browser, 'a batch job', text, `${FOLDER}/batch.webp`);
  await emulator.close();
}

/** The attempts of one call, in the emulator's list of requests. */
async function attempts(): Promise<void> {
  const emulator = createEmulator({ seed: 'screenshots' });
  const { url } = await emulator.listen({ port: 0 });
  const gateway = new GatewayClient({ baseURL: url, apiKey: emulator.apiKeys.secret });
  emulator.faults.add({ match: { path: '/v1/presets' }, times: 2, respond: { status: 503 } });
  await gateway.presets.list();
  await gateway.close();
  const page = await browser.newPage();
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await page.setViewport({ width: 1100, height: 760 });
  await page.goto(`${url}/_emulator#/requests/${emulator.requests.at(-1)?.requestId}`);
  await page.waitForFunction(() => document.body.innerText.includes('attempts of one call'));
  await page.screenshot({ path: `${FOLDER}/attempts.webp`, type: 'webp', quality: 80 });
  await page.close();
  await emulator.close();
}

/** The span of a call that waited, failed and was retried. */
async function trace(): Promise<void> {
  await picture(browser, 'npx tsx scripts/trace.ts', await record(['scripts/trace.ts']), `${FOLDER}/trace.webp`);
}

/** A test that fails, and the requests that the emulator received. */
async function failedTest(): Promise<void> {
  const folder = mkdtempSync('examples/.failed-');
  const code = `import { test } from 'context-gateway-emulator/vitest';
import { expect } from 'vitest';

test('compacts deeply', async ({ emulator, context }) => {
  const { id } = emulator.conversations.create({ messages: [{ role: 'user', content: 'We decided to use Parquet.' }] });
  await context.compact(id, { level: 'light' });
  expect(emulator).toHaveReceived({ method: 'POST', path: '/api/context/compact', body: { level: 'deep' } });
});
`;
  writeFileSync(`${folder}/compaction.test.ts`, code);
  const config = { test: { include: [`${folder}/*.test.ts`] } };
  writeFileSync(
    `${folder}/vitest.config.ts`,
    `import base from '../../vitest.config.js';
export default { ...base, test: { include: ${JSON.stringify(config.test.include)} }, root: ${JSON.stringify(process.cwd())} };`,
  );
  const text = await record(['node_modules/vitest/vitest.mjs', 'run', '--config', `${folder}/vitest.config.ts`]);
  rmSync(folder, { recursive: true });
  const start = text.indexOf('FAIL');
  const shown = text
    .slice(text.lastIndexOf('\n', start) + 1)
    .replaceAll(`${folder}/`, '')
    .replace(/\n\s*Start at[\s\S]*$/, '');
  await picture(browser, 'npx vitest run', shown, `${FOLDER}/failed-test.webp`);
}
