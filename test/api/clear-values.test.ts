import { GatewayClient } from 'context-gateway';
import { expect, test } from 'vitest';

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const HEAD = { id: 'c', object: 'chat.completion', created: 1_700_000_000, model: 'm', usage: USAGE };
const choice = (message: object, finish_reason = 'stop') => ({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Six.', ...message }, finish_reason }],
});
const call = (args: unknown) => ({ id: 't', type: 'function', function: { name: 'tide', arguments: args } });

const ASK = { model: 'm', messages: [{ role: 'user' as const, content: 'When?' }] };

function clientOf(answer: () => Response) {
  return new GatewayClient({
    ...{ baseURL: 'https://gateway.test', apiKey: 'svc_sk_clear', maxRetries: 0 },
    fetch: async () => answer(),
  });
}

test.each<[string, object, object]>([
  ['created with a fraction', { created: 1_700_000_000.7 }, { created: 1_700_000_000 }],
  ['created as text', { created: '1700000000' }, { created: 1_700_000_000 }],
  ['ids that are numbers', { id: 7 }, { id: '7' }],
  ['an empty error beside a whole reply', { error: {} }, { id: 'c' }],
  ['an error that is null', { error: null }, { id: 'c' }],
  ['a count of tokens with a fraction', { usage: { ...USAGE, prompt_tokens: 3.5 } }, { usage: USAGE }],
  ['counts of tokens as text', { usage: { ...USAGE, prompt_tokens: '3' } }, { usage: USAGE }],
  ['a count of tokens beyond all', { usage: { ...USAGE, total_tokens: 1e30 } }, { usage: { prompt_tokens: 3 } }],
  [
    'content in parts',
    choice({
      content: [
        { type: 'text', text: 'Si' },
        { type: 'text', text: 'x.' },
      ],
    }),
    choice({ content: 'Six.' }),
  ],
])('reads %s in a whole reply', async (_, given, read) => {
  const gateway = clientOf(() => Response.json({ ...HEAD, ...choice({}), ...given }));

  const completion = await gateway.chat.completions.create(ASK);

  expect(completion).toMatchObject(read);
  expect(Number.isSafeInteger(completion.usage?.total_tokens)).toBe(true);
});

test.each([
  { reason: 'content_filter', message: { content: null } },
  { reason: 'length', message: { content: null } },
  { reason: 'stop', message: { content: undefined, tool_calls: [] } },
  { reason: 'stop', message: { content: null, tool_calls: null } },
  { reason: 'stop', message: { content: null, tool_calls: 'none' } },
])('a whole reply without text and calls is an empty one: $message, $reason', async ({ reason, message }) => {
  const gateway = clientOf(() => Response.json({ ...HEAD, ...choice(message, reason) }));

  const { choices } = await gateway.chat.completions.create(ASK);

  expect(choices[0]).toMatchObject({ message: { content: '' }, finish_reason: reason });
});

test.each([null, undefined])(
  'a reply that only calls tools has them, and the content that was sent: %s',
  async (content) => {
    const tools = choice({ content, tool_calls: [call('{}')] }, 'tool_calls');
    const gateway = clientOf(() => Response.json({ ...HEAD, ...tools }));

    const { choices } = await gateway.chat.completions.create(ASK);

    expect(choices[0]?.message).toEqual({ role: 'assistant', content, tool_calls: [call('{}')] });
  },
);

