import { GatewayClient } from 'context-gateway';
import { createEmulator } from 'context-gateway-emulator';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { majors } from '../ai-sdk/majors.js';
import { isTried } from '../helpers/endurance.js';
import type { Seen } from './ai-sdk-page.js';
import { browsers } from './launch.js';
import { listenWith } from './listen.js';
import { bundled, pageIn } from './pages.js';

const emulator = createEmulator({ seed: 'ai-sdk-page' });
let gateway: GatewayClient;
let bundle: string;
let pages: Awaited<ReturnType<typeof listenWith>>;

beforeAll(async () => {
  const { url: baseURL } = await emulator.listen({ port: 0 });
  gateway = new GatewayClient({ baseURL, apiKey: emulator.apiKeys.secret });
  bundle = await bundled('ai-sdk-page');
  pages = await listenWith(answer);
});
beforeEach(() => emulator.reset());
afterAll(async () => {
  pages.close();
  await gateway.close();
  await emulator.close();
});

/** The server as in the guide. The query may request a fault of the emulator. */
async function answer(request: Request): Promise<Response> {
  const url = new URL(request.url);
  if (url.pathname === '/app.js') return new Response(bundle, { headers: { 'content-type': 'text/javascript' } });
  const one = majors.find(({ name }) => url.pathname === `/chat/${name.replace('ai ', '')}`);
  if (one === undefined) {
    const page = '<!doctype html><title>chat</title><script type="module" src="/app.js"></script>';
    return new Response(page, { headers: { 'content-type': 'text/html' } });
  }
  const { ai, createProvider } = one;
  const { messages } = (await request.json()) as { messages: Parameters<typeof ai.convertToModelMessages>[0] };
  const fault = url.searchParams.get('fault');
  const result = ai.streamText({
    model: createProvider(gateway)('atlas-small'),
    messages: await ai.convertToModelMessages(messages),
    abortSignal: request.signal,
    headers: fault === null ? {} : { 'x-emulator-fault': fault },
    maxRetries: 0,
    onError: () => {},
  });
  return result.toUIMessageStreamResponse();
}

describe.each(browsers.filter(isTried))('$name', (one) => {
  const page = pageIn(one, () => pages.url);

  describe.each(majors.map(({ name }) => name))('%s', (name) => {
    type Arguments = [version: string, api: string, questions: string[], stopAt?: number];
    const chat = (questions: string[], { fault = '', stopAt }: { fault?: string; stopAt?: number } = {}) => {
      const version = name.replace('ai ', '');
      const api = `/chat/${version}${fault && `?fault=${fault}`}`;
      const call = (args: Arguments): Promise<Seen> =>
        (globalThis as unknown as { chat: (...args: Arguments) => Promise<Seen> }).chat(...args);
      return page().evaluate(call, [version, api, questions, ...(stopAt === undefined ? [] : [stopAt])] as Arguments);
    };

    test('a chat of two turns streams its replies', async () => {
      const seen = await chat(['The key is red. What is red?', 'And what did I tell you of the key?']);

      expect(seen.error).toBeUndefined();
      expect(seen.texts).toHaveLength(4);
      expect(seen.texts[1]).toBe('The key is red.');
      expect(seen.texts[3]).toContain('key');
      expect(seen.statuses).toEqual(['submitted', 'streaming', 'ready', 'submitted', 'streaming', 'ready']);
      expect(seen.updates).toBeGreaterThan(6);
    });

    test('an error inside the stream is shown, and the text before it stays', async () => {
      const seen = await chat(['The key is red. What is red?'], { fault: 'error=3' });

      expect(seen.texts[1]).toBe('The key');
      expect(seen.error).toBe('An error occurred.');
      expect(seen.statuses.at(-1)).toBe('error');
    });

    test('stopping ends the request to the service', async () => {
      const seen = await chat(['The key is red. What is red?'], { fault: 'cut=3:stall', stopAt: 3 });

      expect(seen.statuses.at(-1)).toBe('ready');
      expect(seen.texts[1]).toMatch(/^The/);
      await vi.waitFor(() => expect(emulator.requests.at(-1)?.outcome).toBe('aborted'), { timeout: 30_000 });
    });
  });
});
