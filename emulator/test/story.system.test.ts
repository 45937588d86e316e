import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../test/browser/launch.js';
import { createEmulator, type Emulator } from '../src/index.js';
import { BrowserPage } from './browser-page.js';
import { onPage } from './page.js';
import { dataDirectory, TRANSCRIPT } from './support.js';

describe.runIf(await hasChromium())('the inspector, operated by clicks', () => {
  let browser: BrowserPage;
  let emulator: Emulator;
  let url: string;

  beforeAll(async () => {
    emulator = createEmulator({ seed: 'story', now: '2026-03-02T09:30:00Z' });
    url = (await emulator.listen()).url;
    browser = await BrowserPage.start(1280, 1000);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await emulator?.close();
  });

  test('takes a pasted conversation through pinning, compaction, a question, a fault and an export', async () => {
    const { click, type, sees, reads, text } = onPage(browser);
    const downloads = join(dataDirectory(), 'downloads');
    mkdirSync(downloads);
    await browser.downloadTo(downloads);

    await browser.open(`${url}/_emulator`);
    await click('#new');
    await type('#transcript', TRANSCRIPT);
    await type('#conversation-id', 'invoice-export');
    await reads('Create with 18 messages');
    await click('#create');
    await sees('#append');
    const messages = emulator.conversations.get('invoice-export')?.messages ?? [];
    expect(messages.map(({ role }) => role).slice(0, 3)).toEqual(['user', 'assistant', 'user']);

    const retention = messages.find(({ content }) => content.includes('ninety days'))?.id;
    await click(`[aria-label="Pin ${retention}"]`);
    await sees(`[id="message-${retention}"] .badge.pinned`);
    expect((await emulator.inspect('invoice-export'))?.pinnedMemory).toMatchObject([{ category: 'requirement' }]);

    await click('#compact-light');
    await reads('Receipt of the light compaction');
    await click('#compact-aggressive');
    await reads('Receipt of the aggressive compaction');
    const lost = 'We decided to keep the state of a run in PostgreSQL.';
    await sees(`[aria-label="Pin: ${lost}"]`);
    expect(await text()).not.toContain('Pin: The retention of raw exports');
    await click(`[aria-label="Pin: ${lost}"]`);
    await reads(`Pinned: “${lost}” is in the context again.`);
    const { pinnedMemory } = (await emulator.inspect('invoice-export')) ?? {};
    expect(pinnedMemory?.at(-1)).toMatchObject({
      category: 'decision',
      content: expect.stringContaining('PostgreSQL'),
    });

    await click('a[href="#/playground/invoice-export"]');
    await reads('Background from earlier');
    await type('#question', 'Where do we keep the state of a run?');
    await click('#send');
    await reads('finish reason stop');
    expect(await browser.evaluate("document.querySelector('#answer').innerText")).toContain('PostgreSQL');

    await click('#nav-faults');
    await click('[id="fault-Gateway down"]');
    await sees('.banner.warning');
    await click('#nav-playground');
    await click('#send');
    await reads('503');
    await click('#nav-requests');
    await sees('.log .status.failed');
    await click('.log a');
    await reads('fault: status 503');
    await click('#faults-off');
    await browser.until("document.querySelector('.banner.warning') === null");

    await click('#share');
    await click('#save-har');
    const file = join(downloads, 'requests.har');
    await expect.poll(() => existsSync(file) && readdirSync(downloads).length === 1).toBe(true);
    const { log } = JSON.parse(readFileSync(file, 'utf8'));
    const [answered, refused] = log.entries;
    expect(answered.response).toMatchObject({ status: 200, content: { text: expect.stringContaining('[DONE]') } });
    expect(refused).toMatchObject({ response: { status: 503 }, comment: 'fault: status 503' });
    expect(JSON.stringify(log)).not.toContain(emulator.apiKeys.secret);
    // The browser itself logs every failed request.
    expect(browser.complaints.filter((complaint) => !complaint.includes('503'))).toEqual([]);
    const origins = browser.requested.map((address) => new URL(address).origin);
    expect(origins.filter((origin) => origin !== url && origin !== 'null')).toEqual([]);
  });
});