test('text is read whatever stands in the place of tool calls, whole and streamed', async () => {
  const { choices } = choice({ tool_calls: 'none' });
  const chunk = { choices: [{ index: 0, delta: { content: 'Six.', tool_calls: 'none' }, finish_reason: 'stop' }] };
  const answers = [
    Response.json({ ...HEAD, choices }),
    new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`),
  ];
  const gateway = clientOf(() => answers.shift() ?? Response.error());

  const whole = await gateway.chat.completions.create(ASK);
  const streamed = await (await gateway.chat.completions.create({ ...ASK, stream: true })).finalCompletion();

  for (const { choices } of [whole, streamed])
    expect(choices[0]?.message).toEqual({ role: 'assistant', content: 'Six.' });
});

test('reads arguments that are an object as JSON, whole and streamed', async () => {
  const whole = choice({ content: null, tool_calls: [call({ day: 1 })] }, 'tool_calls');
  const gateway = clientOf(() => Response.json({ ...HEAD, ...whole }));
  const { choices } = await gateway.chat.completions.create(ASK);
  const chunk = {
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call({ day: 1 }) }] }, finish_reason: 'tool_calls' }],
  };
  const events = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  const streaming = clientOf(() => new Response(events, { headers: { 'content-type': 'text/event-stream' } }));
  const stream = await streaming.chat.completions.create({ ...ASK, stream: true });

  expect(choices[0]?.message.tool_calls?.[0]?.function.arguments).toBe('{"day":1}');
  const streamed = (await stream.finalCompletion()).choices[0]?.message.tool_calls;
  expect(streamed?.[0]?.function.arguments).toBe('{"day":1}');
});

test.each<[string, object]>([
  ['created with a fraction, and an id that is a number', { id: 7, created: 1.5 }],
  [
    'content in parts',
    { choices: [{ index: 0, delta: { content: [{ type: 'text', text: 'Six.' }] }, finish_reason: 'stop' }] },
  ],
  ['usage as text', { usage: { ...USAGE, prompt_tokens: '3' } }],
])('reads %s in a stream', async (_, given) => {
  const chunk = { choices: [{ index: 0, delta: { content: 'Six.' }, finish_reason: 'stop' }], ...given };
  const events = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  const gateway = clientOf(() => new Response(events, { headers: { 'content-type': 'text/event-stream' } }));

  const stream = await gateway.chat.completions.create({ ...ASK, stream: true });

  const { choices, usage } = await stream.finalCompletion();
  expect(choices[0]?.message.content).toBe('Six.');
  if ('usage' in given) expect(usage).toEqual(USAGE);
});

test.each<[string, object]>([
  [
    'an index with a fraction',
    { choices: [{ index: 0.5, message: { role: 'assistant', content: 'Six.' }, finish_reason: 'stop' }] },
  ],
  ['a model that is a number', { model: 5 }],
  ['an id that has lost digits', { id: Number('12345678901234567890') }],
  ['parts that are no text', choice({ content: [{ type: 'image', image: 'x' }, 'Six.'] })],
  [
    'thoughts beside the text',
    choice({
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Six.' },
      ],
    }),
  ],
  ['a time beyond all', { created: 1e21 }],
  ['content that is a number', choice({ content: 5 })],
])('does not guess what %s means', async (_, given) => {
  const gateway = clientOf(() => Response.json({ ...HEAD, ...choice({}), ...given }));

  await expect(gateway.chat.completions.create(ASK)).rejects.toThrow(/does not match the documentation/);
});

test('arguments that begin as an empty object are what follows', async () => {
  const piece = (args: unknown, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call(args) }] }, finish_reason }] })}\n\n`;
  const events = `${piece({})}${piece('{"a"')}${piece(':1}', 'tool_calls')}data: [DONE]\n\n`;
  const gateway = clientOf(() => new Response(events, { headers: { 'content-type': 'text/event-stream' } }));

  const stream = await gateway.chat.completions.create({ ...ASK, stream: true });

  expect((await stream.finalCompletion()).choices[0]?.message.tool_calls?.[0]?.function.arguments).toBe('{"a":1}');
});

test.each(['error', 'report'] as const)(
  'what cannot be read is reported as it was received, with validation: %s',
  async (validation) => {
    const received = { ...HEAD, ...choice({ content: ['Six', '.'] }), id: 5, created: '1.5', model: 7 };
    const gateway = new GatewayClient({
      ...{ baseURL: 'https://gateway.test', apiKey: 'svc_sk_clear', maxRetries: 0, validation },
      fetch: async () => Response.json(received),
    });

    const seen = await gateway.chat.completions
      .create(ASK)
      .catch((error: unknown) => (error as { body: unknown }).body);

    expect(seen).toEqual(received);
  },
);
