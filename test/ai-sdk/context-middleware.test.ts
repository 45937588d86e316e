import * as ai from 'ai';
import { contextMiddleware, createAiSdkProvider } from 'context-gateway/ai-sdk';
import type { ChatTurn, Conversation, PreparedTurn } from 'context-gateway/conversation';
import { createConversation } from 'context-gateway/conversation';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { settled } from '../helpers/manual-runtime.js';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';
import { majors } from './majors.js';

const service = emulatedService({});
const background = { role: 'user' as const, content: 'Background: the key is red.' };

/** The method that the middleware calls, and that of what it returns. The real conversation has its own tests. */
const prepare = vi.fn<Conversation['prepare']>();
const finish = vi.fn<PreparedTurn['finish']>();
const conversation = { prepare };
/** A prompt with these parts, and the newest messages from `start` on as they were passed, or as `newest`. */
const prepares =
  (parts: Partial<PreparedTurn> & { newest?: PreparedTurn['messages'] } = {}): Conversation['prepare'] =>
  async (input, { history = [] } = {}) => {
    const { context = [], recalled = [], start = 0, newest = history.slice(start) } = parts;
    // The cast is true of what the middleware reads.
    return { start, finish, ...parts, messages: [context, newest, recalled, input].flat() } as unknown as PreparedTurn;
  };
beforeEach(() => {
  prepare.mockReset().mockImplementation(prepares({ context: background }));
  finish.mockReset().mockResolvedValue({} as ChatTurn);
});

const sentMessages = (): { role: string; content: string }[] => JSON.parse(service.last.body ?? '').messages;

describe.each(majors)('$name', ({ name, ai, createProvider }) => {
  const model = () =>
    ai.wrapLanguageModel({
      model: createProvider(service.gateway())('atlas-small'),
      middleware: contextMiddleware(conversation),
    });
  const prompt = 'What is red?';
  const asked = { role: 'user' as const, content: prompt };

  test('sends the context after the instructions, the newest messages that fit, and what was recalled before the input', async () => {
    const recalled = { role: 'user' as const, content: 'Earlier: the lock is blue.' };
    prepare.mockImplementation(prepares({ context: background, recalled, start: 2 }));
    const earlier = ['One.', 'Two.', 'Three.', 'Four.'].map((content, i) => ({
      role: i % 2 === 1 ? ('user' as const) : ('assistant' as const),
      content,
    }));
    const abortSignal = new AbortController().signal;
    await ai.generateText({ model: model(), system: 'Be short.', messages: [...earlier, asked], abortSignal });

    const instructions = { role: 'system', content: 'Be short.' };
    expect(sentMessages()).toEqual([instructions, background, ...earlier.slice(2), recalled, asked]);
    expect(prepare).toHaveBeenCalledExactlyOnceWith([asked], {
      instructions: 'Be short.',
      history: earlier,
      signal: expect.any(AbortSignal),
      max_tokens: undefined,
    });
  });

  test('sends the names of users in front of their messages, as in what is recalled', async () => {
    prepare.mockImplementation(prepares());
    const said = (role: 'user' | 'assistant', content: string, name: string) => ({
      ...{ role, content },
      providerOptions: { contextGateway: { name } },
    });
    const messages = [
      said('user', 'I take tea.', 'Ada'),
      said('assistant', 'Fine.', 'Helper'),
      said('user', prompt, 'Bob'),
    ];

    await ai.generateText({ model: model(), messages });

    const sent = sentMessages().map(({ content }) => content.replace(/\s+/g, ' '));
    expect(sent).toEqual(['[Ada] I take tea.', 'Fine.', `[Bob] ${prompt}`]);
  });

  const step = (id: string, output: object) => [
    {
      role: 'assistant' as const,
      content: [{ type: 'tool-call' as const, toolCallId: id, toolName: 'look', input: {} }],
    },
    {
      role: 'tool' as const,
      content: [{ type: 'tool-result' as const, toolCallId: id, toolName: 'look', output: output as never }],
    },
  ];

  test('counts an image that a tool returns as a file, not as text', async () => {
    const [type] = name === 'ai 5' ? ['media'] : ['image-data'];
    const output = { type: 'content', value: [{ type, data: 'A'.repeat(100_000), mediaType: 'image/png' }] };
    await ai.generateText({ model: model(), messages: [asked, ...step('t1', output)] }).catch(() => {});

    const [input] = prepare.mock.calls[0] ?? [];
    expect(JSON.stringify(input).length).toBeLessThan(1_000);
  });

  test('leaves older results of the turn out if the prompt does not fit', async () => {
    const tooLong = Object.assign(new Error('It does not fit.'), { name: 'ContextBudgetError' });
    prepare.mockRejectedValueOnce(tooLong).mockRejectedValueOnce(tooLong);
    const steps = ['t1', 't2', 't3'].flatMap((id) => step(id, { type: 'text', value: `result ${id}` }));
    const inputs = () => prepare.mock.calls.map(([input]) => JSON.stringify(input));
    await ai.generateText({ model: model(), messages: [asked, ...steps] }).catch(() => {});

    expect(inputs().map((text) => ['t1', 't2', 't3'].filter((id) => text.includes(`result ${id}`)))).toEqual([
      ['t1', 't2', 't3'],
      ['t2', 't3'],
      ['t3'],
    ]);
    prepare.mockReset().mockRejectedValue(tooLong);
    const error = await failureOf(ai.generateText({ model: model(), messages: [asked, ...steps], maxRetries: 0 }));
    expect(error).toMatchObject({ name: 'ContextBudgetError' });
    expect(prepare).toHaveBeenCalledTimes(3); // the last step is never shortened
  });

  test('fails the call if the prompt cannot be built', async () => {
    prepare.mockRejectedValue(new Error('No context.'));

    expect(await failureOf(ai.generateText({ model: model(), prompt }))).toHaveProperty('message', 'No context.');
    expect(service.emulator.requests).toEqual([]);
  });

  test('finishes the turn with the reported tokens, once after a plain and once after a streamed reply', async () => {
    finish.mockImplementationOnce(async () => {
      expect(service.emulator.requests).toHaveLength(1);
      return {} as ChatTurn;
    });
    await ai.generateText({ model: model(), prompt });
    for await (const _ of ai.streamText({ model: model(), prompt }).textStream) expect(finish).toHaveBeenCalledTimes(1);
    const usage = expect.objectContaining({ prompt_tokens: expect.any(Number) });
    expect(finish.mock.calls).toEqual([
      [{ content: '', usage }],
      [{ content: '', usage: expect.toBeOneOf([usage, undefined]) }],
    ]);
  });

  test.each([
    ['error=3', 'a reply breaks off', 1],
    ['503', 'the request fails', 0],
  ])('after %s, when %s, the turn was finished %i times', async (fault, _, times) => {
    const options = { headers: { 'x-emulator-fault': fault }, maxRetries: 0, onError: () => {} };
    await ai.streamText({ model: model(), prompt, ...options }).consumeStream();

    expect(finish).toHaveBeenCalledTimes(times);
  });

  test('finishes the turn when the reader cancels, and ends the request', async () => {
    const { stream } = await model().doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      headers: { 'x-emulator-fault': 'cut=3:stall' },
    });
    const reader = stream.getReader();
    for (let type = ''; type !== 'text-delta'; ) type = (await reader.read()).value?.type ?? 'text-delta';
    const pending = reader.read();
    await reader.cancel();

    expect(await pending).toMatchObject({ done: true });
    await vi.waitFor(() => expect(service.last.outcome).toBe('aborted'), { timeout: 30_000 });
    expect(finish).toHaveBeenCalledTimes(1);
  });
});

