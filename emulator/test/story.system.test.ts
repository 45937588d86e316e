import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
    const { click, counts, reads, sees, submit, text, type } = onPage(() => browser);
    const downloads = dataDirectory();
    await browser.downloadTo(downloads);

    await browser.open(`${url}/_emulator`);
    await click('#nav-conversations');
    await click('#new');
    await type('#transcript', TRANSCRIPT);
    await type('#conversation-id', 'invoice-export');
    await reads('Create with 18 messages');
    await click('#create');
    await sees('.messages .message:nth-child(18)');
    const messages = emulator.conversations.get('invoice-export')?.messages ?? [];

    const retention = messages.find(({ content }) => content.includes('ninety days'))?.id;
    await click(`[aria-label="Pin ${retention}"]`);
    await sees(`[id="message-${retention}"] .badge.pinned`);
    expect((await emulator.inspect('invoice-export'))?.pinnedMemory).toMatchObject([{ category: 'requirement' }]);

    await click('#compact-aggressive');
    await reads('What the aggressive compaction did');
    const lost = 'We decided to keep the state of a run in PostgreSQL.';
    await sees(`[aria-label="Pin: ${lost}"]`);
    expect(await text()).not.toContain('Pin: The retention of raw exports');
    await click(`[aria-label="Pin: ${lost}"]`);
    await reads(`Pinned: “${lost}” is in the context again.`);
    const pinned = (await emulator.inspect('invoice-export'))?.pinnedMemory.at(-1);
    expect([pinned?.category, pinned?.content]).toEqual(['decision', expect.stringContaining('PostgreSQL')]);

    await click('a[href="#/playground/invoice-export"]');
    await reads('Background from earlier');
    await submit('#send', { '#question': 'Where do we keep the state of a run?' });
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
    await counts('.banner.warning', 0);

    await click('#close-detail');
    await click('#share summary');
    await click('#save-har');
    const file = join(downloads, 'requests.har');
    await expect.poll(() => existsSync(file) && readdirSync(downloads).length === 1).toBe(true);
    const { log } = JSON.parse(readFileSync(file, 'utf8'));
    expect(log.entries).toMatchObject([{ response: { status: 200 } }, { response: { status: 503 } }]);
    expect(JSON.stringify(log)).not.toContain(emulator.apiKeys.secret);
    // The browser itself logs every failed request.
    expect(browser.complaints.filter((complaint) => !complaint.includes('503'))).toEqual([]);
    const origins = browser.requested.map((address) => new URL(address).origin);
    expect(origins.filter((origin) => origin !== url && origin !== 'null')).toEqual([]);
  });
});
