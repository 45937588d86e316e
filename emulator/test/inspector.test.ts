import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addSampleConversation, createEmulator, type Emulator } from '../src/index.js';
import { Browser, findChromium } from './chromium.js';
import { callsTo, standingEmulator } from './support.js';

const path = await findChromium();
if (path === undefined && process.env.CI === 'true') throw new Error('no browser to test the inspector with');
if (path === undefined) console.warn('SKIPPED: the inspector is not tested, there is no chromium');

describe('the inspector', () => {
  test('is a page for browsers, and an index for everything else', async () => {
    const emulator = standingEmulator();
    const get = (accept: string) => emulator.fetch('http://127.0.0.1/_emulator', { headers: { accept } });

    expect((await get('text/html,*/*')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect((await (await get('application/json')).json()).routes).toContain('GET /_emulator/overview');
  });

  test.each(['../package.json', '..%2Fpackage.json', 'index.ts', 'nothing.js', '%00.js'])(
    'does not serve %s',
    async (file) => {
      expect((await standingEmulator().fetch(`http://127.0.0.1/_emulator/inspector/${file}`)).status).toBe(404);
    },
  );

  test('allows nothing from elsewhere', async () => {
    const response = await standingEmulator().fetch('http://127.0.0.1/_emulator/inspector/index.html');

    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect((await response.text()).match(/(?:src|href)="(?!\/_emulator\/|#|data:)/g)).toBeNull();
  });
});

describe.skipIf(path === undefined)('the inspector in a browser', () => {
  const started: { browser?: Browser; emulator?: Emulator; url: string } = { url: '' };
  const page = (): Browser => {
    if (started.browser === undefined) throw new Error('the browser did not start');
    return started.browser;
  };
  const emulator = (): Emulator => {
    if (started.emulator === undefined) throw new Error('the emulator did not start');
    return started.emulator;
  };
  const text = () => page().evaluate<string>('document.querySelector("#main").innerText');
  const go = async (view: string) => {
    await page().evaluate(`location.hash = '#/${view}'`);
    await page().until(`document.querySelector('#nav a[aria-current]')?.hash === '#/${view}'`);
  };
  const click = (selector: string) => page().evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);

  beforeAll(async () => {
    started.emulator = createEmulator({ seed: 'inspector', now: '2026-03-02T09:30:00Z', setup: addSampleConversation });
    started.url = (await started.emulator.listen()).url;
    started.browser = await Browser.start(path ?? '', { width: 1280, height: 1000 });
    await callsTo(emulator()).context('POST', '/api/context/pin/conv_sample', {
      messageId: 'msg_sample_5',
      category: 'requirement',
    });
  }, 60_000);
  afterAll(async () => {
    await started.browser?.close();
    await started.emulator?.close();
  });

  test('shows a conversation before and after compaction, with gauges, pins, excluded messages and both versions', async () => {
    await page().open(`${started.url}/_emulator`);
    await page().until("document.querySelectorAll('.message').length === 12");
    expect(await text()).toContain('100 %');
    expect(await text()).toContain('pinned · requirement');
    await keep('before.png');

    await click('#compact-light');
    await page().until("document.querySelector('.versions')");
    await keep('after.png', 1340);
    await callsTo(emulator()).context('PATCH', '/api/context/exclude/conv_sample/msg_sample_9', { exclude: true });
    await click('#compact-deep');
    await page().until("document.querySelector('.message.excluded') && document.querySelector('.version .gone')");

    const { context } = (await callsTo(emulator()).context('GET', '/api/context?conversationId=conv_sample')).body;
    const shown = await text();
    expect(shown).toContain(context.rollingSummary.decisions[0].decision);
    expect(shown).toContain(`${context.metadata.compressedTokens}`);
    expect(shown).toContain(`${Math.round(context.metadata.preservationRatio * 100)} %`);
    await keep('versions.png', 1400);
  });

  test('tells what was added and removed between any two versions', async () => {
    await page().evaluate(
      "(() => { const s = document.querySelector('#version-from'); s.value = '0'; s.dispatchEvent(new Event('change')); })()",
    );

    await page().until("document.querySelector('.version .new') && !document.querySelector('.version .gone')");
    expect(await page().evaluate("document.querySelector('.version .new .unseen').textContent")).toBe('added: ');
  });

  test('shows memory, usage by model and rate limits', async () => {
    const { context, gateway } = callsTo(emulator());
    await context('POST', '/api/memory', { type: 'fact', key: 'city', content: '<b>Oslo</b>' });
    await gateway('POST', '/v1/chat/completions', { model: 'birch-small', messages: [{ role: 'user', content: 'x' }] });

    await go('memory');
    await page().until("document.querySelector('#main').innerText.includes('<b>Oslo</b>')");
    await go('usage');
    await page().until('document.querySelector(\'.chart .bar[aria-label^="birch-small: "]\')');
    expect(await text()).toMatch(/gateway[\s\S]*999 of 1,000 left/);
  });

  test('follows requests as they come in, and shows no key', async () => {
    await go('requests');
    await callsTo(emulator()).gateway('GET', '/v1/presets?limit=7');

    await page().until("document.querySelector('.log summary')?.innerText.includes('/v1/presets?limit=7')");
    await page().evaluate("document.querySelectorAll('.log details').forEach((row) => { row.open = true; })");
    const html = await page().evaluate<string>('document.documentElement.innerHTML');
    expect(html).toContain('Bearer svc_sk_***');
    for (const secret of [emulator().apiKeys.secret, emulator().sessionToken]) expect(html).not.toContain(secret);
  });

  test('switches faults on and off by the keyboard', async () => {
    await go('faults');
    await page().until("document.getElementById('fault-Gateway down')");
    await page().evaluate("document.getElementById('fault-Gateway down').focus()");
    const status = async () => (await callsTo(emulator()).gateway('GET', '/v1/presets')).status;

    await page().press(' ', 'Space', ' ');
    await page().until(
      "document.activeElement.id === 'fault-Gateway down' && document.activeElement.getAttribute('aria-checked') === 'true'",
    );
    expect(await status()).toBe(503);
    await page().press(' ', 'Space', ' ');
    await page().until("document.activeElement.getAttribute('aria-checked') === 'false'");
    expect(await status()).toBe(200);
  });

  test('is reached by the tab key, with the skip link first', async () => {
    // From elsewhere: within the page only the part after # would change, and the focus would stay.
    await page().open('about:blank');
    await page().open(`${started.url}/_emulator#/keys`);
    await page().until("document.querySelector('#key-create')");

    const visited: string[] = [];
    for (let i = 0; i < 16; i += 1) {
      await page().press('Tab');
      visited.push(await page().evaluate<string>('document.activeElement.id || document.activeElement.className'));
    }

    expect(visited[0]).toBe('skip');
    expect(visited).toEqual(expect.arrayContaining(['nav-#/requests', 'plan', 'key-name', 'key-create']));
  });

  test('creates a key, shows it once, and deletes it after asking twice', async () => {
    await page().evaluate("document.querySelector('#key-name').value = 'staging'");
    await click('#key-create');
    await page().until("document.querySelector('#new-key')");
    const key = await page().evaluate<string>("document.querySelector('#new-key').textContent");
    expect(emulator().apiKeys.get(key)).toMatchObject({ name: 'staging', kind: 'secret' });

    await go('memory');
    await go('keys');
    await page().until("document.querySelectorAll('tbody tr').length === 3");
    expect(await text()).not.toContain(key);
    await click('tbody tr:last-child button');
    await page().until("document.querySelector('.danger')");
    expect(emulator().apiKeys.get(key)).toBeDefined();
    await click('.danger');
    await page().until("document.querySelectorAll('tbody tr').length === 2");
    expect(emulator().apiKeys.get(key)).toBeUndefined();
  });

  test('asked for nothing elsewhere, and complained of nothing', () => {
    const addresses = new Set(page().requested.map((address) => new URL(address).origin));

    addresses.delete('null');
    expect([...addresses]).toEqual([started.url]);
    expect(page().complaints).toEqual([]);
  });

  /** The README's pictures are what this test sees: `SCREENSHOTS=1 npx vitest run emulator/test/inspector.test.ts`. */
  async function keep(name: string, height = 1000): Promise<void> {
    if (process.env.SCREENSHOTS === undefined) return;
    await page().resize(1280, height);
    const directory = new URL('../docs/', import.meta.url);
    mkdirSync(directory, { recursive: true });
    writeFileSync(new URL(name, directory), await page().screenshot());
    await page().resize(1280, 1000);
  }
});
