import { expect, test } from 'vitest';
import type { LogEntry } from '../src/http/log/log-entry.js';
import { repliedIn } from '../src/http/log/said.js';
import { callsTo, openStream, testEmulator } from './support.js';

test('the list of requests has the beginnings of prompts and replies, of streams and errors too', async () => {
  const emulator = testEmulator();
  const { ask, gateway, context } = callsTo(emulator);
  emulator.chat.on('weather', 'Rain,\n all day.');
  emulator.chat.on('call', { tool_calls: [{ function: { name: 'get_weather', arguments: {} } }] });
  await ask('How is the   weather?');
  await (await openStream(emulator, 'The weather, streamed?')).text();
  await ask('Please call.');
  await ask('Which model?', { model: 'no-such-model' });
  await gateway('POST', '/v1/presets/summarize/execute', { input: 'The weather of a preset.', model: 'atlas-small' });
  await context('GET', '/api/context?conversationId=none');
  await gateway('GET', '/v1/presets');

  const { requests } = (await callsTo(emulator).control('GET', '/search/requests')).body;

  const said = requests.map(({ asked, replied }: { asked?: string; replied?: string }) => [asked, replied]).reverse();
  expect(said).toEqual([
    ['How is the weather?', 'Rain, all day.'],
    ['The weather, streamed?', 'Rain, all day.'],
    ['Please call.', 'calls get_weather'],
    ['Which model?', expect.stringContaining('no-such-model')],
    ['The weather of a preset.', 'Rain, all day.'],
    [undefined, 'The conversation does not exist'],
    [undefined, undefined],
  ]);
});

test('the beginnings are short, have the text of parts, and no key, also where one is cut', async () => {
  const emulator = testEmulator();
  const { ask } = callsTo(emulator);
  const { secret } = emulator.apiKeys;
  emulator.chat.on('long', `${'word '.repeat(63)}${secret}`);
  await ask('', { messages: [{ role: 'user', content: `My key is ${secret}` }] });
  await ask(`${'x'.repeat(70_000)} long`);
  await ask('', {
    messages: [
      { role: 'user', content: 'A long one' },
      { role: 'assistant', content: 'x'.repeat(70_000) },
      { role: 'user', content: 'long, at the end' },
    ],
  });

  const { requests } = (await callsTo(emulator).control('GET', '/search/requests')).body;

  expect(requests[2].asked).toBe('My key is svc_sk_***');
  expect(requests[1].asked).toHaveLength(160);
  expect(requests[0].asked).toBe('long, at the end'); // the log has only the first 64 KB of the body
  expect(JSON.stringify(requests)).not.toContain(secret.slice(7));
});

test('an error whose JSON is malformed is in the list as it came', () => {
  const entry = { status: 502, headers: [], response: { body: '{"message":"bad \\x"}' } } as unknown as LogEntry;

  expect(repliedIn(entry)).toBe('bad \\x');
});

test('what the playground sends counts towards limits of its own', async () => {
  const emulator = testEmulator({ limits: { gateway: 2, tokens: 30 } });
  const { ask, gateway } = callsTo(emulator);
  const key = emulator.apiKeys.create('secret', { name: 'Playground' });
  const play = async () => (await ask('The key is red. What is red?', {}, { authorization: `Bearer ${key}` })).status;

  expect([await play(), await play(), await play()]).toEqual([200, 200, 429]);

  expect([(await ask('Hello?')).status, (await gateway('GET', '/v1/presets')).status]).toEqual([200, 200]);
  expect(emulator.requests[2]?.limit).toMatchObject({ name: 'gateway playground', allowed: 2 });
  const { body } = await callsTo(emulator).control('GET', '/limits');
  expect(body).toMatchObject([
    { name: 'gateway playground', limit: 2, remaining: 0, resetAt: '2026-01-15T10:01:00.000Z' },
    { name: 'tokens playground', limit: 30 },
    { name: 'gateway', remaining: 0 },
    { name: 'tokens' },
  ]);
});
