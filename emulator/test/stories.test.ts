import { GatewayClient } from 'context-gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasChromium } from '../../test/browser/launch.js';
import { AT_LENGTH } from '../../test/helpers/endurance.js';
import { addSampleConversation, createEmulator, type Emulator } from '../src/index.js';
import { BrowserPage } from './browser-page.js';
import { onPage } from './page.js';
import { dataDirectory } from './support.js';

const hasBrowser = await hasChromium();
let browser: BrowserPage;
beforeAll(async () => {
  if (hasBrowser) browser = await BrowserPage.start(390, 900);
}, 60_000);
afterAll(() => browser?.close());

/** What a person comes for, played by clicks on a phone, and in CI on a desktop. */
describe.runIf(hasBrowser).each(AT_LENGTH ? [390, 1280] : [390])('a story at %d px', (width) => {
  let emulator: Emulator;
  let url: string;

  beforeAll(async () => {
    emulator = createEmulator({
      seed: 'stories',
      now: '2026-03-02T09:30:00Z',
      setup: addSampleConversation,
      limits: { gateway: 3 },
    });
    url = (await emulator.listen()).url;
    await browser.resize(width, 900);
    await browser.open(`${url}/_emulator`);
  }, 60_000);
  beforeEach(async () => {
    emulator.reset();
    await onPage(browser).go('memory');
  });
  afterAll(async () => {
    await browser.open('about:blank');
    await emulator?.close();
  });

  /** Everything that is shown lies within the page. */
  const fits = async (): Promise<void> => {
    const wide = await browser.evaluate<string[]>(`[...document.querySelectorAll('body *')]
      .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.unseen, .skip, .code'))
      .map((each) => each.outerHTML.slice(0, 160))`);
    expect(wide).toEqual([]);
  };
  const client = (maxRetries: number) =>
    new GatewayClient({ baseURL: url, apiKey: emulator.apiKeys.secret, maxRetries, pacing: false });

  test('a transcript is pasted, read with all its speakers, and compacted', async () => {
    const { go, click, type, choose, reads, sees, text } = onPage(browser);
    await go('new');
    const pasted = `Anna: We decided to keep invoices in PostgreSQL because it is backed up.
Ben: Note: the export must never contain the data of two customers.
Carla: Retries must not send the same invoice twice.
${Array.from({ length: 20 }, (_, i) => `Anna: Thanks, the weather on day ${i} is nice.\nBen: Lunch is ready.`).join('\n')}`;
    await type('#transcript', pasted);
    await sees('[id="speaker-Carla"]');
    await fits();
    await choose('[id="speaker-Carla"]', 'assistant');
    await reads('Create with 43 messages');
    await click('#create');
    await reads('43 messages, never compacted');
    const created = emulator.conversations.list().at(-1);
    expect(created?.messages.map(({ role, content }) => `${role}: ${content}`).slice(0, 3)).toEqual([
      'user: Anna: We decided to keep invoices in PostgreSQL because it is backed up.',
      'user: Ben: Note: the export must never contain the data of two customers.',
      'assistant: Retries must not send the same invoice twice.',
    ]);
    await click('#compact-aggressive');
    await reads('Receipt of the aggressive compaction');
    expect(await text()).toMatch(/\d+ statements? recognised/);
    await fits();
    if (width < 900) {
      await click('#to-versions');
      await browser.until(
        "Math.abs(document.querySelector('#part-versions').getBoundingClientRect().bottom - innerHeight) < 900 && document.querySelector('#part-versions').getBoundingClientRect().top < innerHeight",
      );
    }
  });

  test('a question is asked in the playground, with and without the context', async () => {
    const { go, click, type, choose, reads, sees, text } = onPage(browser);
    const id = `0f8fad5b-d9cb-469f-a165-70867728950e-${'long'.repeat(20)}`;
    emulator.models.create({ id: 'a-model-of-a-very-long-name'.repeat(4), contextWindow: 1000 });
    emulator.conversations.create({
      id,
      messages: [
        { role: 'user', content: 'We release on Tuesdays because support is fully staffed then.' },
        { role: 'assistant', content: 'Noted.' },
      ],
    });
    await go('playground');
    await sees(`#from-conversation option[value="${id}"]`);
    await choose('#from-conversation', id);
    await sees('#compare');
    await type('#question', 'When do we release?');
    await click('#compare');
    await click('#send');
    await browser.until("document.querySelector('#answer')?.innerText.includes('Tuesdays')");
    await browser.until("document.querySelector('#bare-answer')?.innerText.includes('Nothing in this conversation')");
    await sees('#evidence mark');
    expect(await text()).toMatch(/first token after/);
    await fits();

    await choose('#from-conversation', '');
    await browser.until("document.querySelectorAll('.draft').length === 1");
    expect(await browser.evaluate("document.querySelector('#question').value")).toBe('When do we release?');
    await reads('1 message');
  });

  test('a fault and the retry that follows it', async () => {
    const { go, click, reads, sees, text } = onPage(browser);
    await go('faults');
    await click('[id="fault-Gateway down"]');
    await browser.until(
      "document.querySelector('[id=\"fault-Gateway down\"]').getAttribute('aria-checked') === 'true'",
    );
    const gateway = client(1);
    // The Gateway recovers as soon as the first attempt has failed.
    const stop = emulator.onRequest(() => emulator.faults.clear());
    await gateway.presets.list();
    stop();
    await gateway.close();

    await go('requests');
    await reads('attempt 2');
    await click('.log li:first-child a');
    await reads('2 attempts of one call');
    expect(await text()).toMatch(/503\s*fault: status 503/);
    expect(await text()).toMatch(/200\s*succeeded/);
    await fits();

    await click('#edit-resend');
    await sees('#resend-path');
    await onPage(browser).type('#resend-path', '/v1/presets?limit=1');
    await fits();
    await click('#resend-send');
    await browser.until("document.querySelector('.detail-path')?.innerText === '/v1/presets?limit=1'");
    await reads('first secret key');
  });

  test('why a call was answered with 429, and the way past it', async () => {
    const { go, click, reads, sees } = onPage(browser);
    const gateway = client(0);
    const list = () => gateway.presets.list();
    for (let i = 0; i < 3; i += 1) await list();
    await expect(list()).rejects.toThrow('429');

    await go('requests');
    await reads('limit gateway');
    await click('.log li:first-child a');
    await sees('#limit-note');
    await reads(
      'The limit gateway allows 3 requests in 60 s. This was request 4 of its window, which ends at 09:31:00 UTC.',
    );
    await fits();
    await click('#advance-to-end');
    await reads('The window has ended');
    await list();
    await gateway.close();
  });

  test('a snapshot is kept, the clock is advanced, and both are put back', async () => {
    const { go, click, type, reads, sees } = onPage(browser);
    await go('system');
    await reads('2026-03-02 09:30:00');
    await type('#snapshot-name', 'before the month ends');
    await click('#snapshot-keep');
    await reads('Kept before the month ends.');
    await browser.evaluate("[...document.querySelectorAll('button')].find((b) => b.innerText === '+ 30 days').click()");
    await reads('2026-04-01 09:30:00');
    emulator.memory.create({ type: 'fact', key: 'later', content: 'x' });
    await fits();

    await click('[aria-label="Restore before the month ends"]');

    await reads('Restored before the month ends.');
    await reads('2026-03-02 09:30:00');
    expect(emulator.memory.all()).toEqual([]);
    await click('[aria-label="Delete before the month ends"]');
    await click('#snapshots .danger');
    await browser.until("document.querySelector('#snapshots') === null");
    await sees('#snapshot-keep');
  });

  test('answers are recorded, looked at, and replayed', async () => {
    const directory = dataDirectory();
    const upstream = createEmulator({ seed: 'upstream' });
    upstream.chat.on('tall', 'It is 300 metres tall.');
    const recording = createEmulator({
      seed: 'record',
      upstream: { url: 'http://upstream.test/v1', key: upstream.apiKeys.secret, fetch: upstream.fetch },
      cassettes: { directory, mode: 'record' },
    });
    const { url: first } = await recording.listen();
    const { go, click, type, reads, sees, text } = onPage(browser);
    const askThere = async (address: string, question: string): Promise<void> => {
      await browser.open(`${address}/_emulator#/playground`);
      await type('#question', question);
      await click('#send');
    };
    await askThere(first, 'How tall is the tower?');
    await reads('It is 300 metres tall.');
    await reads('answered by: upstream');
    await go('answers');
    await reads('Answers come from the model at http://upstream.test/v1, and recorded in');
    await sees('#recordings li');
    await fits();
    await browser.open('about:blank');
    await Promise.all([recording.close(), upstream.close()]);

    const replaying = createEmulator({ seed: 'replay', cassettes: { directory, mode: 'replay' } });
    const { url: second } = await replaying.listen();
    await askThere(second, 'How tall is the tower?');
    await reads('answered by: recording');
    expect(await text()).toContain('It is 300 metres tall.');
    await askThere(second, 'How small is the tower?');
    await reads('No response was recorded for this request. The nearest recording');
    await fits();
    await browser.open(`${url}/_emulator`);
    await replaying.close();
  });

  test('presets, posted messages, files, replies, users and workspaces have a view', async () => {
    const { go, click, type, reads, sees } = onPage(browser);
    const gateway = client(0);
    await gateway.integrations.execute('team-chat', { action: 'post_message', channel: '#ops', text: 'Deployed.' });
    await gateway.files.upload({ file: new Blob(['a,b']), purpose: 'import', filename: 'rows.csv' });
    await gateway.close();
    await go('presets');
    await reads('Deployed.');
    await reads('Meeting decisions');
    await fits();
    await go('files');
    await reads('rows.csv');
    await go('people');
    await type('#user-name', 'anna');
    await click('#user-create');
    await reads('Session of anna');
    await type('#workspace-name', 'ops');
    await click('#workspace-create');
    await sees('#workspaces li');
    await fits();
    await go('answers');
    await reads('Answers are built in');
    await type('#reply-match', 'weather');
    await type('#reply-text', 'Rain.');
    await click('#reply-add');
    await sees('#replies li');
    expect(emulator.chat.list()).toMatchObject([{ match: 'weather', reply: 'Rain.' }]);
    await fits();
  });

  test('a first visit shows how to point a program here, without a key', async () => {
    const { go, reads, sees } = onPage(browser);
    await go('conversations');
    await reads('Point your program here');
    await reads(`export CONTEXT_GATEWAY_BASE_URL=${url}`);
    await sees('#copy-environment');
    expect(await browser.evaluate('document.documentElement.innerHTML')).not.toContain(emulator.apiKeys.secret);
    await fits();
  });
});
