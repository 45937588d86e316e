import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayClient } from 'context-gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasChromium } from '../../test/browser/launch.js';
import { AT_LENGTH } from '../../test/helpers/endurance.js';
import { addSampleConversation, createEmulator, type Emulator } from '../src/index.js';
import { BrowserPage } from './browser-page.js';
import { onPage } from './page.js';
import { callsTo, dataDirectory, openStream } from './support.js';

const hasBrowser = await hasChromium();
let browser: BrowserPage;
const { click, choose, counts, focus, give, go, press, reads, sees, submit, text, type } = onPage(() => browser);
beforeAll(async () => {
  if (hasBrowser) browser = await BrowserPage.start(390, 900);
}, 60_000);
afterAll(() => browser?.close());

/** What a person comes for, played by clicks on a phone, and in CI on a desktop. */
describe.runIf(hasBrowser && AT_LENGTH).each([390, 1280])('a story at %d px', (width) => {
  let emulator: Emulator;
  let url: string;

  beforeAll(async () => {
    const options = { seed: 'stories', now: '2026-03-02T09:30:00Z', limits: { gateway: 3 } };
    emulator = createEmulator({ ...options, setup: addSampleConversation });
    url = (await emulator.listen()).url;
    await browser.resize(width, 900);
    await browser.open(`${url}/_emulator`);
  }, 60_000);
  beforeEach(async () => {
    await browser.evaluate("document.querySelector('#close-detail')?.click()");
    emulator.reset();
    await go('service/memory');
  });
  afterAll(async () => {
    await browser.open('about:blank');
    await emulator?.close();
  });

  /** Everything that is shown lies within the page. */
  const fits = async (): Promise<void> => {
    expect(await browser.tooWide()).toEqual([]);
  };

  test('a question is asked in the playground, with the context of a conversation', async () => {
    const id = `0f8fad5b-d9cb-469f-a165-70867728950e-${'long'.repeat(20)}`;
    emulator.models.create({ id: 'a-model-of-a-very-long-name'.repeat(4), contextWindow: 1000 });
    const content = 'We release on Tuesdays because support is fully staffed then.';
    emulator.conversations.create({ id, messages: [{ role: 'user', content }] });
    await go('conversations');
    await type('#search', 'Tuesdays staffed');
    await click(`.conversation-list a[href^="#/conversation/${id}"]`);
    await click(`a[href="#/playground/${id}"]`);
    await sees('#source'); // shown together with its messages
    await submit('#send', { '#question': 'When do we release?' });
    await browser.until("document.querySelector('#answer')?.innerText.includes('Tuesdays')");
    expect(await text()).toMatch(/first token after/);
    await fits();

    await click('#keep');
    await browser.until("document.querySelectorAll('.before li').length === 3");
    expect(emulator.conversations.get(id)?.messages).toHaveLength(3);
    await submit('#clear-history', { '#question': 'And when not?' });
    await counts('.before', 0);
    expect(await browser.evaluate("document.querySelector('#question').value")).toBe('And when not?');
    await reads('1 message');
  });

  test('a fault and the retry that follows it', async () => {
    await go('faults');
    await click('[id="fault-Gateway down"]');
    await sees('[id="fault-Gateway down"][aria-checked=true]');
    const gateway = new GatewayClient({ baseURL: url, apiKey: emulator.apiKeys.secret, maxRetries: 1, pacing: false });
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

    await click('#edit-resend summary');
    const changed = JSON.stringify({ path: '/v1/presets?limit=1' });
    await type('#resend-json', changed);
    await fits();
    await click('#resend-send');
    await browser.until("document.querySelector('.detail-path')?.innerText === '/v1/presets?limit=1'");
    await reads('first secret key');
    await click('.facts a[href^="#/requests/"]'); // the request that was changed
    await browser.until("document.querySelector('.detail-path')?.innerText === '/v1/presets'");
  });

  test('why a call was answered with 429, and the way past it', async () => {
    const list = async () => (await callsTo(emulator).gateway('GET', '/v1/presets')).status;
    expect([await list(), await list(), await list(), await list()]).toEqual([200, 200, 200, 429]);

    await go('requests');
    await reads('limit gateway');
    await click('.log li:first-child a');
    await reads(
      'The limit gateway allows 3 requests in 60 s. This was request 4 of its window, which ends at 09:31:00',
    );
    await fits();
    await click('#advance-to-end');
    await expect.poll(list).toBe(200);
  });

  test('a snapshot is kept, the clock is advanced, and both are put back', async () => {
    await go('service/clock');
    await reads('2026-03-02 09:30:00');
    await click('#keepSnapshot summary');
    await submit('#keepSnapshot-send', { '#keepSnapshot-name': 'before the month ends' });
    await sees('#keepSnapshot-done');
    await press('+ 30 days');
    await reads('2026-04-01 09:30:00');
    emulator.memory.create({ type: 'fact', key: 'later', content: 'x' });
    await fits();

    await click('[aria-label="Restore before the month ends"]');

    await browser.until("!document.querySelector('.facts').innerText.includes('2026-04-01')");
    expect(emulator.memory.all()).toEqual([]);
    await click('[aria-label="Delete before the month ends"]');
    await click('#snapshots .danger');
    await counts('#snapshots', 0);
    await sees('#keepSnapshot');
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
    const askThere = async (address: string, question: string): Promise<void> => {
      await browser.open(`${address}/_emulator#/playground`);
      await submit('#send', { '#question': question });
    };
    await askThere(first, 'How tall is the tower?');
    await reads('It is 300 metres tall.');
    await reads('answered by: upstream');
    await go('answers');
    await reads('Answers come from the model at http://upstream.test/v1, and recorded in');
    await sees('#recordings tbody tr');
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

  test('presets, posted messages, replies, users and workspaces are shown and changed', async () => {
    const { gateway } = callsTo(emulator);
    const message = { action: 'post_message', channel: '#ops', text: 'Deployed.' };
    await gateway('POST', '/v1/integrations/team-chat/execute', message);
    await go('service/presets');
    await reads('Meeting decisions');
    await fits();
    await go('service/integrations');
    await reads('Deployed.');
    await fits();
    await go('service/users');
    await click('#createSession summary');
    await submit('#createSession-send', { '#createSession-json': '{ "userId": "anna" }' });
    await sees('#new-secret');
    await click('#createWorkspace summary');
    await submit('#createWorkspace-send', { '#createWorkspace-json': '{ "name": "ops" }' });
    await click('[aria-label="Open ops"]');
    await submit('.open-row [type=submit]', { '.open-row input': 'anna' });
    await browser.until("document.querySelector('#workspaces').innerText.includes('anna')");
    await fits();
    await go('answers');
    await reads('Answers are built in');
    await click('#addReply summary');
    await submit('#addReply-send', { '#addReply-json': '{ "match": "weather", "reply": "Rain." }' });
    await sees('#replies tbody tr');
    expect(emulator.chat.list()).toMatchObject([{ match: 'weather', reply: 'Rain.' }]);
    await fits();
  });

  test('a first visit shows how to point a program here, without a key', async () => {
    await go('requests');
    await reads('Point your program here');
    await reads(`export CONTEXT_GATEWAY_BASE_URL=${url}`);
    await sees('#copy-environment');
    expect(await browser.evaluate('document.documentElement.innerHTML')).not.toContain(emulator.apiKeys.secret);
    await fits();
  });

  test('one of 2,000 conversations is found by words of a message', async () => {
    for (let i = 0; i < 2000; i += 1) {
      const content = i === 3 ? 'The lighthouse keeper wants green paint.' : `Note ${i}.`;
      const more = Array.from({ length: i === 3 ? 300 : 1 }, () => ({ role: 'user' as const, content: 'Hi' }));
      const messages = [{ id: `said-${i}`, role: 'user' as const, content }, ...more];
      emulator.conversations.create({ id: `one-${i}`, messages });
    }
    await go('conversations');
    await reads('2,001 conversations');
    await type('#search', 'paint lighthouse');
    await reads('1 of 2,001 conversations');
    await fits();
    await click('a[href="#/conversation/one-3/said-3"]');
    await reads('301 messages, never compacted');
    await browser.until("document.activeElement.id === 'message-said-3'");
  });

  test('what was lost has a receipt after a reload, and comes back with a pin that keeps the focus', async () => {
    await emulator.compact('conv_sample', 'aggressive');
    await go('conversation/conv_sample');
    await reads('What the aggressive compaction did');
    await browser.evaluate('location.reload()');
    await reads('What the aggressive compaction did');
    await sees('.losses .records button');
    await fits();
    await focus('.losses .records .row button:last-child');
    await click('.losses .records .row button:last-child');
    await reads('is in the context again.');
    expect(await browser.evaluate('document.activeElement !== document.body')).toBe(true);
    expect((await emulator.inspect('conv_sample'))?.pinnedMemory.length).toBeGreaterThan(0);
  });

  test('a stream is followed live, and says who stopped it', async () => {
    emulator.faults.add({ respond: { type: 'cutStream', afterEvents: 3, how: 'stall' } });
    const stop = new AbortController();
    const question = 'The harbour opens at six. When does the harbour open?';
    const stream = await openStream(emulator, question, {}, { signal: stop.signal });
    const read = stream.text();
    await go(`requests/${emulator.requests.at(-1)?.requestId}`);
    await counts('.events li', 3);
    await reads('in progress');
    await browser.until("document.querySelector('[aria-label=\"Reply so far\"]')?.innerText.startsWith('The')");
    await fits();
    stop.abort();
    await read.catch(() => {});
    await reads('the client, which disconnected');
  });

  test('a tool call is scripted on the page', async () => {
    await go('answers');
    const reply = { tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Oslo' } } }] };
    await click('#addReply summary');
    await submit('#addReply-send', { '#addReply-json': JSON.stringify({ match: 'weather', reply }) });
    await sees('#replies tbody tr');
    await fits();

    await go('playground');
    await submit('#send', { '#question': 'How is the weather?' });
    await reads('finish reason tool_calls');
    expect(await browser.evaluate("document.querySelector('#answer').innerText")).toBe('get_weather({"city":"Oslo"})');
  });

  test('a long stream is followed at its end, and all of it stays when it has ended', async () => {
    emulator.chat.on('tale', 'Once upon a time there was a harbour. '.repeat(120));
    emulator.faults.add({ match: { path: '/v1/chat/completions' }, respond: { type: 'drip', bytes: 2000, every: 20 } });
    const stream = await openStream(emulator, 'Tell the tale.');
    const read = stream.text();
    await go(`requests/${emulator.requests.at(-1)?.requestId}`);
    await reads('in progress');
    const ticking = setInterval(() => emulator.clock.advance(20), 20);
    await read;
    clearInterval(ticking);

    await counts('.events li time', emulator.requests.at(-1)?.events ?? 0);
    const bottom = (selector: string) => `document.querySelector('${selector}').getBoundingClientRect().bottom`;
    await browser.until(`Math.abs(${bottom('.events li:last-child')} - ${bottom('.events')}) < 12`);
  });

  test('a failing case is saved without keys and prompts, and opened again with its note and its fault', async () => {
    const downloads = dataDirectory();
    await browser.downloadTo(downloads);
    emulator.faults.add({ match: { path: '/v1/chat/*' }, times: 2, respond: { status: 503 } });
    const { ask, gateway } = callsTo(emulator);
    await ask('Bob lives in Oslo.', {}, { 'idempotency-key': 'one' });
    await ask('Bob lives in Oslo.', {}, { 'idempotency-key': 'one' });
    await gateway('GET', '/v1/presets');
    await go('requests');
    await counts('.log li', 3);
    await click('.log li:last-child a');
    await reads('The service is temporarily unavailable');
    await click('#share-one summary');
    await click('#mask-prompts');
    await type('#case-note', 'fails twice');
    await fits();
    await browser.until("document.querySelector('.detail #save-case').href.includes('note=fails')");
    await click('.detail #save-case');
    const file = join(downloads, 'case.json');
    await expect.poll(() => existsSync(file)).toBe(true);
    const saved = readFileSync(file, 'utf8');
    expect(JSON.parse(saved)).toMatchObject({ note: 'fails twice', masked: ['keys', 'prompts'], requests: [{}, {}] });
    for (const hidden of ['Bob', 'Oslo', emulator.apiKeys.secret, emulator.sessionToken])
      expect(saved).not.toContain(hidden);
    await click('#close-detail');

    emulator.reset();
    await reads('No requests yet');
    await click('#share summary');
    await give('#open-case', 'case.json', saved);
    await reads('Opened case.json: 2 requests, 2 faults, the state. Note: fails twice');
    await counts('.log li', 2);
    await reads('from a case');
    await sees('.banner.warning');
    await fits();
    expect((await ask('Bob?')).status).toBe(503);
    await give('#open-case', 'case.json', '{ "format": "something else" }');
    await sees('#share [role=alert]');
    await click('#share summary');
  });

  test('an upload can be downloaded, leads to its request and back, and is deleted', async () => {
    const { upload } = callsTo(emulator);
    await upload(new File(['name,amount\nAnna,10\n'], 'rows.csv'));
    await upload(new File([new Uint8Array([137, 80, 0, 1])], 'logo.png'));
    await go('service/files');
    await sees('a[download="rows.csv"]');
    const got = 'fetch(document.querySelector(\'a[download="rows.csv"]\').href).then((response) => response.text())';
    expect(await browser.evaluate(got)).toBe('name,amount\nAnna,10\n');
    await fits();

    await click('[aria-label="Delete logo.png"]');
    await press('Really delete', '#files');
    await counts('#files tbody tr', 1);
    expect(emulator.files.list()).toHaveLength(1);
    await click('#files a[href^="#/requests/"]');
    await reads('POST 200');
    await sees('.facts a[href="#/service/files"]');
  });

  test('requests are found by words of prompts, replies and facts, in one field', async () => {
    const other = emulator.apiKeys.create('secret', { name: 'production' });
    const { ask } = callsTo(emulator);
    await ask('Hello?', {}, { 'x-emulator-conversation': 'conv_sample' });
    await ask('Hello?', { model: 'no-such-model' });
    await ask('Hello?', {}, { 'x-emulator-fault': '503' });
    await ask('Which zebra?', { model: 'birch-small' }, { authorization: `Bearer ${other}` });
    await go('requests');
    for (const [words, count] of [
      ['', 4],
      ['failed', 2],
      ['404', 1],
      ['production', 1],
      ['model_not_found', 1],
      ['birch-small zebra', 1],
      ['conv_sample', 1],
      ['failed status 503', 1],
    ] as const) {
      await type('#filter', words);
      await counts('.log li', count);
    }
    await type('#filter', 'zebra');
    await sees('.log mark');
    await type('#filter', 'zebra failed');
    await reads('No request has all of these words.');
    await fits();
    await click('#share summary');
    await type('#filter', 'hello');
    await counts('.log li', 3);
    const saved = "fetch(document.querySelector('#save-case').href).then((response) => response.json())";
    expect((await browser.evaluate<{ requests: object[] }>(saved)).requests).toHaveLength(3);
    await click('#share summary');
    await type('#filter', '');
    await counts('.log li', 4);
  });

  test('polls that each got a 429 are called similar requests, and no attempts', async () => {
    for (let poll = 0; poll < 6; poll += 1) await callsTo(emulator).gateway('GET', '/v1/usage');
    await go('requests');
    await reads('similar request 3');
    await click('.log li:first-child a');
    await reads('3 similar requests');
    await reads('Nothing tells whether one call sent them.');
    await fits();
    expect(await text()).not.toContain('attempts of one call');
    await click('.attempts li:first-child a');
    await browser.until("document.querySelector('.attempts li:first-child a[aria-current]')");
  });

  test('the parts of a long prompt have labels: context, newest messages, recalled, input', async () => {
    const turns = Array.from({ length: 10 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `Turn ${i}. ${'And so on. '.repeat(10)}`,
    }));
    await callsTo(emulator).ask('', {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '<context-7f3a>\nBackground.\n- One.\n- Two.\n</context-7f3a>' },
        ...turns,
        { role: 'user', content: '<recalled-7f3a>\n- user: We launch on Friday.\n</recalled-7f3a>' },
        { role: 'user', content: 'When do we launch?' },
      ],
    });
    await go('requests');
    await counts('.log li', 1);
    await click('.log a');
    await reads("of the model's window");
    await sees('#messages .legend');
    const legend = await browser.evaluate<string>("document.querySelector('#messages .legend').innerText");
    for (const part of ['instructions', 'context', 'newest messages', 'recalled', 'input'])
      expect(legend).toMatch(new RegExp(`${part} \\d+`));
    await press('Show 13 earlier messages', '#messages');
    await reads('context, 2 entries');
    await reads('recalled, 1 entry');
    expect(await text()).toMatch(/system 1\s*instructions\s*· \d+ tokens/);
    await fits();
  });

  test('the cost is shown by key, model, conversation and day', async () => {
    const other = emulator.apiKeys.create('secret', { name: 'production' });
    const { ask } = callsTo(emulator);
    await ask('Hello?', {}, { 'x-emulator-conversation': 'conv_sample' });
    emulator.clock.advance(86_400_000);
    await ask('Hello?', { model: 'birch-small' }, { authorization: `Bearer ${other}` });
    await go('service/usage');
    const has = (...names: string[]) =>
      browser.until(
        names
          .map((name) => `document.querySelector('#groups')?.innerText.includes(${JSON.stringify(name)})`)
          .join(' && '),
      );
    await has('first secret key', 'production');
    for (const [by, ...names] of [
      ['model', 'atlas-small', 'birch-small'],
      ['conversation', 'conv_sample'],
      ['day', '2026-03-02', '2026-03-03'],
    ] as const) {
      await choose('#query-by', by);
      await has(...names);
    }
    await fits();
  });
});
