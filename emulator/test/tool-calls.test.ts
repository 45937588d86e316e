import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../src/index.js';
import { callsTo, dataDirectory, eventsOf, openStream, testEmulator } from './support.js';

const CITY = { function: { name: 'weather', arguments: { city: 'Oslo' } } };
const QUESTION = { role: 'user', content: 'What is the weather in Oslo?' };
const RESULT = { role: 'tool', tool_call_id: 'call_1', content: 'It is 7 degrees in Oslo.' };
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];

const ask = (emulator: Emulator, messages: object[], more: object = {}) =>
  callsTo(emulator).ask('', { messages, tools, ...more });

/** The tool calls of a stream, joined. */
const streamed = async (emulator: Emulator, messages: object[]) => {
  const response = await openStream(emulator, '', { messages, tools });
  const chunks = eventsOf(await response.text())
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data));
  const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  const call = {
    name: pieces.map((piece) => piece.function?.name ?? '').join(''),
    given: pieces.map((piece) => piece.function?.arguments ?? '').join(''),
    finishReason: chunks.findLast(({ choices }) => choices.length > 0).choices[0].finish_reason,
  };
  return { pieces, call, usage: chunks.at(-1).usage };
};
const STREAMED = { name: 'weather', given: '{"city":"Oslo"}', finishReason: 'tool_calls' };

describe('a scripted tool call', () => {
  test('comes whole, with an id, null content and its own finish reason', async () => {
    const emulator = testEmulator();
    emulator.chat.on('weather', { tool_calls: [CITY] });

    const { status, body } = await ask(emulator, [QUESTION]);

    expect(status).toBe(200);
    const made = { name: 'weather', arguments: '{"city":"Oslo"}' };
    const tool_calls = [{ id: expect.stringMatching(/^call_/), type: 'function', function: made }];
    expect(body.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: null, tool_calls }, finish_reason: 'tool_calls' },
    ]);
    expect(body.usage.completion_tokens).toBeGreaterThan(0);
  });

  test('is streamed in pieces that join to the same', async () => {
    const emulator = testEmulator();
    emulator.chat.on('weather', { tool_calls: [CITY] });

    const { pieces, call, usage } = await streamed(emulator, [QUESTION]);

    expect(pieces.length).toBeGreaterThan(2);
    expect(call).toEqual(STREAMED);
    expect(usage.completion_tokens).toBe((await ask(emulator, [QUESTION])).body.usage.completion_tokens);
  });

  test('is not repeated for its result: the next reply that matches follows, or the text of the result', async () => {
    const emulator = testEmulator();
    emulator.chat.on('weather', { tool_calls: [CITY] });
    const messages = [QUESTION, { role: 'assistant', content: null, tool_calls: [] }, RESULT];

    const fromResult = (await ask(emulator, messages)).body.choices[0].message.content;
    emulator.chat.clear();
    emulator.chat.on('weather', 'Seven.');
    emulator.chat.on('weather', { tool_calls: [CITY] });
    const scripted = (await ask(emulator, messages)).body.choices[0].message.content;

    expect(fromResult).toBe('It is 7 degrees in Oslo.');
    expect(scripted).toBe('Seven.');
  });

  test('can be added over HTTP', async () => {
    const emulator = testEmulator();
    await callsTo(emulator).control('POST', '/replies', { match: 'weather', reply: { tool_calls: [CITY] } });

    expect((await ask(emulator, [QUESTION])).body.choices[0].finish_reason).toBe('tool_calls');
  });

  test('and tools may depend on the body that was sent', async () => {
    const emulator = testEmulator();
    emulator.chat.on(({ sent }) => sent?.response_format !== undefined, { json: { celsius: 7 } });

    const { body } = await ask(emulator, [QUESTION], { response_format: { type: 'json_object' } });

    expect(body.choices[0].message.content).toBe('{"celsius":7}');
  });
});

test('content in parts counts and is searched by its text', async () => {
  const emulator = testEmulator();
  emulator.chat.on('What is this', 'A lighthouse.');
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

  const { body } = await ask(emulator, [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] }]);

  expect(body.choices[0].message.content).toBe('A lighthouse.');
});

test.each([
  { content: null, because: 'null' },
  { content: [{ type: 'text', text: 'Hi' }], because: 'parts' },
])('with strict, content that is $because is rejected', async ({ content }) => {
  const { status } = await ask(testEmulator({ strict: true }), [{ role: 'user', content }], { tools: undefined });

  expect(status).toBe(400);
});

describe('the tool calls of an upstream', () => {
  const directory = dataDirectory();
  const upstream = testEmulator({ seed: 'upstream' });
  upstream.chat.on('weather', { tool_calls: [CITY] });
  upstream.chat.on('secret', { tool_calls: [{ function: { name: 'say', arguments: 'svc_sk_0123456789abcdef' } }] });
  const options = { url: 'http://upstream.test/v1', key: upstream.apiKeys.secret, fetch: upstream.fetch };
  const emulator = testEmulator({ upstream: options, cassettes: { directory, mode: 'record' } });

  test('are relayed whole and streamed, and get the tools of the request', async () => {
    const whole = (await ask(emulator, [QUESTION], { seed: 7 })).body.choices[0];
    const { call } = await streamed(emulator, [QUESTION]);

    expect(whole).toMatchObject({ message: { content: null, tool_calls: [{ type: 'function' }] } });
    expect(call).toEqual(STREAMED);
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toMatchObject({ tools, seed: 7 });
  });

  test('are recorded without keys, and replayed', async () => {
    await streamed(emulator, [{ role: 'user', content: 'Tell the secret.' }]);
    await streamed(emulator, [QUESTION]);
    const replaying = testEmulator({ cassettes: { directory, mode: 'replay' } });
    const written = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'));

    expect((await ask(replaying, [QUESTION])).body.choices[0]).toMatchObject({
      message: { tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Oslo"}' } }] },
      finish_reason: 'tool_calls',
    });
    expect(written.join()).toContain('svc_sk_***');
    expect(written.join()).not.toContain('0123456789abcdef');
  });
});