describe('the middleware with a model of another provider', () => {
  const reported = { inputTokens: { total: 7 } };
  const params = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }] };
  const sent = { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 };

  test.each([
    ['text', params, reported, sent],
    ['text, as ai 5 reports usage', params, { inputTokens: 7 }, sent],
    ['tools, which take tokens too', { ...params, tools: [{ name: 'look' }] }, reported, undefined],
    ['a file', { prompt: [{ role: 'user', content: [{ type: 'file' }] }] }, reported, undefined],
    ['no reported usage', params, { inputTokens: { total: undefined } }, undefined],
  ])('measures the prompt of a call with %s', async (_, given, usage, expected) => {
    const middleware = contextMiddleware(conversation);
    const [params, again] = [
      await middleware.transformParams({ params: given }),
      await middleware.transformParams({ params: given }),
    ];
    await middleware.wrapGenerate({ params, doGenerate: async () => ({ usage }) });
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue({ type: 'finish', usage });
        controller.close();
      },
    });
    const result = await middleware.wrapStream({ params: again, doStream: async () => ({ stream }) });
    await result.stream.pipeTo(new WritableStream());
    expect(finish.mock.calls).toEqual([[{ content: '', usage: expected }], [{ content: '', usage: expected }]]);
  });

  const wrapped = async (stream: ReadableStream) => {
    const middleware = contextMiddleware(conversation);
    const sent = await middleware.transformParams({ params });
    return (await middleware.wrapStream({ params: sent, doStream: async () => ({ stream }) })).stream;
  };

  test('finishes the turn once if the reader cancels while it waits', async () => {
    const reader = (await wrapped(new ReadableStream())).getReader();
    const pending = reader.read();
    await settled();

    await reader.cancel();

    expect(await pending).toMatchObject({ done: true });
    await settled();
    expect(finish).toHaveBeenCalledTimes(1);
  });

  test('finishes the turn once if the stream fails', async () => {
    const stream = await wrapped(new ReadableStream({ pull: () => Promise.reject(new Error('gone')) }));

    expect(await failureOf(stream.getReader().read())).toMatchObject({ message: 'gone' });
    expect(finish).toHaveBeenCalledTimes(1);
  });
});

