import {
  type ChatCompletionStream,
  type ClientEvent,
  ContextGatewayError,
  GatewayClient,
  type GatewayClientOptions,
  StreamTruncatedError,
} from 'context-gateway';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const HEAD = { id: 'c', created: 1_700_000_000, model: 'm' };
const ASK = { model: 'm', messages: [{ role: 'user' as const, content: 'When?' }] };

const whole = (content: string, more: object = {}) => ({
  ...HEAD,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  ...more,
});
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  ...HEAD,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const event = (data: object | string) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const lines = (...parts: object[]) => parts.map((part) => `${JSON.stringify(part)}\n`).join('');

const PIECES = [
  chunk({ role: 'assistant', content: 'At ' }),
  chunk({ content: 'six.' }),
  chunk({}, 'stop', { usage: USAGE }),
];
const EVENTS = PIECES.map(event).join('');
const EVENT_STREAM = 'text/event-stream';

function gatewayOf(body: BodyInit, type = 'application/json', options: GatewayClientOptions = {}) {
  const fetch = async () => new Response(body, { headers: { 'content-type': type } });
  return new GatewayClient({
    baseURL: 'https://gateway.test',
    apiKey: 'svc_sk_once',
    maxRetries: 0,
    fetch,
    ...options,
  });
}

const streamed = (gateway: GatewayClient): Promise<ChatCompletionStream> =>
  gateway.chat.completions.create({ ...ASK, stream: true });

/** What a service or a proxy answers, whatever it was asked for. */
describe.each<[string, string, string?]>([
  ['one JSON text', JSON.stringify(whole('At six.', { usage: USAGE }))],
  ['one JSON text over many lines', JSON.stringify(whole('At six.', { usage: USAGE }), null, 2)],
  ['JSON with the type of events', JSON.stringify(whole('At six.', { usage: USAGE })), EVENT_STREAM],
  [
    'JSON over many lines with the type of events',
    JSON.stringify(whole('At six.', { usage: USAGE }), null, 2),
    EVENT_STREAM,
  ],
  [
    'JSON in the form of a chunk',
    JSON.stringify(chunk({ role: 'assistant', content: 'At six.' }, 'stop', { usage: USAGE })),
  ],
  ['chunks as events', `${EVENTS}${event('[DONE]')}`, EVENT_STREAM],
  ['chunks as events without [DONE]', EVENTS, EVENT_STREAM],
  ['events with the type of JSON', `${EVENTS}${event('[DONE]')}`],
  ['events behind a comment', `: PROCESSING\n\n${EVENTS}${event('[DONE]')}`, EVENT_STREAM],
  [
    'one event with the whole completion',
    `${event(whole('At six.', { usage: USAGE }))}${event('[DONE]')}`,
    EVENT_STREAM,
  ],
  ['JSON, then [DONE]', `${JSON.stringify(whole('At six.', { usage: USAGE }))}\ndata: [DONE]\n\n`, EVENT_STREAM],
  ['JSON behind comments', `: PROCESSING\n\n: PROCESSING\n\n${JSON.stringify(whole('At six.', { usage: USAGE }))}`],
  [
    'JSON with each entry on a line of its own',
    JSON.stringify(whole('At six.', { usage: USAGE, choices: ['CHOICE'] }), null, 2).replace(
      '"CHOICE"',
      JSON.stringify(whole('At six.').choices[0]),
    ),
  ],
  [
    'the same with the type of events',
    JSON.stringify(whole('At six.', { usage: USAGE, choices: ['CHOICE'] }), null, 2).replace(
      '"CHOICE"',
      JSON.stringify(whole('At six.').choices[0]),
    ),
    EVENT_STREAM,
  ],
  ['lines of JSON', lines(...PIECES), 'application/x-ndjson'],
  ['lines of JSON of another type', lines(...PIECES), 'application/jsonl'],
  ['lines of JSON with the type of JSON', lines(...PIECES)],
  ['lines of JSON with the type of events', lines(...PIECES), EVENT_STREAM],
])('%s', (_, body, type) => {
  const expected = { ...HEAD, usage: USAGE, choices: [{ index: 0, finish_reason: 'stop' }] };

  test('is the whole completion of a plain call', async () => {
    const completion = await gatewayOf(body, type).chat.completions.create(ASK);

    expect(completion).toMatchObject(expected);
    expect(completion.choices[0]?.message).toEqual({ role: 'assistant', content: 'At six.' });
  });

  test('is read as a stream', async () => {
    const stream = await streamed(gatewayOf(body, type));
    let text = '';
    for await (const piece of stream.textStream) text += piece;

    expect(text).toBe('At six.');
    expect(await stream.finalCompletion()).toMatchObject(expected);
  });
});

