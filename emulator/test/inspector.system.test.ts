import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../test/browser/launch.js';
import { AT_LENGTH } from '../../test/helpers/endurance.js';
import { addSampleConversation, createEmulator, type Emulator } from '../src/index.js';
import { BrowserPage } from './browser-page.js';
import { onPage } from './page.js';
import { callsTo, openStream, testEmulator } from './support.js';

const hasBrowser = await hasChromium();
let browser: BrowserPage;
beforeAll(async () => {
  if (hasBrowser) browser = await BrowserPage.start(1280, 1000);
}, 60_000);
afterAll(() => browser?.close());
const { click, choose, counts, focus, give, go, press, reads, sees, submit, text, type } = onPage(() => browser);

describe('the inspector', () => {
  test('is a page for browsers, to which the address of the emulator leads, and a JSON index for others', async () => {
    const emulator = testEmulator();
    const get = (path: string, accept: string) => emulator.fetch(`http://127.0.0.1${path}`, { headers: { accept } });

    const { status, headers } = await get('/', 'text/html,*/*');
    expect([status, headers.get('location')]).toEqual([303, '/_emulator']);
    expect((await get('/_emulator', 'text/html,*/*')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect((await get('/', '*/*')).status).toBe(401);
    expect((await (await get('/_emulator', 'application/json')).json()).routes).toContain('GET /_emulator/events');
  });

  test.each(['../package.json', '..%2Fpackage.json', 'main.tsx', '%00.js', '__proto__'])(
    'does not serve %s',
    async (file) => {
      expect((await testEmulator().fetch(`http://127.0.0.1/_emulator/inspector/${file}`)).status).toBe(404);
    },
  );

  test('allows no foreign resources and no inline script', async () => {
    const response = await testEmulator().fetch('http://127.0.0.1/_emulator/inspector/index.html');
    const policy = response.headers.get('content-security-policy');

    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect((await response.text()).match(/(?:src|href)="(?!\/_emulator\/|#|data:)/g)).toBeNull();
  });
});

const VIEWS = [
  'conversations',
  'conversation/conv_sample',
  'conversation/nothing',
  'new',
  'playground',
  'playground/conv_sample',
  'requests',
  'requests/LAST',
  'faults',
  'answers',
  'service',
  'service/presets',
  'service/integrations',
  'service/files',
  'service/users',
  'service/keys',
  'service/models',
  'service/usage',
  'service/clock',
];

describe.runIf(hasBrowser)('the inspector in a browser', () => {
  let emulator: Emulator;
  let url: string;

  beforeAll(async () => {
    emulator = createEmulator({ seed: 'inspector', now: '2026-03-02T09:30:00Z', setup: addSampleConversation });
    url = (await emulator.listen()).url;
    await browser.open(`${url}/_emulator`);
  });
  afterAll(() => emulator?.close());

  test('shows a conversation with gauges, pins, excluded messages, and both versions of its summary', async () => {
    await go('conversation/conv_sample');
    await reads('never compacted');
    await click('[aria-label="Pin msg_sample_5"]');
    await sees('[aria-label="Unpin msg_sample_5"]');
    await focus('#compact-light');
    await click('#compact-light');
    await sees('#version-from');
    expect(await browser.evaluate('document.activeElement.id')).toBe('compact-light');
    await focus('[aria-label="Unpin msg_sample_5"]');
    await click('[aria-label="Unpin msg_sample_5"]');
    await sees('[aria-label="Pin msg_sample_5"]');
    expect(await browser.evaluate('document.activeElement.ariaLabel')).toBe('Pin msg_sample_5');
    await click('[aria-label="Pin msg_sample_5"]');
    await sees('[aria-label="Unpin msg_sample_5"]');
    await click('[aria-label="Exclude msg_sample_9"]');
    await sees('.message.excluded [aria-label="Include msg_sample_9"]');
    await click('#compact-deep');
    await reads('What the deep compaction did');
    expect(await text()).toMatch(/\d+ statements? could be recognised/);
    expect(await text()).toMatch(/\d+ of 11 messages left nothing in the context/);

    const { context } = (await callsTo(emulator).context('GET', '/api/context?conversationId=conv_sample')).body;
    await reads(`${context.metadata.compressedTokens}\nin the context`);
    expect(context.pinnedMemory).toMatchObject([{ messageId: 'msg_sample_5', category: 'requirement' }]);
    expect(await text()).toContain(context.rollingSummary.decisions[0].decision);
  });

  test('shows what was added and removed between two versions', async () => {
    const marks = (kind: string) => `document.querySelectorAll('.entries .${kind}').length`;
    await choose('#version-from', '0');

    await browser.until(`${marks('new')} > 0 && ${marks('gone')} === 0`);
    expect(await browser.evaluate("document.querySelector('.entries .new .unseen').textContent")).toBe('added: ');

    await choose('#version-from', '2');
    await choose('#version-to', '1');
    await browser.until(`${marks('gone')} + ${marks('new')} > 0`);
    await choose('#version-from', '');
    await browser.until(`${marks('gone')} + ${marks('new')} === 0`);
  });

  test('shows at once what a program does: a message, a pin, a deletion', async () => {
    emulator.conversations.create({ id: 'live', messages: [{ id: 'first', role: 'user', content: 'Hello?' }] });
    await go('conversation/live');
    await reads('1 message, never compacted');

    emulator.conversations.append('live', [{ id: 'second', role: 'assistant', content: 'Said by a program.' }]);
    await reads('Said by a program.');
    await callsTo(emulator).context('POST', '/api/context/pin/live', { messageId: 'second' });
    await sees('#message-second .badge.pinned');
    emulator.conversations.delete('live');
    await reads('There is no such conversation');
  });

  test('closes its connection while it is hidden, and catches up when it is visible', async () => {
    const turn = (state: string) =>
      browser.evaluate(`(() => {
        Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      })()`);
    emulator.conversations.create({ id: 'out-of-sight', messages: [{ role: 'user', content: 'Seen.' }] });
    await go('conversations');
    await reads('out-of-sight'); // all earlier events have arrived
    await go('conversation/out-of-sight');
    await reads('Seen.');

    await turn('hidden');
    const pause = () => new Promise((resolve) => setTimeout(resolve, 500));
    await pause(); // events already on their way have arrived
    emulator.conversations.append('out-of-sight', [{ role: 'user', content: 'Missed at first.' }]);
    await pause(); // longer than a push takes
    const seen = await text();
    await turn('visible'); // before the assertion, so that a failure leaves the page visible to later tests
    expect(seen).not.toContain('Missed at first.');

    await reads('Missed at first.');
    emulator.conversations.append('out-of-sight', [{ role: 'user', content: 'Seen at once.' }]);
    await reads('Seen at once.');
    emulator.conversations.delete('out-of-sight');
  });

  test('keeps the scroll position of a list when something is added', async () => {
    const messages = Array.from({ length: 80 }, (_, i) => ({ role: 'user' as const, content: `message ${i}` }));
    emulator.conversations.create({ id: 'long', messages });
    await go('conversation/long');
    await sees('.messages .message:nth-child(80)');
    await browser.evaluate("document.querySelector('.messages').scrollTop = 900");

    emulator.conversations.append('long', [{ role: 'user', content: 'one more' }]);

    await sees('.messages .message:nth-child(81)');
    expect(await browser.evaluate("document.querySelector('.messages').scrollTop")).toBe(900);
    emulator.conversations.delete('long');
  });

  test('searches conversations, and shows the newest first', async () => {
    for (let i = 1; i <= 45; i += 1) {
      emulator.conversations.create({ id: `many-${i}`, messages: [{ role: 'user', content: `About thing ${i}.` }] });
    }
    await go('conversations');
    await reads('46 conversations');
    await counts('.conversation-list li', 20);
    expect((await text()).indexOf('About thing 45.')).toBeLessThan((await text()).indexOf('About thing 44.'));

    await click('#more');
    await counts('.conversation-list li', 46);
    await type('#search', 'thing 17');
    await counts('.conversation-list li', 1);
    await type('#search', 'not there');
    await reads('No conversation matches “not there”.');
    await type('#search', '');
    for (let i = 1; i <= 45; i += 1) emulator.conversations.delete(`many-${i}`);
    await reads('1 conversation');
  });

  test('adds, edits and deletes memory as JSON, and escapes HTML', async () => {
    await go('service/memory');
    await click('#addMemory summary');
    const item = { type: 'preference', key: 'city', content: '<b>Oslo</b>' };
    await submit('#addMemory-send', { '#addMemory-json': JSON.stringify(item) });
    await reads('<b>Oslo</b>');

    await click('[aria-label="Open city"]');
    const change = { content: 'Bergen', isActive: false };
    await submit('.open-row [type=submit]', { '.open-row textarea': JSON.stringify(change) });
    await browser.until("document.querySelector('#memory').innerText.includes('Bergen')");
    expect(emulator.memory.all()[0]?.item).toMatchObject({ type: 'preference', content: 'Bergen', isActive: false });

    await click('[aria-label="Delete city"]');
    await reads('Really delete');
    expect(emulator.memory.all()).toHaveLength(1);
    await click('#memory .danger');
    await reads('None yet.');
    expect(emulator.memory.all()).toEqual([]);
  });

  test('says which field of JSON the service refused, beside the form', async () => {
    await go('service/models');
    await sees('#createModel');
    await go('service/memory');
    await click('#addMemory summary');
    const alert = "document.querySelector('#addMemory [role=alert]')?.innerText";

    await submit('#addMemory-send', { '#addMemory-json': '{' });
    await browser.until(`${alert}?.startsWith('This is not JSON')`);
    await submit('#addMemory-send', { '#addMemory-json': '{ "type": "fact", "key": "x" }' });
    await browser.until(`${alert} === 'Content is required'`);
  });

  test('changes a preset as JSON, and keeps it if the change is refused', async () => {
    emulator.presets.create({ id: 'greet', name: 'Greet', template: 'Say hello.' });
    await go('service/presets');
    await click('[aria-label="Open Greet"]');
    await submit('.open-row [type=submit]', { '.open-row textarea': '{ "id": "greet", "name": "Greet" }' });
    await sees('.open-row [role=alert]');
    expect(emulator.presets.get('greet')).toMatchObject({ template: 'Say hello.' });

    const changed = { id: 'greet', name: 'Greet', template: 'Say goodbye.' };
    await submit('.open-row [type=submit]', { '.open-row textarea': JSON.stringify(changed) });
    await browser.until("document.querySelector('#presets').innerText.includes('Say goodbye.')");
    expect(emulator.presets.get('greet')).toMatchObject({ template: 'Say goodbye.' });
    emulator.presets.delete('greet');
  });

  test('shows usage by day and key, and rate limits', async () => {
    await callsTo(emulator).ask('x', { model: 'birch-small' });

    await go('service/usage');
    await browser.until("/first secret key/.test(document.querySelector('#groups')?.innerText)");
    await choose('#query-by', 'day');
    await browser.until("/2026-03-02/.test(document.querySelector('#groups')?.innerText)");
    await browser.until("/gateway\\s+1,000\\s+999/.test(document.querySelector('#limits')?.innerText)");
  });

  test.each([
    ['memory', 'service/memory'],
    ['people', 'service/users'],
    ['system', 'service/clock'],
    ['request', 'requests'],
    ['Faults', 'faults'],
  ])('the old or mistyped address #/%s leads to #/%s', async (old, now) => {
    await go(old);

    await browser.until(`location.hash === '#/${now}'`);
    await sees('main h1');
  });

  test('opens with the requests, each with its prompt, reply, model and tokens, until the app has conversations', async () => {
    await callsTo(emulator).ask('Which birds can swim?', { model: 'birch-small' });

    await browser.open('about:blank');
    await browser.open(`${url}/_emulator`);
    await browser.until("location.hash === '#/requests'");
    const row = "document.querySelector('.log a').innerText.replace(/\\s+/g, ' ')";
    await browser.until(
      `/^200 POST \\/v1\\/chat\\/completions Which birds can swim\\? \\S.* birch-small · \\d+ \\+ \\d+ tokens/.test(${row})`,
    );

    emulator.conversations.create({ id: 'own' });
    await browser.open('about:blank');
    await browser.open(`${url}/_emulator`);
    await browser.until("location.hash === '#/conversations'");
    emulator.conversations.delete('own');
  });

  test('shows requests as they arrive, and no key', async () => {
    await go('requests');
    await callsTo(emulator).gateway('GET', '/v1/presets?limit=7');
    await callsTo(emulator).context('GET', '/api/memory');
    await browser.until("document.querySelector('.log a')?.innerText.includes('/api/memory')");

    await type('#filter', 'limit=7');
    await counts('.log li', 1);
    await click('.log a');
    await reads('Response body');
    const html = await browser.evaluate<string>('document.documentElement.innerHTML');
    expect(html).toContain('Bearer svc_sk_***');
    expect(html).toContain('summarize');
    for (const secret of [emulator.apiKeys.secret, emulator.sessionToken]) expect(html).not.toContain(secret);
    await submit('#close-detail', { '#filter': '' });
  });

  test('holds back new requests while one is open, and shows their number', async () => {
    await click('.log a');
    await sees('.detail');
    const count = () => browser.evaluate<number>("document.querySelectorAll('.log li').length");
    const before = await count();

    await callsTo(emulator).gateway('GET', '/v1/presets?limit=9');

    await reads('1 new request');
    expect(await count()).toBe(before);
    await click('#release');
    await counts('.log li', before + 1);
    await callsTo(emulator).gateway('GET', '/v1/presets?limit=10');
    await reads('1 new request');
    await click('#close-detail');
    await counts('.log li', before + 2);
  });

  test('shows the calls of a turn and their results beside the texts, the newest turn first and long ones folded', async () => {
    const result = 'A gale from the north. '.repeat(100);
    emulator.chat.on('wind', [
      { tool_calls: [{ function: { name: 'wind', arguments: { city: 'Oslo' } } }] },
      'Stay inside.',
    ]);
    const messages: object[] = [
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Hello!' },
    ];
    messages.push({ role: 'user', content: 'How is the wind?' });
    const { ask } = callsTo(emulator);
    const { message } = (await ask('', { messages })).body.choices[0];
    await ask('', {
      messages: [...messages, message, { role: 'tool', tool_call_id: message.tool_calls[0].id, content: result }],
    });
    const shown = () => browser.evaluate<string>("document.querySelector('#messages').innerText");

    await go(`requests/${emulator.requests.at(-1)?.requestId}`);
    await sees('#messages');
    const folded = await shown();
    await press('Show all 2,300 characters', '#messages');
    await press('Show 2 earlier messages', '#messages');

    expect(folded).toMatch(/^6 messages, 1 tool call\n/);
    expect(folded).toMatch(
      /user 3 · \d+ tokens\s+How is the wind\?\s+assistant 4 · \d+ tokens\s+calls wind\s+\{"city":"Oslo"\}\s+result of wind 5 · \d+ tokens\s+A gale/,
    );
    expect(folded).toMatch(/…\s+Show all 2,300 characters\s+assistant 6\s+Stay inside\.$/);
    expect(folded).not.toContain('Hello!');
    expect(await shown()).toContain('Hello!');
    expect(await shown()).toContain(result.trim());
    emulator.chat.clear();
    await go('requests');
  });

  test('shows an error next to the field that caused it', async () => {
    await go('new');
    await type('#transcript', '{"messages": [{"role": "wizard", "content": "x"}]}');
    await browser.until("document.querySelector('[role=alert]')?.innerText.includes('wizard')");
    await submit('#create', { '#transcript': 'User: again', '#conversation-id': 'conv_sample' });

    await browser.until("document.querySelector('.card [role=alert]')?.innerText.includes('already exists')");
  });

  test('switches faults on and off with the keyboard, and shows a banner on other views', async () => {
    const status = async () => (await callsTo(emulator).gateway('GET', '/v1/presets')).status;
    await go('faults');
    await focus('[id="fault-Gateway down"]');

    await browser.press('Space');
    await sees(':focus[aria-checked=true]');
    expect(await status()).toBe(503);
    await go('service');
    await reads('1 fault active: Gateway down');
    await go('faults');
    await focus('[id="fault-Gateway down"]');
    await browser.press('Space');
    await sees(':focus[aria-checked=false]');
    expect(await status()).toBe(200);
  });

  test('can be reached with the Tab key, skip link first', async () => {
    await browser.open('about:blank');
    await browser.open(`${url}/_emulator#/service/keys`);
    await sees('#createKey summary');

    const visited: string[] = [];
    for (let i = 0; i < 40; i += 1) {
      await browser.press('Tab');
      visited.push(
        await browser.evaluate<string>(
          'document.activeElement.id || document.activeElement.className || document.activeElement.parentElement.id',
        ),
      );
    }

    expect(visited[0]).toBe('skip');
    expect(visited).toEqual(expect.arrayContaining(['nav-requests', 'setPlan', 'createKey']));
  });

  test('creates a key, shows it once, and deletes it after a confirmation', async () => {
    await click('#createKey summary');
    const body = { kind: 'secret', name: 'staging' };
    await submit('#createKey-send', { '#createKey-json': JSON.stringify(body) });
    await sees('#new-secret');
    const key = await browser.evaluate<string>("document.querySelector('#new-secret').textContent");
    expect(emulator.apiKeys.get(key)).toMatchObject({ name: 'staging', kind: 'secret' });

    await go('service/memory');
    await go('service/keys');
    await sees('[aria-label="Delete staging"]');
    expect(await text()).not.toContain(key);
    await click('[aria-label="Delete staging"]');
    await sees('#keys .danger');
    expect(emulator.apiKeys.get(key)).toBeDefined();
    await click('#keys .danger');
    await counts('[aria-label="Delete staging"]', 0);
    expect(emulator.apiKeys.get(key)).toBeUndefined();
  });

  test('advances the clock, loads a snapshot, and resets', async () => {
    const { memory } = emulator;
    await go('service/clock');
    await press('+ 1 day');
    await reads('2026-03-03 09:30:00');
    memory.create({ type: 'fact', key: 'k', content: 'c' });
    const snapshot = JSON.stringify(emulator.state());
    memory.create({ type: 'fact', key: 'later', content: 'c' });
    await give('#state-load', 'kept.json', snapshot);
    await reads('Loaded kept.json.');
    expect(memory.all().map(({ item }) => item.key)).toEqual(['k']);

    await click('#reset summary');
    await click('#reset-send');

    await sees('#reset-done');
    await go('service/memory');
    await reads('None yet.');
    expect(memory.all()).toEqual([]);
  });

  test('stops a stream, which aborts its request', async () => {
    const slow = createEmulator({ seed: 'slow' });
    const respond = { type: 'cutStream', afterEvents: 3, how: 'stall' } as const;
    slow.faults.add({ match: { path: '/v1/chat/completions' }, respond });
    const { url: address } = await slow.listen();
    await browser.open(`${address}/_emulator#/playground`);
    await submit('#send', { '#question': 'The harbour opens at six in the morning. When does the harbour open?' });
    await browser.until("document.querySelector('#answer')?.innerText.length > 3");

    await click('#stop');

    await reads('stopped');
    await sees('#send');
    await expect.poll(() => slow.requests.at(-1)?.outcome).toBe('aborted');
    const stored = await browser.evaluate<string>("localStorage.getItem('context-gateway-emulator.playground-key')");
    expect(await browser.evaluate<string>('document.documentElement.innerHTML')).not.toContain(stored);
    await browser.open('about:blank');
    await slow.close();
  });

  test('says when the emulator does not respond, and recovers when it is back', async () => {
    const first = createEmulator({ seed: 'gone' });
    const { url: address, port } = await first.listen();
    await browser.open(`${address}/_emulator#/conversations`);
    await reads('No conversation yet');

    await first.close();
    await reads('The emulator is not responding.');
    const second = createEmulator({ seed: 'gone', setup: addSampleConversation });
    await second.listen({ port });

    await reads('conv_sample');
    await counts('.banner.gone', 0);
    await browser.open('about:blank');
    await second.close();
  });

  test('sent no request elsewhere, and logged no error but those the tests caused', () => {
    const origins = new Set(browser.requested.map((address) => new URL(address).hostname));
    const complaints = browser.complaints.filter((complaint) => !/net::ERR_|400|404/.test(complaint));

    expect([...origins].filter((origin) => !['', 'blank'].includes(origin))).toEqual(['127.0.0.1']);
    expect(complaints).toEqual([]);
  });
});

const WIDTHS = [390, 768, 1280, 1920];
const LOOKS: readonly (readonly [number, 'light' | 'dark'])[] = [
  [390, 'dark'],
  [1280, 'light'],
];

describe.runIf(hasBrowser)('every view', () => {
  let emulator: Emulator;
  let url: string;

  beforeAll(async () => {
    emulator = createEmulator({ seed: 'views', now: '2026-03-02T09:30:00Z', setup: addSampleConversation });
    const { ask, gateway, context } = callsTo(emulator);
    await context('POST', '/api/context/pin/conv_sample', { messageId: 'msg_sample_5' });
    await context('PATCH', '/api/context/exclude/conv_sample/msg_sample_9', { exclude: true });
    await emulator.compact('conv_sample', 'light');
    await emulator.compact('conv_sample', 'aggressive');
    emulator.memory.create({ type: 'fact', key: 'city', content: 'Oslo'.repeat(40) });
    emulator.faults.add({ match: { path: '/none' }, respond: { status: 503 } });
    await ask('Hello?');
    await gateway('GET', '/v1/nothing');
    const called = {
      name: 'a_tool_of_a_very_long_name'.repeat(2),
      arguments: JSON.stringify({ city: 'Oslo'.repeat(200) }),
    };
    const messages = [
      { role: 'user', content: 'Hello?' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: called }] },
      { role: 'tool', tool_call_id: 'a', content: 'long'.repeat(200) },
    ];
    await (await openStream(emulator, '', { messages })).text();
    url = (await emulator.listen()).url;
  });
  afterAll(() => emulator?.close());

  const open = async (view: string): Promise<void> => {
    await browser.open('about:blank');
    await browser.open(`${url}/_emulator#/${view.replace('LAST', emulator.requests.at(-1)?.requestId ?? '')}`);
    await browser.until(
      "document.querySelector('.connection.live') && document.querySelector('main h1') && !document.body.innerText.includes('Loading…')",
    );
  };

  test.runIf(AT_LENGTH).each(VIEWS)('%s fits every width, from a phone to a large screen', async (view) => {
    for (const width of WIDTHS) {
      await browser.resize(width, 900);
      await open(view);
      expect(await browser.tooWide(), `${view} at ${width}`).toEqual([]);
    }
  });

  test.runIf(AT_LENGTH).each(VIEWS.flatMap((view) => LOOKS.map(([width, scheme]) => ({ view, width, scheme }))))(
    '$view is accessible at $width px, $scheme',
    async ({ view, width, scheme }) => {
      await browser.resize(width, 900);
      await browser.scheme(scheme);
      await open(view);
      await browser.evaluate(`${axe.source}; undefined`);

      const violations = await browser.evaluate<string[]>(
        `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary).join(' | ')))`,
      );

      expect(violations).toEqual([]);
    },
  );

  test('at 390 px the menu is folded, has entries of 44 px, and closes after a choice', async () => {
    await browser.resize(390, 844);
    await open('conversations');
    expect(await browser.evaluate("document.querySelector('#nav-faults').checkVisibility()")).toBe(false);

    await click('.menu-button');
    await browser.until("document.querySelector('#nav-faults').checkVisibility()");
    await browser.until("document.querySelector('#nav-faults').getBoundingClientRect().height >= 44");
    await click('#nav-faults');

    await browser.until("!document.querySelector('#nav-faults').checkVisibility() && location.hash === '#/faults'");
    for (const selector of ['.menu-button', '#nav-faults'])
      await browser.evaluate(`document.querySelector('${selector}').click()`);
    await browser.until("!document.querySelector('#nav-faults').checkVisibility()");
  });
});
