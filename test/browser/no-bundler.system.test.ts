import { createEmulator } from 'context-gateway-emulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// @ts-expect-error: plain JavaScript, shared with compat
import { askInPage } from '../../compat/ask-in-page.js';
import { unbundledPage } from '../../examples/apps/build-page.js';
import { isTried } from '../helpers/endurance.js';
import { browsers } from './launch.js';
import { listenWith } from './listen.js';
import { pageIn } from './pages.js';

const emulator = createEmulator();
let pages: Awaited<ReturnType<typeof listenWith>>;
let address: string;

beforeAll(async () => {
  const { url: baseURL } = await emulator.listen({ port: 0 });
  const page = await unbundledPage();
  pages = await listenWith(({ url }) => page(new URL(url).pathname));
  const query = new URLSearchParams({ baseURL, apiKey: emulator.apiKeys.publishable });
  address = `${pages.url}/?${query}`;
});
afterAll(async () => {
  pages.close();
  await emulator.close();
});

describe.each(browsers.filter(isTried))('the page without a bundler in $name', (one) => {
  const page = pageIn(one, () => address);

  test('streams a reply under its strict content security policy, and shows an error as text', async () => {
    const ask: (question: string) => Promise<{ reply: string; blocked: string[] }> = askInPage;
    expect(await page().evaluate(ask, 'The harbour opens at six. When does the harbour open?')).toEqual({
      reply: 'The harbour opens at six.',
      blocked: [],
    });
    emulator.faults.add({ respond: { status: 403, message: 'Not this key.' } });
    expect((await page().evaluate(ask, 'Why?')).reply).toContain('Not this key.');
  });
});