test('lines of JSON in another form are read by decodeChunk', async () => {
  const foreign = lines({ response: 'At ' }, { response: 'six.' }, { done: true });
  const options: GatewayClientOptions = {
    decodeChunk: ({ event: name, data }) => {
      expect(name).toBeUndefined();
      const { response, done } = JSON.parse(data);
      return done ? 'done' : { choices: [{ index: 0, delta: { content: response } }] };
    },
  };

  const stream = await streamed(gatewayOf(foreign, 'application/x-ndjson', options));

  expect((await stream.finalCompletion()).choices[0]?.message.content).toBe('At six.');
});

test('a list of chunks over several lines is read as a stream', async () => {
  const list = `[\n${PIECES.map((piece) => JSON.stringify(piece)).join(',\n')}\n]`;

  const { choices, usage } = await (await streamed(gatewayOf(list))).finalCompletion();

  expect([choices[0]?.message.content, usage]).toEqual(['At six.', USAGE]);
});

test('very many lines of JSON are read', async () => {
  const many = lines(...Array.from({ length: 9_000 }, () => chunk({ content: 'a' })), chunk({}, 'stop'));

  const { choices } = await (await streamed(gatewayOf(many, 'application/x-ndjson'))).finalCompletion();
  const plain = await gatewayOf(many, 'application/x-ndjson').chat.completions.create(ASK);

  expect([choices[0]?.message.content?.length, plain.choices[0]?.message.content?.length]).toEqual([9_000, 9_000]);
});

test.each<[string, object]>([
  ['lines with usage', { text: 'At six.', usage: USAGE }],
  ['lines with choices', { choices: [{ text: 'At six.' }] }],
  ['lines with a code and a text', { code: 'token', msg: 'At six.' }],
])('decodeChunk reads %s in its own form', async (_, line) => {
  const options: GatewayClientOptions = {
    decodeChunk: ({ data }) => ({
      choices: [{ index: 0, delta: { content: /At six\./.exec(data)?.[0] }, finish_reason: 'stop' }],
    }),
  };

  const stream = await streamed(gatewayOf(lines(line), 'application/x-ndjson', options));

  expect((await stream.finalCompletion()).choices[0]?.message.content).toBe('At six.');
});

test('lines of messages that are cut are no whole reply', async () => {
  const piece = (content: string) => ({ ...HEAD, choices: [{ index: 0, message: { content } }] });

  const stream = await streamed(gatewayOf(lines(piece('At '), piece('si')), 'application/x-ndjson'));

  await expect(stream.finalCompletion()).rejects.toThrow(StreamTruncatedError);
});

test.each<[string, object | string]>([
  ['a piece', chunk({ role: 'assistant', content: 'At ' })],
  ['a chunk with a role', chunk({ role: 'assistant' })],
  ['no choice', { ...whole(''), choices: [], id: undefined }],
  ['no choice and an error', { choices: [], error: 'The quota is used up' }],
  ['only the end of events', event('[DONE]')],
  ['events that were cut', event(chunk({ content: 'At ' }))],
])('%s is no whole reply of a plain call', async (_, body) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);

  await expect(gatewayOf(text).chat.completions.create(ASK)).rejects.toThrow(ContextGatewayError);
});

test('a plain call keeps what it has of events that were cut', async () => {
  const failed = gatewayOf(event(chunk({ content: 'At ' }))).chat.completions.create(ASK);

  await expect(failed).rejects.toMatchObject({ partial: { choices: [{ message: { content: 'At ' } }] } });
});

