import {
  type ChatCompletion,
  type ChatContentPart,
  type ChatMessage,
  type FunctionTool,
  RequestValidationError,
  ResponseValidationError,
  type ToolCall,
} from 'context-gateway';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import type { StandardSchema } from '../../src/validation/validate.js';
import { engines } from '../helpers/engines.js';
import { completion } from '../helpers/samples.js';
import { failureOf, gatewayAt } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';

const model = 'atlas-small';
const tools: FunctionTool[] = [
  { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: { city: {} } } } },
];
const question: ChatMessage = { role: 'user', content: 'What is the weather in Oslo?' };
const whole = {
  ...{ id: expect.any(String), type: 'function' },
  function: { name: 'weather', arguments: '{"city":"Oslo"}' },
};
const called = [{ function: { name: 'weather', arguments: { city: 'Oslo' } } }];

describe.each(engines)('tools through $engine', ({ options }) => {
  const world = emulatedService(options);
  const gateway = () => world.gateway();

  test('a tool call comes back typed, and its result gets a reply', async () => {
    world.emulator.chat.on('weather', { tool_calls: called });
    const messages = [question];
    const first = await gateway().chat.completions.create({ model, messages, tools, tool_choice: 'auto' });
    const reply = first.choices[0]?.message;
    const [call] = reply?.tool_calls ?? [];
    expectTypeOf(call).toEqualTypeOf<ToolCall | undefined>();
    const result = { role: 'tool', tool_call_id: call?.id, content: 'Seven degrees.' } as const;
    const history = [question, ...(reply ? [reply] : []), result];
    const second = await gateway().chat.completions.create({ model, messages: history, tools });

    expect(first.choices).toMatchObject([{ finish_reason: 'tool_calls', message: { content: null } }]);
    expect(call).toEqual(whole);
    expect(second.choices[0]?.message.content).toBe('Seven degrees.');
    expect(JSON.parse(world.last.body ?? '').messages[1]).toEqual(reply);
  });

  test('a streamed tool call is typed in its chunks, and whole in the final completion', async () => {
    world.emulator.chat.on('weather', { content: 'I look.', tool_calls: [...called, ...called] });
    const stream = await gateway().chat.completions.create({ model, messages: [question], tools, stream: true });
    const names: unknown[] = [];
    for await (const { choices } of stream)
      names.push(...(choices[0]?.delta.tool_calls ?? []).flatMap((piece) => piece.function?.name ?? []));
    const { message, finish_reason } = (await stream.finalCompletion()).choices[0] ?? {};

    expect(names).toEqual(['weather', 'weather']);
    expect(finish_reason).toBe('tool_calls');
    expect(message).toMatchObject({ content: 'I look.', tool_calls: [whole, whole] });
    expect(new Set(message?.tool_calls?.map(({ id }) => id)).size).toBe(2);
  });

  test('sends parts and every parameter as given', async () => {
    const content: ChatContentPart[] = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
    ];
    const params = {
      model,
      messages: [{ role: 'user', content }],
      response_format: { type: 'json_object' },
      parallel_tool_calls: false,
      ...{ seed: 7, stop: ['END'], top_p: 0.5, presence_penalty: -1, frequency_penalty: 1, n: 1, user: 'u' },
      ...{ logit_bias: { '50256': -100 }, logprobs: true, top_logprobs: 2, max_completion_tokens: 50 },
    } as const;
    await gateway().chat.completions.create(params);

    expect(JSON.parse(world.last.body ?? '')).toEqual(params);
  });

  test.each([
    { field: 'messages', value: [{ role: 'user', content: 7 }], path: ['messages', 0, 'content'] },
    { field: 'messages', value: [{ role: 'user', content: null }], path: ['messages', 0, 'content'] },
    { field: 'messages', value: [{ role: 'user', content: [{ text: 'x' }] }], path: ['messages', 0, 'content'] },
    { field: 'top_p', value: Number.NaN, path: ['top_p'] },
  ])('rejects $field: $value, and sends nothing', async ({ field, value, path }) => {
    const params = { model, messages: [question], [field]: value };
    const error = await failureOf(gateway().chat.completions.create(params as never));

    expect(error).toMatchObject({ name: 'RequestValidationError', issues: [{ path }] });
    expect(world.emulator.requests).toEqual([]);
  });
});

