import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { standInCalls } from '../src/completions/stand-in-calls.js';
import type { ChatMessage, CompletionRequest, FunctionDefinition } from '../src/upstream/model-source.js';
import { language } from './compactable.js';
import { callsTo, testEmulator } from './support.js';

const WEATHER = {
  name: 'get_weather',
  description: 'The current weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const TIDE = { name: 'tide', description: 'When high tide is in a harbour' };
const ORDER = { name: 'lookupOrder', description: 'Looks up an order by its id' };
const TICKET = { name: 'create_ticket', description: 'Opens a ticket for the support team' };
const INVOICE = { name: 'create_invoice', description: 'Writes an invoice' };
const ASK = { name: 'ask', description: 'Asks the person' };
const ALL = [WEATHER, TIDE, ORDER, TICKET, INVOICE, ASK];

const said = (content: string): ChatMessage => ({ role: 'user', content });
const done = (...names: string[]): ChatMessage[] => [
  {
    ...{ role: 'assistant', content: '' },
    tool_calls: names.map((name) => ({ id: name, type: 'function', function: { name, arguments: '{}' } })),
  },
  ...names.map((name): ChatMessage => ({ role: 'tool', content: `Result of ${name}.`, tool_call_id: name })),
];
const calls = (
  messages: string | ChatMessage[],
  functions: readonly FunctionDefinition[] = ALL,
  more: Partial<CompletionRequest> = {},
) => {
  const tools = functions.map((one) => ({ type: 'function', function: one }));
  const given = typeof messages === 'string' ? [said(messages)] : messages;
  return standInCalls({ model: 'atlas-small', messages: given, tools, ...more }, language).map((call) => call.function);
};
const names = (...given: Parameters<typeof calls>) => calls(...given).map(({ name }) => name);

describe('the tools that are called', () => {
  test.each([
    { message: 'What is the weather in Oslo?', called: ['get_weather'], because: 'a word of the name' },
    { message: 'Where is order 1042?', called: ['lookupOrder'], because: 'a word of a name in camel case' },
    { message: 'Please run get_weather.', called: ['get_weather'], because: 'the name itself' },
    { message: 'Open something for the support', called: ['create_ticket'], because: 'two words of the description' },
    {
      message: 'Create a ticket for the printer',
      called: ['create_ticket'],
      because: 'create is used by the better one',
    },
    { message: 'The weather in Oslo and the tide in Bergen?', called: ['get_weather', 'tide'], because: 'both' },
    { message: 'Ask her.', called: ['ask'], because: 'a name of stop words' },
    { message: 'The harbour opens at six.', called: [], because: 'one word of a description is too little' },
    { message: 'Hello there!', called: [], because: 'nothing is asked for' },
    { message: '', called: [], because: 'there is no text' },
  ])('by "$message" are $called: $because', ({ message, called }) => {
    expect(names(message)).toEqual(called);
  });

  test.each([
    { choice: 'none', message: 'The weather?', called: [] },
    { choice: 'auto', message: 'The weather?', called: ['get_weather'] },
    { choice: 'required', message: 'The tide?', called: ['tide'] },
    { choice: 'required', message: 'Hello!', called: ['get_weather'] },
    { choice: { type: 'function', function: { name: 'ask' } }, message: 'The weather?', called: ['ask'] },
    { choice: { type: 'allowed_tools' }, message: 'The weather?', called: ['get_weather'] },
    { choice: null, message: 'The weather?', called: ['get_weather'] },
  ])('with the choice $choice are $called', ({ choice, message, called }) => {
    expect(names(message, ALL, { tool_choice: choice })).toEqual(called);
  });

  test('are not called again with their results, but by the next message, and one at a time if the request says so', () => {
    const both = said('The weather in Oslo and the tide in Bergen?');
    const single = { parallel_tool_calls: false };

    expect(names([both, ...done('get_weather', 'tide')])).toEqual([]);
    expect(names([both, ...done('get_weather', 'tide'), said('And the tide in Oslo?')])).toEqual(['tide']);
    expect(names([both], ALL, single)).toEqual(['get_weather']);
    expect(names([both, ...done('get_weather')], ALL, single)).toEqual(['tide']);
  });

  test('none, where there are none', () => {
    expect(calls('The weather?', [])).toEqual([]);
    expect(names([{ role: 'system', content: 'The weather' }])).toEqual([]);
  });
});

/** The arguments of a tool with these parameters, for a message. */
const given = (message: string, properties: object, more: object = {}) => {
  const parameters = { type: 'object', properties, ...more };
  return calls(`${message}`, [{ name: 'run', parameters }], { tool_choice: 'required' })[0]?.arguments;
};
const text = { type: 'string' };

describe('the arguments of a call', () => {
  test.each([
    { message: 'Weather in New York, please', properties: { city: text }, args: { city: 'New York' } },
    { message: 'weather in oslo?', properties: { city: text }, args: { city: 'oslo' } },
    {
      message: 'Search for retries after failures',
      properties: { query: text },
      args: { query: 'retries after failures' },
    },
    {
      message: 'Find “old lamps” in Oslo',
      properties: { query: text, place: text },
      args: { query: 'old lamps', place: 'Oslo' },
    },
    { message: 'Fly to Oslo from Bergen', properties: { from: text, to: text }, args: { from: 'Bergen', to: 'Oslo' } },
    { message: "Where is Ana's order ORD-1042?", properties: { order_id: text }, args: { order_id: 'ORD-1042' } },
    {
      message: 'Write to bo@example.org today',
      properties: { to: { ...text, format: 'email' } },
      args: { to: 'bo@example.org' },
    },
    { message: 'Remind me tomorrow', properties: { on: { ...text, format: 'date' } }, args: { on: '2026-01-15' } },
    {
      message: 'Oslo in Fahrenheit',
      properties: { unit: { enum: ['celsius', 'fahrenheit'] } },
      args: { unit: 'fahrenheit' },
    },
    { message: 'How slow?', properties: { unit: { enum: ['low', 'high'], default: 'high' } }, args: { unit: 'high' } },
    {
      message: 'Those in progress',
      properties: { state: { enum: ['done', 'in_progress'] } },
      args: { state: 'in_progress' },
    },
    {
      message: 'Add 2 and -3.5',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      args: { a: 2, b: -3.5 },
    },
    {
      message: 'Add 2, 3 and 4',
      properties: { of: { type: 'array', items: { type: 'number' } } },
      args: { of: [2, 3, 4] },
    },
    { message: 'The first 500', properties: { limit: { type: 'integer', maximum: 50 } }, args: { limit: 1 } },
    { message: 'All', properties: { limit: { type: 'integer', minimum: 10, multipleOf: 5 } }, args: { limit: 10 } },
    {
      message: 'All',
      properties: { share: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 } },
      args: { share: 0.5 },
    },
    { message: 'All', properties: { limit: { type: 'integer', default: 20 } }, args: { limit: 20 } },
    {
      message: 'All',
      properties: { isNew: { type: 'boolean' }, kind: { const: 'x' } },
      args: { isNew: true, kind: 'x' },
    },
    { message: 'In Oslo', properties: { city: { anyOf: [{ type: 'null' }, text] } }, args: { city: 'Oslo' } },
    {
      message: 'In Oslo',
      properties: { at: { type: 'object', properties: { city: text } } },
      args: { at: { city: 'Oslo' } },
    },
  ])('of "$message" are $args', ({ message, properties, args }) => {
    expect(given(message, properties)).toEqual(args);
  });

  test('of several calls are what follows the words for each, or else what stands before them', () => {
    const tide = { ...TIDE, parameters: { type: 'object', properties: { harbour: text } } };
    const args = (message: string) =>
      Object.fromEntries(calls(message, [WEATHER, tide]).map((one) => [one.name, one.arguments]));

    const both = { get_weather: { city: 'Oslo' }, tide: { harbour: 'Bergen' } };
    expect(args('What is the weather in Oslo, and the tide in Bergen?')).toEqual(both);
    expect(args('The tide in Bergen and the weather in Oslo?')).toEqual(both);
    expect(args('We are in Oslo. What is the weather?')).toEqual({ get_weather: { city: 'Oslo' } });
  });

  test('leave out what is optional, unless the message has one of its values', () => {
    const properties = { city: text, unit: { enum: ['celsius', 'fahrenheit'] }, lang: text };

    expect(given('In Oslo', properties, { required: ['city'] })).toEqual({ city: 'Oslo' });
    expect(given('In Oslo, celsius', properties, { required: ['city'] })).toEqual({ city: 'Oslo', unit: 'celsius' });
  });

  test('follow references, and end where a schema refers to itself', () => {
    const node = {
      type: 'object',
      properties: { name: text, next: { $ref: '#/$defs/node' }, other: { $ref: '#/$defs/node' } },
    };

    expect(given('In Oslo', { at: { $ref: '#/$defs/city' } }, { $defs: { city: text } })).toEqual({ at: 'Oslo' });
    expect(given('In Oslo', { at: { $ref: '#/constructor' } })).toMatchObject({ at: expect.anything() });
    expect(JSON.stringify(given('In Oslo', { at: { $ref: '#/$defs/node' } }, { $defs: { node } })).length).toBeLessThan(
      100_000,
    );
  });

  test.each([
    undefined,
    null,
    {},
    { type: 'object', properties: null },
    {
      type: 'object',
      properties: { a: true, b: null, c: { enum: 7 }, d: { type: 5 }, e: { items: 1, type: 'array' } },
    },
    { type: 'object', properties: { a: { type: 'string', format: 'constructor', minLength: 1e9 }, b: { anyOf: [] } } },
    { type: 'object', properties: { a: { type: 'array', minItems: 1e9, items: { type: 'string' } } } },
  ])('are made for any schema: %j', (parameters) => {
    const [call] = calls('Run it.', [{ name: 'run', parameters: parameters as never }]);

    expect(JSON.stringify(call?.arguments)).toMatch(/^\{/);
  });

  test('match the schemas of zod, whatever the message', () => {
    const schema = z.object({
      city: z.string().min(3).max(40),
      days: z.int().min(1).max(14),
      share: z.number().gt(0).lt(1),
      unit: z.enum(['celsius', 'fahrenheit']),
      mail: z.email(),
      on: z.iso.date(),
      at: z.iso.datetime(),
      link: z.url(),
      id: z.uuid(),
      tags: z.array(z.string()).min(2).max(4),
      sizes: z.array(z.int().positive()).max(3),
      place: z.object({ lat: z.number().min(-90).max(90), note: z.string().nullable() }),
      either: z.union([z.literal(7), z.literal('seven')]),
      isOn: z.boolean(),
      lang: z.string().default('en'),
    });
    const parameters = z.toJSONSchema(schema, { io: 'input' });
    const word = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('Oslo', '12', '-3.5', '"a b"', 'celsius', 'in', 'x@y.zz', '2026-02-30'),
    );

    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (parts) => {
        const args = calls(parts.join(' '), [{ name: 'run', parameters }], { tool_choice: 'required' })[0]?.arguments;
        expect(schema.safeParse(args).error?.issues).toBeUndefined();
      }),
    );
  });
});