test.each([
  ['content that is a number', { choices: [{ index: 0, delta: { content: 7 } }] }],
  ['what is nested too deeply', JSON.parse(`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`)],
])('%s after a whole reply does not lose it', async (_, last) => {
  const body = `${EVENTS}${event(last)}`;

  const plain = await gatewayOf(body, EVENT_STREAM).chat.completions.create(ASK);
  const { choices } = await (await streamed(gatewayOf(body, EVENT_STREAM))).finalCompletion();

  expect([plain.choices[0]?.message.content, choices[0]?.message.content]).toEqual(['At six.', 'At six.']);
});

test('other work goes on while a plain call reads many lines that mean nothing', async () => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 0);

  await expect(gatewayOf(`: hello\n\n${'a\n'.repeat(100_000)}`).chat.completions.create(ASK)).rejects.toThrow(/ended/);
  clearInterval(timer);

  expect(ticks).toBeGreaterThan(3);
});

test.each(['application/x-ndjson', 'application/json', 'text/plain'])(
  'an error at the begin of %s ends its connection',
  async (type) => {
    const cancel = vi.fn();
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"error":{"message":"busy"}}\n')),
      cancel,
    });

    await expect(streamed(gatewayOf(body, type))).rejects.toThrow(/busy/);

    expect(cancel).toHaveBeenCalled();
  },
);

test.each([
  ['nothing', '', /is empty/],
  ['spaces', '  \n ', /is empty/],
  ['an empty list', '[]', /is application\/json/],
  ['a line of a log', '[INFO] restarting', /is application\/json/],
  ['a text before an event', 'Service busy\ndata: x\n\n', /is application\/json/],
  ['a page with a line of JSON', '<html>\n{"error":"x"}\n</html>', /is application\/json/],
])('%s is no stream', async (_, body, message) => {
  await expect(streamed(gatewayOf(body))).rejects.toThrow(message);
});

test('JSON that was cut is an error that says so', async () => {
  const cut = JSON.stringify(whole('At six.'), null, 2).slice(0, -40);

  await expect(gatewayOf(cut).chat.completions.create(ASK)).rejects.toThrow(
    /^The JSON of the response is cut off or broken/,
  );
});

/** Details that nobody needs for the text. */
test.each<[string, object]>([
  ['usage that is null', { usage: null }],
  ['usage with other names', { usage: { input_tokens: 3, output_tokens: 1 } }],
  ['a negative count of tokens', { usage: { ...USAGE, prompt_tokens: -3 } }],
  ['no id', { id: undefined }],
  ['no time and no model', { created: undefined, model: null }],
  ['no object', { object: undefined }],
  ['no index and no finish_reason', { choices: [{ message: { role: 'assistant', content: 'Six.' } }] }],
  ['no role', { choices: [{ index: 0, message: { content: 'Six.' }, finish_reason: 'stop' }] }],
])('a reply with %s has its text, whether it was asked for as a stream or not', async (_, more) => {
  const body = JSON.stringify({ ...whole('Six.'), ...more });

  const plain = await gatewayOf(body).chat.completions.create(ASK);
  const { choices, usage } = await (await streamed(gatewayOf(body))).finalCompletion();

  const reply = { index: 0, message: { role: 'assistant', content: 'Six.' }, finish_reason: 'stop' };
  expect([plain.choices, plain.usage]).toEqual([[reply], undefined]);
  expect([choices, usage]).toEqual([[reply], undefined]);
});

