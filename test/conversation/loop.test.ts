import { tool } from 'context-gateway';
import { type ReplyPart, readTurn, textOf, toResponse } from 'context-gateway/conversation';
import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import { failureOf } from '../helpers/service.js';
import { called, result, scripted, tide } from './scripted.js';
import { elsewhere } from './world.js';

test.each([true, false])(
  'a tool is run, and the model asked again with its result (streamed: %s)',
  async (isStreamed) => {
    const { talk, bodies, rows } = scripted([
      { content: 'I look.', tool_calls: [called('a')] },
      { content: 'At noon.' },
    ]);

    const reply = talk.stream('When is high tide?');
    const turn = isStreamed ? await reply.final() : await talk.send('When is high tide?');

    expect(turn).toMatchObject({ text: 'At noon.', stopped: false });
    expect(turn.toolCalls).toBeUndefined();
    expect(bodies.map(({ tools }) => tools)).toEqual([
      [JSON.parse(JSON.stringify(tide))],
      [JSON.parse(JSON.stringify(tide))],
    ]);
    const step = [
      { role: 'assistant', content: 'I look.', tool_calls: [called('a')] },
      { role: 'tool', content: result, tool_call_id: 'a' },
    ];
    expect(bodies[1]?.messages.slice(1)).toEqual(step);
    expect(await rows()).toMatchObject([{ role: 'user' }, ...step, { role: 'assistant', content: 'At noon.' }]);
    expect(turn.messages).toEqual(await rows());
    if (isStreamed) expect(reply.text).toBe('I look.\n\nAt noon.');
  },
);

test('what a call does wrong is a result that the model reads', async () => {
  const slow = tool({ name: 'slow', execute: () => Promise.reject(new Error('The harbour is closed.')) });
  const calls = [
    called('a', { harbour: 5 }),
    called('b', '{ no JSON'),
    called('c', {}, 'slow'),
    called('d', {}, 'unknown'),
  ];
  const { talk, rows } = scripted([{ tool_calls: calls }, { content: 'Sorry.' }], { tools: [tide, slow] });

  await talk.send('When?');

  expect((await rows()).filter(({ role }) => role === 'tool').map(textOf)).toEqual([
    expect.stringMatching(/^Error: the arguments do not match: harbour: /),
    expect.stringMatching(/^Error: .*JSON/),
    'Error: The harbour is closed.',
    'Error: there is no tool "unknown". There are: tide, slow.',
  ]);
});

test('after maxSteps, the model is asked without tools', async () => {
  const steps = ['a', 'b'].map((id) => ({ tool_calls: [called(id)] }));
  const { talk, bodies, rows } = scripted([...steps, { content: 'Enough.' }], { maxSteps: 2 });

  await talk.send('When?');

  expect(bodies.map(({ tools }) => tools !== undefined)).toEqual([true, true, false]);
  expect((await rows()).map(({ role }) => role).join(' ')).toBe('user assistant tool assistant tool assistant');
});

test('calls without execute wait: their results are the next input, and the reply goes on', async () => {
  const ask = tool({ name: 'ask' });
  const replies = [{ tool_calls: [called('a'), called('b', {}, 'ask')] }, { content: 'Deleted.' }];
  const { talk, open, store, bodies, rows } = scripted(replies, { tools: [tide, ask] });

  const turn = await talk.send('Delete it.');

  expect(turn).toMatchObject({ text: '', toolCalls: [{ id: 'b' }] });
  expect((await rows()).map(({ role }) => role).join(' ')).toBe('user assistant tool');
  const answer = { role: 'tool', tool_call_id: 'b', content: 'Yes.' };
  const other = { role: 'tool', tool_call_id: 'x', content: 'Yes.' };
  expect(await failureOf(open().send([other]))).toMatchObject({ message: expect.stringContaining('does not wait') });
  const next = await open(elsewhere(store)).send([answer]);
  expect(next.text).toBe('Deleted.');
  expect(bodies[1]?.messages.map(({ role }) => role).join(' ')).toBe('user assistant tool tool');
  const stored = await rows();
  expect(stored.map(({ role }) => role).join(' ')).toBe('user assistant tool tool assistant');
  expect(new Set(stored.slice(1).map((row) => (row as { reply?: string }).reply)).size).toBe(1);
  expect(await failureOf(open().send([answer]))).toMatchObject({ name: 'ConversationConflictError' });
});

