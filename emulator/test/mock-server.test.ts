import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callsTo, eventsOf, openStream, testEmulator } from './support.js';

/** An OpenAI-compatible server that is not part of this project. */
const server = new LLMock({ port: 0 });

beforeAll(async () => {
  server.onMessage('tower', { content: 'The tower is 300 metres tall.' });
  await server.start();
});
afterAll(() => server.stop());

const emulator = () =>
  testEmulator({ upstream: { url: `${server.url}/v1/`, key: 'mock-key', models: { 'atlas-small': 'gpt-4o' } } });

describe('an independent server as the upstream', () => {
  test('serves a completion under the requested model name, with usage', async () => {
    const emulated = emulator();
    const { status, body } = await callsTo(emulated).ask('How tall is the tower?');

    expect(status).toBe(200);
    const message = { role: 'assistant', content: 'The tower is 300 metres tall.' };
    expect(body).toMatchObject({ model: 'atlas-small', choices: [{ message, finish_reason: 'stop' }] });
    expect(body.usage.completion_tokens).toBeGreaterThan(0);
    expect(JSON.stringify(server.getRequests())).not.toContain(emulated.apiKeys.secret);
  });

  test('streams a completion with the usage at the end, and its own model name is hidden', async () => {
    const events = eventsOf(await (await openStream(emulator(), 'How tall is the tower?')).text());

    const chunks = events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data));
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(text).toBe('The tower is 300 metres tall.');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(events.at(-1)).toBe('[DONE]');
    expect(events.join('')).not.toContain('gpt-4o');
  });
});