describe('an error in a success', () => {
  const WHY = 'The quota is used up';

  test.each<[string, object]>([
    ['code and msg', { code: 401, msg: WHY, data: null }],
    ['code and message', { code: '1001', message: WHY }],
    ['error_code and error_msg', { error_code: 17, error_msg: WHY }],
    ['status and message', { status: 'error', message: WHY }],
    ['detail', { detail: WHY }],
    ['a list of details', { detail: [{ loc: ['body'], msg: WHY }] }],
    ['errors', { errors: [{ message: WHY }] }],
    ['a text', { error: WHY }],
    ['an object', { error: { message: WHY } }],
    ['a status', { status: 402, title: WHY }],
    ['base_resp', { id: 'x', choices: null, base_resp: { status_code: 1008, status_msg: WHY } }],
  ])('says why in the form of %s', async (_, body) => {
    const text = JSON.stringify(body);
    const expected = {
      name: expect.stringMatching(/^(API|Stream)Error$/),
      status: 200,
      message: expect.stringContaining(WHY),
    };

    await expect(gatewayOf(text).chat.completions.create(ASK)).rejects.toMatchObject(expected);
    await expect(streamed(gatewayOf(text))).rejects.toMatchObject(expected);
    await expect(gatewayOf(text).usage.retrieve()).rejects.toMatchObject(expected);
    const late = streamed(gatewayOf(`${event(chunk({ content: 'At ' }))}${event(body)}`, EVENT_STREAM));
    await expect((await late).finalCompletion()).rejects.toMatchObject(expected);
  });

  test.each<[string, object]>([
    ['a message alone, which may be a reply', { message: 'CANARY' }],
    ['a code of success', { code: 0, message: 'CANARY' }],
    ['a title', { title: 'CANARY', status: 'active' }],
    ['a status that begins like an error', { title: 'CANARY', status: 'failover-eu' }],
    ['an empty list of errors', { message: 'CANARY', errors: [] }],
    ['a success', { success: true, message: 'CANARY', errors: ['CANARY'] }],
    ['a code that is good', { message: 'CANARY', base_resp: { status_code: 0, status_msg: 'CANARY' } }],
    ['a detail of something', { id: 7, detail: 'CANARY' }],
    ['a code that is an object', { code: { toString: 1 }, status: { toString: 1 }, message: 'CANARY' }],
    ['a heartbeat', { code: 1, msg: 'ok' }],
  ])('is not taken from %s', async (_, body) => {
    const failed = gatewayOf(JSON.stringify(body)).usage.retrieve();

    await expect(failed).rejects.toMatchObject({ name: 'ResponseValidationError' });
    await expect(failed).rejects.not.toThrow(/CANARY/);
  });

  test("is data with validation: 'report'", async () => {
    const gateway = gatewayOf(JSON.stringify({ tokens_used: 'x', errors: ['a'], message: 'all good' }), undefined, {
      validation: 'report',
    });

    expect(await gateway.usage.retrieve()).toEqual({ tokens_used: 'x', errors: ['a'], message: 'all good' });
  });

  test("what is not whole stays as it was with validation: 'report'", async () => {
    const body = { choices: [{ message: { content: 5 } }] };

    expect(
      await gatewayOf(JSON.stringify(body), undefined, { validation: 'report' }).chat.completions.create(ASK),
    ).toEqual(body);
  });

  test.each([
    ['code 0', { code: 0, message: 'ping' }, 'ping'],
    ['code 200', { code: 200, message: 'processing' }, 'status'],
    ['code null', { code: null, message: 'queued' }, 'meta'],
    ['another code', { code: 102, message: 'searching' }, 'progress'],
    ['code 200, without a name', { code: 200, message: 'processing' }, undefined],
  ])('is not an event that says how the work goes on: %s', async (_, data, name) => {
    const beat = `${name === undefined ? '' : `event: ${name}\n`}${event(data)}`;
    const body = `${event(chunk({ content: 'At ' }))}${beat}${event(chunk({ content: 'six.' }, 'stop'))}${event('[DONE]')}`;

    const { choices } = await (await streamed(gatewayOf(body, EVENT_STREAM))).finalCompletion();

    expect(choices[0]?.message.content).toBe('At six.');
  });
});

