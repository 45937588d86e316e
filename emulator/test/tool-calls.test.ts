import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../src/index.js';
import { callsTo, dataDirectory, eventsOf, openStream, testEmulator } from './support.js';

const CITY = { function: { name: 'weather', arguments: { city: 'Oslo' } } };
const QUESTION = { role: 'user', content: 'What is the weather in Oslo?' };
const RESULT = { role: 'tool', tool_call_id: 'call_1', content: 'It is 7 degrees in Oslo.' };
const calling = (name: string, id = 'call_1', given = '{}') => ({
  ...{ role: 'assistant', content: null },
  tool_calls: [{ id, type: 'function', function: { name, arguments: given } }],
});
const CALL = calling('weather', 'call_1', '{"city":"Oslo"}');
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
    const messages = [QUESTION, CALL, RESULT];

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

describe('a list of replies', () => {
  const STEPS = [
    { content: 'I look.', tool_calls: [CITY] },
    { tool_calls: [{ function: { name: 'tide' } }, { function: { name: 'clock' } }] },
    'Take an umbrella.',
  ];
  const results = (...ids: string[]) =>
    ids.map((id) => ({ role: 'tool', tool_call_id: id, content: `Result of ${id}.` }));

  test('plays the steps of a turn, from the beginning for each message of the user, also when a request is repeated', async () => {
    const emulator = testEmulator();
    emulator.chat.on('weather', STEPS);
    const messages: object[] = [];
    const play = async () => {
      const seen: unknown[] = [];
      messages.push(QUESTION);
      for (let step = 0; step < 3; step += 1) {
        const [, { body }] = [await ask(emulator, messages), await ask(emulator, messages)];
        const { message, finish_reason } = body.choices[0];
        const calls = message.tool_calls ?? [];
        seen.push([finish_reason, message.content, ...calls.map((call: { function: object }) => call.function)]);
        messages.push(message, ...results(...calls.map(({ id }: { id: string }) => id)));
      }
      return seen;
    };

    const turn = [
      ['tool_calls', 'I look.', { name: 'weather', arguments: '{"city":"Oslo"}' }],
      ['tool_calls', null, { name: 'tide', arguments: '{}' }, { name: 'clock', arguments: '{}' }],
      ['stop', 'Take an umbrella.'],
    ];
    expect(await play()).toEqual(turn);
    expect(await play()).toEqual(turn);
  });

  test('that has no reply for a step leaves it to the next one that matches', async () => {
    const emulator = testEmulator();
    emulator.chat.on('weather', 'Seven.');
    emulator.chat.on('weather', [{ tool_calls: [CITY] }]);

    const [first, second] = [await ask(emulator, [QUESTION]), await ask(emulator, [QUESTION, CALL, RESULT])];

    expect(first.body.choices[0].finish_reason).toBe('tool_calls');
    expect(second.body.choices[0].message.content).toBe('Seven.');
  });

  test('can be added over HTTP, is listed, and comes with a case', async () => {
    const [emulator, other] = [testEmulator(), testEmulator()];
    const { body } = await callsTo(emulator).control('POST', '/replies', { match: 'weather', reply: STEPS });
    const saved = await callsTo(emulator).control('GET', '/case?state=false');
    await callsTo(other).control('POST', '/case', saved.body);

    expect((await callsTo(other).control('GET', '/replies')).body).toEqual([
      { id: body.id, match: 'weather', reply: STEPS },
    ]);
    expect((await ask(other, [QUESTION])).body.choices[0].message.content).toBe('I look.');
  });

  test.each([
    { reply: [], because: 'nothing' },
    { reply: ['One.', 'Two.'], because: 'two texts' },
    { reply: [{ tool_calls: [CITY], calls: 1 } as object], because: 'an unknown field' },
  ])('of $because is an error', async ({ reply }) => {
    const emulator = testEmulator();

    expect(() => emulator.chat.on('x', reply as never)).toThrow(RangeError);
  });

  test.each([[[]], [['One.', 'Two.']]])('that is no turn is a 400 over HTTP: %j', async (reply) => {
    const { status, body } = await callsTo(testEmulator()).control('POST', '/replies', { match: 'x', reply });

    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('all replies but the last have tool_calls');
  });
});