test('another question gives calls that wait a result that says so', async () => {
  const ask = tool({ name: 'ask' });
  const { talk, bodies } = scripted([{ tool_calls: [called('b', {}, 'ask')] }, { content: 'Fine.' }], { tools: [ask] });
  await talk.send('Delete it.');

  await talk.send('Never mind.');

  expect(bodies[1]?.messages).toMatchObject([
    { role: 'user' },
    { tool_calls: [{ id: 'b' }] },
    { role: 'tool', tool_call_id: 'b', content: 'This call was not run.' },
    { role: 'user', content: 'Never mind.' },
  ]);
});

test('a stop while a tool runs stores the step, and the conversation can go on', async () => {
  const stop = new AbortController();
  const seen: boolean[] = [];
  const forever = tool({
    name: 'forever',
    execute: (_, { signal }) => {
      signal.addEventListener('abort', () => seen.push(true));
      queueMicrotask(() => stop.abort());
      return new Promise(() => {});
    },
  });
  const { talk, open, rows } = scripted(
    [{ tool_calls: [called('a', {}, 'forever'), called('b')] }, { content: 'Fine.' }],
    {
      tools: [tide, forever],
    },
  );

  expect(await failureOf(talk.stream('When?', { signal: stop.signal }).final())).toMatchObject({ name: 'AbortError' });

  expect(seen).toEqual([true]);
  expect((await rows()).map(textOf)).toEqual(['When?', '', 'This call was stopped.', expect.any(String)]);
  expect((await open().send('And now?')).text).toBe('Fine.');
});

test('a failure after a step keeps the step, and asking again goes on behind it', async () => {
  const replies = [{ tool_calls: [called('a')] }, { status: 500 }, { content: 'At noon.' }];
  const { talk, rows } = scripted(replies);
  const question = [{ role: 'user', content: 'When?', id: 'q' }] as const;

  expect(await failureOf(talk.send(question))).toMatchObject({ status: 500 });
  expect(await rows()).toHaveLength(3);
  await talk.send(question);

  expect((await rows()).flatMap((row) => (row as { tool_calls?: { id: string }[] }).tool_calls ?? [])).toMatchObject([
    { id: 'a' },
  ]);
  expect((await rows()).map(textOf)).toEqual(['When?', '', result, 'At noon.']);
});

test('regenerate and edit store their steps with their reply', async () => {
  const replies = ['a', 'b', 'c'].flatMap((id) => [{ tool_calls: [called(id)] }, { content: `Reply ${id}.` }]);
  const { talk, rows } = scripted(replies);
  const { messages } = await talk.send('When?');

  await talk.regenerate().final();
  expect((await rows()).map(textOf)).toEqual(['When?', '', result, 'Reply b.']);
  await talk.edit(String(messages[0]?.id), 'When exactly?').final();

  expect((await rows()).map(textOf)).toEqual(['When exactly?', '', result, 'Reply c.']);
});

test('a page gets the names of calls, and results only if the app says so', async () => {
  const events = async (showResults?: boolean) => {
    const { talk } = scripted([{ content: 'I look.', tool_calls: [called('a')] }, { content: 'At noon.' }]);
    const seen: unknown[] = [];
    for await (const event of readTurn(await toResponse(talk.stream('When?'), { showResults })))
      seen.push(event.type === 'turn' ? { type: 'turn' } : event);
    return seen;
  };
  const call = { type: 'call', id: 'a', name: 'tide' };

  expect(await events()).toEqual([
    { type: 'text', text: 'I look.' },
    call,
    { type: 'text', text: '\n\n' },
    { type: 'text', text: 'At noon.' },
    { type: 'turn' },
  ]);
  expect(await events(true)).toContainEqual({ type: 'result', id: 'a', name: 'tide', result });
});