describe('a stream knows what it has read', () => {
  const call = (args: unknown, more: object = {}) => ({
    type: 'function',
    function: { name: 'tide', arguments: args },
    ...more,
  });
  const read = async (...parts: object[]) => {
    const stream = await streamed(gatewayOf(`${parts.map(event).join('')}${event('[DONE]')}`, EVENT_STREAM));
    let text = '';
    for await (const piece of stream.textStream) text += piece;
    const [choice] = (await stream.finalCompletion()).choices;
    expect(choice?.message.content ?? '').toBe(text);
    return { text, calls: choice?.message.tool_calls?.map((one) => one.function) };
  };

  test('a whole message after the pieces is not read again', async () => {
    expect((await read(chunk({ content: 'At ' }), chunk({ content: 'six.' }), whole('At six.'))).text).toBe('At six.');
  });

  test('a whole message after a chunk without a text is read', async () => {
    expect((await read(chunk({ role: 'assistant' }), whole('At six.'))).text).toBe('At six.');
  });

  test('pieces that are called messages are all read', async () => {
    const piece = (content: string) => ({ ...HEAD, choices: [{ index: 0, message: { content } }] });
    expect((await read(piece('ha'), piece('ha'), chunk({}, 'stop'))).text).toBe('haha');
  });

  test('calls of a whole message after their pieces are not read again', async () => {
    const calls = [call('{"a":1}', { index: 0, id: 't' })];
    const end = {
      ...HEAD,
      choices: [{ index: 0, message: { content: null, tool_calls: calls }, finish_reason: 'tool_calls' }],
    };
    expect((await read(chunk({ tool_calls: calls }), end)).calls).toEqual([{ name: 'tide', arguments: '{"a":1}' }]);
  });

  test.each<[string, object[]]>([
    ['without ids and indexes', [call('{"a":1}'), call('{"a":2}')]],
    ['with arguments as objects', [call({ a: 1 }), call({ a: 2 })]],
    ['with the same index', [call('{"a":1}', { index: 0 }), call('{"a":2}', { index: 0 })]],
    ['with ids and the same index', [call('{"a":1}', { index: 0, id: 'x' }), call('{"a":2}', { index: 0, id: 'y' })]],
  ])('two entries of one list are two calls, %s', async (_, tool_calls) => {
    expect((await read(chunk({ tool_calls }, 'tool_calls'))).calls).toEqual([
      { name: 'tide', arguments: '{"a":1}' },
      { name: 'tide', arguments: '{"a":2}' },
    ]);
  });

  const withId = (id: string, name: string | undefined, args: string) => ({ id, function: { name, arguments: args } });

  test.each<[string, object[][]]>([
    [
      'in another order',
      [
        [withId('a', 'pay', ''), withId('b', 'refund', '')],
        [withId('b', undefined, '{"o":2}'), withId('a', undefined, '{"o":1}')],
      ],
    ],
    [
      'first one by one',
      [
        [withId('a', 'pay', '')],
        [withId('b', 'refund', '')],
        [withId('a', undefined, '{"o":1}'), withId('b', undefined, '{"o":2}')],
      ],
    ],
    [
      'the rest of one and the start of the next',
      [[withId('a', 'pay', '{"o"')], [withId('a', undefined, ':1}'), withId('b', 'refund', '{"o":2}')]],
    ],
  ])('calls with ids and no indexes are told apart by their ids: %s', async (_, parts) => {
    const { calls } = await read(...parts.map((tool_calls) => chunk({ tool_calls })), chunk({}, 'tool_calls'));
    expect(calls).toEqual([
      { name: 'pay', arguments: '{"o":1}' },
      { name: 'refund', arguments: '{"o":2}' },
    ]);
  });

  test('two pieces that both have the name of their call are one call', async () => {
    const pieces = [call('{"a":', { index: 0 }), call('1}', { index: 0 })];
    expect((await read(chunk({ tool_calls: pieces }, 'tool_calls'))).calls).toEqual([
      { name: 'tide', arguments: '{"a":1}' },
    ]);
  });

  test('a whole message beside a delta without a text is read', async () => {
    const body = {
      ...HEAD,
      choices: [{ index: 0, delta: {}, message: { content: 'At six.' }, finish_reason: 'stop' }],
    };
    expect((await read(body)).text).toBe('At six.');
  });

  test('a whole message of another choice is read', async () => {
    const body = [
      chunk({ content: 'A' }, 'stop'),
      { ...HEAD, choices: [{ index: 1, message: { content: 'B' }, finish_reason: 'stop' }] },
    ];
    const stream = await streamed(gatewayOf(body.map(event).join(''), EVENT_STREAM));
    expect((await stream.finalCompletion()).choices.map(({ message }) => message.content)).toEqual(['A', 'B']);
  });

  test('a whole message adds what no piece had', async () => {
    const end = {
      ...HEAD,
      choices: [{ index: 0, message: { reasoning: 'Hm.', content: 'At six.' }, finish_reason: 'stop' }],
    };
    const stream = await streamed(gatewayOf([chunk({ reasoning: 'Hm.' }), end].map(event).join(''), EVENT_STREAM));
    const [choice] = (await stream.finalCompletion()).choices;
    expect(choice?.message).toEqual({ role: 'assistant', reasoning: 'Hm.', content: 'At six.' });
  });

  test('choices of a whole completion without indexes have their places', async () => {
    const choices = ['A', 'B'].map((content) => ({ message: { content }, finish_reason: 'stop' }));
    const { choices: got } = await (await streamed(gatewayOf(JSON.stringify({ ...HEAD, choices })))).finalCompletion();
    expect(got.map(({ index, message }) => [index, message.content])).toEqual([
      [0, 'A'],
      [1, 'B'],
    ]);
  });

  test('two pieces of one call in one list are one call', async () => {
    const pieces = [call('', { index: 0, id: 't' }), { index: 0, function: { arguments: '{"a":1}' } }];
    expect((await read(chunk({ tool_calls: pieces }, 'tool_calls'))).calls).toEqual([
      { name: 'tide', arguments: '{"a":1}' },
    ]);
  });

  test('calls without indexes go on at their places in the list', async () => {
    const more = [{ function: { arguments: '1}' } }, { function: { arguments: '2}' } }];
    const calls = await read(
      chunk({ tool_calls: [call('{"a":'), call('{"a":')] }),
      chunk({ tool_calls: more }, 'tool_calls'),
    );
    expect(calls.calls?.map((one) => one.arguments)).toEqual(['{"a":1}', '{"a":2}']);
  });
});