test('the calls of a prompt count as its tokens, and a function gets them', async () => {
  const emulator = testEmulator();
  const seen: unknown[] = [];
  emulator.chat.on('weather', ({ messages }) => {
    seen.push(messages[1]);
    return 'Seven.';
  });

  const short = await ask(emulator, [QUESTION, calling('weather'), RESULT]);
  const long = await ask(emulator, [
    QUESTION,
    calling('weather', 'call_1', `{"city":"${'Oslo '.repeat(50)}"}`),
    RESULT,
  ]);

  expect(long.body.usage.prompt_tokens - short.body.usage.prompt_tokens).toBeGreaterThan(49);
  expect(seen[0]).toMatchObject({ role: 'assistant', content: '', tool_calls: [{ id: 'call_1' }] });
});

describe('a request with tools is refused', () => {
  const tool = (fields: object) => [{ type: 'function', function: { name: 'weather', ...fields } }];
  test.each([
    { body: { messages: [QUESTION, RESULT] }, param: 'messages.1', says: 'no call call_1 waits for one' },
    { body: { messages: [QUESTION, CALL, RESULT, RESULT] }, param: 'messages.3', says: 'no call call_1' },
    {
      body: { messages: [QUESTION, CALL, QUESTION] },
      param: 'messages.1',
      says: 'The call call_1 of messages.1 has no',
    },
    { body: { messages: [QUESTION, CALL] }, param: 'messages.1', says: 'has no result' },
    {
      body: { messages: [QUESTION, CALL, { ...RESULT, tool_call_id: 'call_2' }] },
      param: 'messages.2',
      says: 'no call call_2',
    },
    { body: { messages: [{ role: 'tool', content: 'x' }] }, param: 'messages.0.tool_call_id', says: 'required' },
    { body: { messages: [{ ...CALL, tool_calls: [] }] }, param: 'messages.0.tool_calls', says: 'at least 1' },
    {
      body: { messages: [{ ...CALL, tool_calls: [{ id: 'a' }] }] },
      param: 'messages.0.tool_calls.0.type',
      says: 'required',
    },
    {
      body: { messages: [{ ...CALL, tool_calls: [{ id: 'a', type: 'function' }] }] },
      param: 'messages.0.tool_calls.0.function',
      says: 'required',
    },
    { body: { tools: [] }, param: 'tools', says: 'at least 1' },
    { body: { tools: [{ type: 'function', name: 'weather' }] }, param: 'tools.0.function', says: 'required' },
    { body: { tools: tool({ name: 'no name' }) }, param: 'tools.0.function.name', says: '1 to 64 letters' },
    { body: { tools: tool({ parameters: 'city' }) }, param: 'tools.0.function.parameters', says: 'expected object' },
    {
      body: { tools: tool({ parameters: { type: 'string' } }) },
      param: 'tools.0.function.parameters.type',
      says: 'object',
    },
    { body: { tools: undefined, tool_choice: 'auto' }, param: 'tool_choice', says: 'only allowed with tools' },
    { body: { tool_choice: 'always' }, param: 'tool_choice', says: 'expected none, auto, required' },
    {
      body: { tool_choice: { type: 'function', function: { name: 'tide' } } },
      param: 'tool_choice',
      says: 'the function tide, which is not in tools',
    },
  ])('for $param: $says', async ({ body: given, param, says }) => {
    const { status, body } = await ask(testEmulator(), [QUESTION], given);

    expect(status).toBe(400);
    expect(body.error).toMatchObject({ param, message: expect.stringContaining(says) });
  });

  test('only for what is wrong: several calls and results in any order, and tools of other types pass', async () => {
    const both = { ...CALL, tool_calls: [...CALL.tool_calls, ...calling('tide', 'call_2').tool_calls] };
    const messages = [QUESTION, both, { ...RESULT, tool_call_id: 'call_2' }, RESULT, QUESTION];
    const more = { tools: [...tools, { type: 'web_search' }], tool_choice: { type: 'allowed_tools' } };

    expect((await ask(testEmulator(), messages, more)).status).toBe(200);
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