test.each([true, false])('the turn of a page has results only if the app shows them (%s)', async (showResults) => {
  const { talk } = scripted([{ content: 'I look.', tool_calls: [called('a')] }, { content: 'At noon.' }]);

  const body = await (await toResponse(talk.stream('When?'), { showResults })).text();

  expect(body.includes('12:00')).toBe(showResults);
  expect(body).not.toContain('arguments');
  const [, turn] = /(\{"type":"turn".*)/.exec(body) ?? [];
  const { messages } = JSON.parse(String(turn)).turn;
  expect(messages.map(textOf)).toEqual(['When?', 'I look.', ...(showResults ? [result] : []), 'At noon.']);
});

test('parts has the calls and their results between the pieces of text', async () => {
  const { talk } = scripted([{ tool_calls: [called('a')] }, { content: 'At noon.' }]);
  const parts: ReplyPart[] = [];

  for await (const part of talk.stream('When?').parts()) parts.push(part);

  expect(parts).toMatchObject([
    { type: 'call', call: { id: 'a' } },
    { type: 'result', call: { id: 'a' }, result },
    { type: 'text', text: 'At noon.' },
  ]);
});

test('each request of a turn has an idempotency key of its own', async () => {
  const { talk, onRequest } = scripted([]);
  const keys: (string | null)[] = [];
  const replies = [
    { role: 'assistant', content: null, tool_calls: [called('a')] },
    { role: 'assistant', content: 'Noon.' },
  ];
  onRequest((request) => {
    keys.push(request.headers.get('idempotency-key'));
    const choices = [{ index: 0, message: replies[keys.length - 1], finish_reason: 'stop' }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
  });

  await talk.send('When?', { idempotencyKey: 'k' });

  expect(keys).toEqual(['k', 'k-1']);
});

test('a tool runs once in a turn that is asked twice at the same moment', async () => {
  const execute = vi.fn(() => 'Noon.');
  const { talk } = scripted([{ tool_calls: [called('a', {}, 'clock')] }, { content: 'At noon.' }], {
    tools: [tool({ name: 'clock', execute })],
  });
  const question = [{ role: 'user', content: 'When?', id: 'q' }] as const;

  const turns = await Promise.all([talk.send(question), talk.send(question)]);

  expect(turns.map(({ text }) => text)).toEqual(['At noon.', 'At noon.']);
  expect(execute).toHaveBeenCalledOnce();
});

test.each([
  [() => tool({ name: 'no name' }), 'letters, digits'],
  [() => tool(undefined as never), 'letters, digits'],
  [() => tool({ name: 'x', parameters: 'text' as never }), 'must be the schema of an object'],
  [
    () => tool({ name: 'x', parameters: { '~standard': { version: 1, vendor: 'v', validate: () => ({ value: 1 }) } } }),
    'Pass both',
  ],
  [() => tool({ name: 'x', execute: 5 as never }), 'must be a function'],
  [() => tool({ name: 'x', exec: () => 5 } as never), 'must not have exec'],
  [() => tool({ name: 'x', parameters: z.string() as never }), 'must be the schema of an object'],
  [() => tool({ name: 'x', parameters: z.object({ at: z.date() }) }), 'tool x is no JSON Schema: Date'],
])('a bad tool %# is a clear error', (make, message) => {
  expect(make).toThrow(
    expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(message) }),
  );
});

test('a tool is sent as the API of OpenAI has it, and prints nothing else', () => {
  expect(JSON.parse(JSON.stringify(tide))).toEqual({
    type: 'function',
    function: {
      name: 'tide',
      description: 'When high tide is in a harbour',
      parameters: expect.objectContaining({ type: 'object', required: ['harbour'] }),
    },
  });
});

test('two tools of one name are refused before anything is sent', async () => {
  const twins = [tide, tool({ name: 'tide' })];
  const { talk, bodies, rows } = scripted([]);
  const problem = 'must be an array of tools with different names';
  const message = expect.stringContaining(problem);

  expect(() => scripted([], { tools: twins })).toThrow(`tools ${problem}`);
  expect(await failureOf(talk.send('When?', { tools: twins }))).toMatchObject({
    name: 'RequestValidationError',
    message,
  });
  expect(await failureOf(talk.prepare('When?', { tools: twins }))).toMatchObject({ message });
  expect({ bodies, rows: await rows() }).toEqual({ bodies: [], rows: [] });
});