describe('what a list has beside it', () => {
  const listed = async (body: object) => {
    const seen: ClientEvent[] = [];
    const gateway = gatewayOf(JSON.stringify(body), undefined, { onEvent: (one) => seen.push(one) });
    const { data, response } = await gateway.presets.list().withResponse();
    return { data, rest: response.rest, more: seen.filter(({ type }) => type === 'more').length };
  };

  test.each<[string, object]>([
    ['has_more', { has_more: true }],
    ['hasMore', { object: 'list', hasMore: true }],
    ['a cursor', { next_cursor: 'abc' }],
    ['a page token', { nextPageToken: 'abc' }],
    ['an address in links', { links: { next: '/v1/presets?page=2' } }],
    ['a pagination', { pagination: { total: 120, has_more: true } }],
  ])('is kept, and reported if there is more: %s', async (_, rest) => {
    expect(await listed({ data: [{ id: 'a' }], ...rest })).toEqual({ data: [{ id: 'a' }], rest, more: 1 });
  });

  test.each<[string, object]>([
    ['has_more: false', { has_more: false, total: 1 }],
    ['no next page', { next: null, links: { next: '' } }],
    ['text that looks like it', { note: '"has_more":true' }],
    ['other fields', { next_billing_date: 'May', annex_next: 1, precursor: 1, has_more: 'false', cursor: {} }],
  ])('is kept, and not reported if there is no more: %s', async (_, rest) => {
    expect(await listed({ data: [{ id: 'a' }], ...rest })).toEqual({ data: [{ id: 'a' }], rest, more: 0 });
  });

  test('is nothing of a reply that is a list', async () => {
    const schema = z.array(z.number());
    const { data, response } = await gatewayOf(JSON.stringify(whole('[1, 2]', { usage: USAGE })))
      .chat.completions.parse(ASK, { schema })
      .withResponse();
    expect([data.parsed, response.rest]).toEqual([[1, 2], undefined]);
  });

  test('is nothing for a bare list', async () => {
    expect(await listed([{ id: 'a' }])).toEqual({ data: [{ id: 'a' }], rest: undefined, more: 0 });
  });
});