test('inserts the context for the question of the user into every step of a turn with tools', async () => {
  service.emulator.chat.on('red', 'It is red.');
  service.emulator.chat.on('red', {
    content: 'Let me look.',
    tool_calls: [{ function: { name: 'look', arguments: {} } }],
  });
  const model = ai.wrapLanguageModel({
    model: createAiSdkProvider(service.gateway())('atlas-small'),
    middleware: contextMiddleware(conversation),
  });
  const look = ai.tool({ inputSchema: ai.jsonSchema({ type: 'object' }), execute: () => 'red' });

  await ai.generateText({ model, prompt: 'What is red?', tools: { look }, stopWhen: ai.stepCountIs(2) });

  const [first, second] = prepare.mock.calls.map(([input]) => input as { role: string; content: string }[]);
  expect(first).toEqual([{ role: 'user', content: 'What is red?' }]);
  expect(second?.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant']);
  expect(second?.at(-1)?.content).toContain('tool-result');
});

test('shortens a last turn as the conversation does, and keeps its calls of tools with their results', async () => {
  const [asked, reply] = [
    { role: 'user' as const, content: 'Which ferries are there?' },
    { role: 'assistant' as const, content: 'A long list.' },
  ];
  const call = { type: 'tool-call', toolCallId: 't1', toolName: 'look', input: {} };
  const output = { type: 'text', value: 'a long result' };
  const params = {
    prompt: [
      ...[asked, { role: 'assistant', content: [{ ...call, type: 'text', text: 'I look.' }] }],
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [{ ...call, type: 'tool-result', output }] },
      ...[reply, { role: 'user', content: 'And now?' }],
    ],
  };
  prepare.mockImplementation(prepares({ newest: [asked, { role: 'assistant', content: 'A [cut] list.' }] } as never));

  const { prompt } = await contextMiddleware(conversation).transformParams({ params });

  const result = { ...call, type: 'tool-result', output: { type: 'text', value: expect.stringContaining('left out') } };
  expect(prompt).toEqual([
    ...[asked, { role: 'assistant', content: [call] }, { role: 'tool', content: [result] }],
    { role: 'assistant', content: [{ type: 'text', text: 'A [cut] list.' }] },
    { role: 'user', content: 'And now?' },
  ]);
});

test('sends no text of a message that was shortened or left out, whatever else it has', async () => {
  const long = { type: 'text', text: 'The whole long text.' };
  const [file, reasoning] = [
    { type: 'file', data: 'A', mediaType: 'image/png' },
    { type: 'reasoning', text: 'I think long.' },
  ];
  const call = { type: 'tool-call', toolCallId: 't1', toolName: 'look', input: {} };
  const message = (role: string, ...content: object[]) => ({ role, content });
  const question = message('user', { type: 'text', text: 'And now?' });
  const params = {
    prompt: [
      ...[message('user', long, file), message('assistant', long, reasoning), message('assistant', long, call)],
      ...[message('tool', { ...call, type: 'tool-result', output: { type: 'text', value: 'long' } })],
      ...[message('assistant', reasoning, long), question],
    ],
  };
  const newest = [message('user'), message('assistant')].map((one, at) => ({ ...one, content: `cut ${at}` }));
  prepare.mockImplementation(prepares({ newest } as never));

  const { prompt } = await contextMiddleware(conversation).transformParams({ params: params as never });

  const output = { type: 'text', value: expect.stringContaining('left out') };
  expect(prompt).toEqual([
    message('user', { type: 'text', text: 'cut 0' }, file),
    ...[message('assistant', call), message('tool', { ...call, type: 'tool-result', output })],
    ...[message('assistant', { type: 'text', text: 'cut 1' }), question],
  ]);
});

const said = (role: 'user' | 'assistant', text: string) => ({ role, content: [{ type: 'text' as const, text }] });
const policy = { role: 'system' as const, content: 'Never tell the discount.' };
const style = { role: 'system' as const, content: 'Be short.' };
const talk = Array.from({ length: 80 }, (_, n) =>
  said(n % 2 === 0 ? 'user' : 'assistant', `Remark ${n} about the weather in the valley, which stays grey.`),
);
const question = said('user', 'What is the discount?');

test.each([
  ['in the middle', [style, ...talk, policy, ...talk, question]],
  ['after the first message', [style, said('user', 'Hello.'), policy, ...talk, ...talk, question]],
  ['at the end', [style, ...talk, question, policy]],
])('sends a system message %s first, and counts it as instructions', async (_, prompt) => {
  const small = createConversation({
    gateway: service.gateway(),
    model: 'atlas-small',
    conversationId: 'policy',
    contextWindow: 1_400,
    budget: 1_000,
  });
  const turns = vi.spyOn(small, 'prepare');

  const { prompt: sent } = await contextMiddleware(small).transformParams({ params: { prompt, maxOutputTokens: 100 } });

  expect(sent.filter(({ role }) => role === 'system')).toEqual([style, policy]);
  expect(sent.slice(0, 2)).toEqual([style, policy]);
  expect(JSON.stringify(sent.slice(2))).not.toContain('discount.');
  const turn: PreparedTurn = await turns.mock.results[0]?.value;
  expect(turn.instructions).toBe(`${style.content}\n\n${policy.content}`);
  expect(turn.report.tokens.instructions).toBeGreaterThan(8);
});