test('an agent gets calls, and then a text with all results of the turn', async () => {
  const { ask } = callsTo(testEmulator());
  const tools = [WEATHER, TIDE].map((one) => ({ type: 'function', function: one }));
  const messages: object[] = [said('The weather in Oslo and the tide in Bergen?')];
  const body = async () => (await ask('', { messages, tools, parallel_tool_calls: false })).body;

  const steps: unknown[] = [];
  for (let step = 0; step < 2; step += 1) {
    const { message, finish_reason } = (await body()).choices[0];
    steps.push([finish_reason, message.content, message.tool_calls.length]);
    const [{ id, function: called }] = message.tool_calls;
    messages.push(message, { role: 'tool', tool_call_id: id, content: `${called.name} ${called.arguments}` });
  }
  const { choices, usage } = await body();

  expect(steps).toEqual([
    ['tool_calls', null, 1],
    ['tool_calls', null, 1],
  ]);
  expect(choices[0]).toMatchObject({
    finish_reason: 'stop',
    message: { content: 'get_weather {"city":"Oslo"}\ntide {}' },
  });
  expect(usage.completion_tokens).toBeGreaterThan(0);
});

test('a schema for the reply gets JSON that matches it', async () => {
  const { ask } = callsTo(testEmulator());
  const Plan = z.object({ harbour: z.string(), day: z.enum(['today', 'tomorrow']), boats: z.int() });
  const json_schema = { name: 'plan', schema: z.toJSONSchema(Plan) };

  const { body } = await ask('Sail from Bergen tomorrow with 3 boats.', {
    response_format: { type: 'json_schema', json_schema },
  });

  expect(JSON.parse(body.choices[0].message.content)).toEqual({ harbour: 'Bergen', day: 'tomorrow', boats: 3 });
});