test('a tool call without parameters has arguments and a type, whether the service sends them or not', async () => {
  const message = { role: 'assistant' as const, content: null, tool_calls: [{ id: 'a', function: { name: 'tides' } }] };
  const answer = { ...completion(), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  const gateway = gatewayAt({ fetch: async () => Response.json(answer) });

  const whole = await gateway.chat.completions.create({ model, messages: [question], tools });
  const stream = await gateway.chat.completions.create({ model, messages: [question], tools, stream: true });

  const call = { id: 'a', type: 'function', function: { name: 'tides', arguments: '{}' } };
  expect(whole.choices[0]?.message.tool_calls).toEqual([call]);
  expect((await stream.finalCompletion()).choices[0]?.message.tool_calls).toEqual([call]);
});

describe('a reply in JSON', () => {
  const world = emulatedService({});
  const Tide = z.object({ high: z.string(), metres: z.number() });
  const messages = [{ role: 'user' as const, content: 'When is the tide?' }];
  const ask = <T>(schema: StandardSchema<T>) => world.gateway().chat.completions.parse({ model, messages }, { schema });

  test('is parsed, validated and typed with a schema, and its tokens are in the done event', async () => {
    world.emulator.chat.on('tide', { json: { high: '12:00', metres: 3.5 } });
    const events: unknown[] = [];
    const gateway = world.gateway({ onEvent: (event) => void events.push(event) });

    const call = gateway.chat.completions.parse({ model, messages }, { schema: Tide });
    const completion = await call;
    const { data, response } = await call.withResponse();

    expectTypeOf(completion).toEqualTypeOf<ChatCompletion & { parsed: { high: string; metres: number } }>();
    expect(completion.parsed).toEqual({ high: '12:00', metres: 3.5 });
    expect(completion.choices[0]?.message.content).toBe(JSON.stringify(completion.parsed));
    expect([data, response.status]).toEqual([completion, 200]);
    const { usage } = completion;
    expect(usage?.total_tokens).toBeGreaterThan(0);
    expect(events.at(-1)).toMatchObject({ type: 'done', finishReasons: ['stop'], usage });
  });

  test('a reply in JSON that does not match is an error with the path, and the completion as its body', async () => {
    world.emulator.chat.on('tide', { json: { high: '12:00' } });
    const error = (await failureOf(ask(Tide))) as ResponseValidationError;

    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error.issues[0]?.path).toEqual(['metres']);
    expect(error.body).toMatchObject({ object: 'chat.completion', usage: { total_tokens: expect.any(Number) } });
  });

  test.each([
    '```json\n{"high":"12:00","metres":3.5}\n```',
    '```{"high":"12:00","metres":3.5}```\n',
    '``` application/json\n{"high":"12:00","metres":3.5}\n```',
    '\n{"high":"12:00","metres":3.5}',
  ])('a reply in JSON may have a fence around it: %j', async (reply) => {
    world.emulator.chat.on('tide', reply);

    expect((await ask(Tide)).parsed).toEqual({ high: '12:00', metres: 3.5 });
  });

  test.each([
    {
      reply: '',
      message: ': see error.body. The schema is not sent: ask for JSON in a message, or pass response_format',
    },
    { reply: { content: '{"high":', finish_reason: 'length' }, message: ': it ended at max_tokens' },
    { reply: `\`\`\`json\n${' \n'.repeat(200_000)}x`, message: ': it ended at max_tokens' },
  ])('a reply in JSON that is not JSON is an error (%#)', async ({ reply, message }) => {
    world.emulator.chat.on('tide', reply);
    const error = await failureOf(ask(Tide));

    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(String(error)).toContain(`The reply is not JSON${message}`);
  });

  test.each(['', 'I look.'])('with tools, a call in place of a reply in JSON is a completion: %j', async (content) => {
    world.emulator.chat.on('tide', { content, tool_calls: called });
    const { completions } = world.gateway().chat;

    const { choices, parsed, usage } = await completions.parse({ model, messages, tools }, { schema: Tide });

    expectTypeOf(parsed).toEqualTypeOf<{ high: string; metres: number } | undefined>();
    expect(parsed).toBeUndefined();
    expect(choices[0]?.message.tool_calls).toEqual([whole]);
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  test('with tools, a reply in JSON is parsed, and one that is not JSON is an error', async () => {
    world.emulator.chat.on('later', 'At noon.');
    world.emulator.chat.on('tide', { json: { high: '12:00', metres: 3.5 } });
    const { completions } = world.gateway().chat;
    const later = [{ role: 'user' as const, content: 'And later?' }];

    const { parsed } = await completions.parse({ model, messages, tools }, { schema: Tide });
    const error = await failureOf(completions.parse({ model, messages: later, tools }, { schema: Tide }));

    expect(parsed?.high).toBe('12:00');
    expect(String(error)).toContain('The reply is not JSON');
  });

  test('without tools, a call in place of a reply in JSON is an error', async () => {
    world.emulator.chat.on('tide', { tool_calls: called });

    expect(String(await failureOf(ask(Tide)))).toContain('The reply is not JSON');
  });

  test('with response_format, the error does not name it', async () => {
    world.emulator.chat.on('tide', 'At noon.');
    const asked = { model, messages, response_format: { type: 'json_object' } } as const;

    const error = await failureOf(world.gateway().chat.completions.parse(asked, { schema: Tide }));

    expect(String(error)).toContain('The reply is not JSON: see error.body (POST');
  });

  test.each([
    { response_format: { type: 'json_schema', json_schema: { name: 'tide', schema: Tide } } },
    { response_format: Tide },
    { tools: [{ type: 'function', function: { name: 'tide', parameters: Tide } }] },
  ])('the schema of a library is refused where JSON Schema is taken (%#)', async (more) => {
    const error = await failureOf(world.gateway().chat.completions.create({ model, messages, ...more } as never));

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(String(error)).toContain('takes JSON Schema: convert the schema, such as with z.toJSONSchema(schema)');
    expect(world.emulator.requests).toEqual([]);
  });

  const needed = /schema: must be a Standard Schema/;
  test.each([
    { what: 'a stream', more: { stream: true }, options: { schema: Tide }, says: /stream: must be/ },
    { what: 'a call without options', options: undefined, says: needed },
    { what: 'a schema that is none', options: { schema: {} }, says: needed },
    { what: 'an inherited schema', options: Object.create({ schema: Tide }), says: needed },
  ])('$what is rejected before anything is sent', async ({ more, options, says }) => {
    const { completions } = world.gateway().chat;
    const error = await failureOf(completions.parse({ model, messages, ...more } as never, options as never));

    expect(error).toBeInstanceOf(RequestValidationError);
    expect(String(error)).toMatch(says);
    expect(world.emulator.requests).toHaveLength(0);
  });

  test.each([
    { choices: null },
    { choices: [{ index: 0, message: null }] },
    { choices: [{ index: 0, message: { role: 'assistant', content: { text: '{}' } } }] },
    'text',
  ])('a reply that is only reported as invalid is an error with its body: %j', async (body) => {
    const fetch = async () => Response.json(body);
    const gateway = world.gateway({ fetch, validation: 'report' });
    const error = await failureOf(gateway.chat.completions.parse({ model, messages }, { schema: Tide }));

    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error).toMatchObject({ body });
  });

  test('a schema whose value rejects is an error with the completion', async () => {
    world.emulator.chat.on('tide', { json: { high: '12:00' } });
    const validate = () => ({ value: Promise.reject(new TypeError('no')) });
    const schema = { '~standard': { version: 1, vendor: 'v', validate } } as const;
    const error = await failureOf(ask(schema));

    expect(error).toMatchObject({ name: 'ResponseValidationError', body: { object: 'chat.completion' } });
  });
});
