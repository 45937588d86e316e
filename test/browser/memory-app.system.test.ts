import { ContextClient, GatewayClient } from 'context-gateway';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { remember } from '../../examples/apps/memory/facts.js';
import { memoryChat } from '../../examples/apps/memory/server.js';

const emulator = createEmulator({ seed: 'memory', setup: addSampleConversation });
let gateway: GatewayClient;
let context: ContextClient;
beforeAll(() => {
  const fetch = (...call: ConstructorParameters<typeof Request>) => emulator.fetch(new Request(...call));
  const service = { baseURL: 'https://service.test', fetch: fetch as typeof globalThis.fetch };
  gateway = new GatewayClient({ ...service, apiKey: emulator.apiKeys.secret });
  context = new ContextClient({ ...service, sessionToken: emulator.sessionToken });
});
beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

/** The model finds these facts in the next message with these words. */
const finds = (words: string, ...facts: object[]) => emulator.chat.on(words, { json: { facts } });
const contents = async () => (await context.memory.list()).map(({ content }) => content);

test('a fact is stored, changed by a later message, and not doubled if the model gives it another type', async () => {
  finds('in Oslo', { type: 'fact', key: 'home', content: 'The user lives in Oslo.' });
  finds('in Bergen', { type: 'preference', key: 'Home', content: 'The user lives in Bergen.' });
  finds('Thanks');

  await remember('I live in Oslo.', { gateway, context });
  await remember('I have moved: I live in Bergen now.', { gateway, context });
  const none = await remember('Thanks!', { gateway, context });

  expect(await contents()).toEqual(['The user lives in Bergen.']);
  expect(none).toEqual([]);
  expect(emulator.requests.findLast(({ path }) => path === '/v1/chat/completions')?.body).toContain('lives in Bergen');
});

test('two facts about one thing in one message are one item, whatever types the model gives them', async () => {
  const [type, key] = ['fact', 'home'];
  const facts = [
    { type, key, content: 'The user lives in Oslo.' },
    { type: 'preference', key, content: 'The user lives in Bergen.' },
  ];
  finds('in Bergen now', ...facts);

  const items = await remember('I lived in Oslo, and I live in Bergen now.', { gateway, context });

  expect(await contents()).toEqual(['The user lives in Bergen.']);
  expect(new Set(items.map(({ id }) => id)).size).toBe(1);
});

test('a turn is remembered beside its reply, and the page shows it, escaped, and has it forgotten', async () => {
  const app = memoryChat({ gateway, context });
  const post = (path: string, body?: string, origin = 'http://localhost') =>
    app.request(path, { method: 'POST', headers: { origin, 'content-type': 'text/plain' }, ...(body && { body }) });
  finds('"known"', { type: 'fact', key: 'name', content: 'The user is <b>Ada</b>.' });

  const reply = await (await post('/chat', '{"text":"My name is Ada."}')).text();
  await expect.poll(contents).toHaveLength(1);
  const page = await (await app.request('/memory')).text();
  const [item] = await context.memory.list();
  const foreign = await post(`/memory/${item?.id}/forget`, undefined, 'https://evil.test');
  const forgotten = await post(`/memory/${item?.id}/forget`);

  expect(reply).toContain('"type":"turn"');
  expect(page).toContain('The user is &lt;b&gt;Ada&lt;/b&gt;.');
  expect([foreign.status, forgotten.status]).toEqual([403, 303]);
  expect(await (await app.request('/memory')).text()).toContain('Nothing yet.');
});

test('a reply reaches the user if the model finds no facts in JSON', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  emulator.chat.on('"known"', 'I am no JSON.');
  const body = '{"text":"My harbour is Bergen."}';

  const reply = await (await memoryChat({ gateway, context }).request('/chat', { method: 'POST', body })).text();
  await expect.poll(() => log.mock.calls).toMatchObject([['not remembered:', expect.stringContaining('not JSON')]]);
  log.mockRestore();

  expect(reply).toContain('"type":"turn"');
});
