import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { ContextClient, GatewayClient } from '../../src/index.js';
import { addSampleConversation, createEmulator } from '../src/index.js';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const params = { model: 'atlas-small', messages: [{ role: 'user' as const, content: 'Why Parquet?' }] };

function service() {
  const emulator = createEmulator({ setup: addSampleConversation });
  onTestFinished(() => emulator.close());
  const shared = { baseURL: 'https://emulator.test', fetch: emulator.fetch };
  const gateway = new GatewayClient({ ...shared, apiKey: emulator.apiKeys.secret });
  return { emulator, gateway, context: new ContextClient({ ...shared, sessionToken: emulator.sessionToken }) };
}

// This file has its own process, in which nothing is loaded yet: fake timers do not wait for a file.
test('the first calls of a process end under fake timers', async () => {
  vi.useFakeTimers();
  const { emulator, gateway, context } = service();
  emulator.faults.add({ match: { path: '/v1/*' }, respond: { status: 429, retryAfter: 30 } });
  emulator.chat.on('Parquet', 'Finance loads it directly.');

  const all = Promise.all([
    gateway.chat.completions.create(params),
    gateway.chat.completions.create({ ...params, stream: true }).then((stream) => stream.finalCompletion()),
    context.compact('conv_sample', { level: 'deep' }),
  ]);
  await vi.runAllTimersAsync();
  vi.useRealTimers();

  const completion = { choices: [{ message: { content: 'Finance loads it directly.' } }] };
  expect(await all).toMatchObject([completion, completion, {}]);
});

test('calls that need more than a turn of the event loop end under fake timers', async () => {
  vi.useFakeTimers();
  const { emulator, gateway, context } = service();
  const reason = 'its speed '.repeat(20);
  const messages = Array.from({ length: 500 }, (_, i) => ({
    role: 'user' as const,
    content: `We decided to use Parquet for export ${i}, because of ${reason}.`,
  }));
  const { id } = emulator.conversations.create({ messages });

  const calls = messages.map((message) => gateway.chat.completions.create({ ...params, messages: [message] }));
  const all = Promise.all([context.compact(id, { level: 'deep' }), ...calls]);
  await vi.runAllTimersAsync();
  vi.useRealTimers();

  expect(await all).toHaveLength(501);
});

test('a client of several tests does not wait after fake timers for what it waited under them', async () => {
  const { emulator } = service();
  const gateway = new GatewayClient({ baseURL: 'https://emulator.test', apiKey: emulator.apiKeys.secret });
  vi.stubGlobal('fetch', emulator.fetch);
  emulator.faults.add({ respond: { status: 429, retryAfter: 60 } });
  vi.useFakeTimers();
  const under = gateway.presets.list();
  await vi.runAllTimersAsync();
  vi.useRealTimers();

  const after = gateway.withOptions({ maxRetryAfter: 0 }).presets.list(); // fails instead of waiting

  expect(await after).toEqual(await under);
});
