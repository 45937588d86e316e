import type { UIMessage } from 'ai';
import { type GatewayClient, toErrorData, tool } from 'context-gateway';
import { searchTool, turnToUIMessageStream } from 'context-gateway/ai-sdk';
import { createConversation, memoryStore } from 'context-gateway/conversation';
import { describe, expect, test } from 'vitest';
import { emulatedService } from '../helpers/world.js';
import { majors } from './majors.js';

const service = emulatedService({});
const history = [
  { role: 'user', content: 'The pier gets a red lamp.', id: 'lamp', createdAt: '2026-05-03T09:00:00Z' },
  ...Array.from({ length: 60 }, (_, i) => ({ role: 'user', content: `Remark number ${i} about the weather at sea.` })),
];
const conversationOf = (gateway: GatewayClient, more: object = {}) => {
  const store = memoryStore({ talk: history });
  const options = { gateway, model: 'atlas-small', conversationId: 'talk', contextWindow: 800, store, ...more };
  return { store, conversation: createConversation(options) };
};

describe.each(majors)('$name', ({ ai }) => {
  /** The message that `useChat` shows, through the response and the transport of the AI SDK, and the error it reports. */
  async function shown(stream: ReturnType<typeof turnToUIMessageStream>) {
    const transport = new ai.DefaultChatTransport({
      api: 'https://app.test/chat',
      fetch: async () => ai.createUIMessageStreamResponse({ stream }),
    });
    const chunks = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: 'talk',
      messageId: undefined,
      messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Which lamp?' }] }],
      abortSignal: undefined,
    });
    let message: Pick<UIMessage, 'id' | 'parts' | 'metadata'> | undefined;
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    for await (const one of ai.readUIMessageStream({ stream: chunks, onError })) message = one;
    return { message, errors };
  }

  test('a reply reaches useChat, with what was recalled and the turn as metadata', async () => {
    service.emulator.chat.on('lamp', 'A red one.');
    const { conversation, store } = conversationOf(service.gateway());

    const reply = conversation.stream('Which lamp does the pier get?');
    const { message, errors } = await shown(turnToUIMessageStream(reply));

    expect(errors).toEqual([]);
    expect(message).toMatchObject({
      id: reply.id,
      parts: [
        { type: 'data-recalled', data: expect.arrayContaining([expect.objectContaining({ id: 'lamp' })]) },
        { type: 'text', text: 'A red one.' },
      ],
      metadata: {
        stopped: false,
        messages: [
          { role: 'user' },
          { id: reply.id, recalled: expect.arrayContaining([{ id: 'lamp', score: 1, match: 'words' }]) },
        ],
        report: { budget: expect.any(Number) },
      },
    });
    expect((await store.load('talk'))?.messages).toHaveLength(history.length + 2);
  });

  const tide = tool({ name: 'tide', execute: ({ harbour }) => ({ harbour, high: '12:00' }) });
  const ask = tool({ name: 'ask' });
  const calling = (name: string, id: string) => ({
    id,
    function: { name, arguments: { harbour: 'Bergen' } },
  });

  test.each([true, false])(
    'calls and their results are parts of the message (results shown: %s)',
    async (showResults) => {
      service.emulator.chat.on('When', 'At noon.');
      service.emulator.chat.on('When', { content: 'I look.', tool_calls: [calling('tide', 'a')] });
      const { conversation } = conversationOf(service.gateway(), { tools: [tide] });

      const { message, errors } = await shown(turnToUIMessageStream(conversation.stream('When?'), { showResults }));

      expect(errors).toEqual([]);
      const input = showResults ? { harbour: 'Bergen' } : {};
      const output = showResults ? { harbour: 'Bergen', high: '12:00' } : null;
      expect(message?.parts.filter(({ type }) => type !== 'data-recalled')).toMatchObject([
        { type: 'text', text: 'I look.' },
        { type: 'dynamic-tool', toolName: 'tide', toolCallId: 'a', state: 'output-available', input, output },
        { type: 'step-start' },
        { type: 'text', text: 'At noon.' },
      ]);
      expect(JSON.stringify(message?.metadata).includes('12:00')).toBe(showResults);
    },
  );

  test('a call that waits has its arguments, so that the page can answer it', async () => {
    service.emulator.chat.on('May I', { tool_calls: [calling('ask', 'b')] });
    const { conversation } = conversationOf(service.gateway(), { tools: [ask] });

    const { message } = await shown(turnToUIMessageStream(conversation.stream('May I?')));

    expect(message?.parts.at(-1)).toMatchObject({
      ...{ type: 'dynamic-tool', toolCallId: 'b', state: 'input-available', input: { harbour: 'Bergen' } },
    });
  });

  test('a 429 reaches the page with its wait', async () => {
    service.emulator.faults.add({
      match: { path: '/v1/chat/completions' },
      respond: { status: 429, message: 'Slow down.', headers: { 'retry-after': '7' } },
    });
    const { conversation } = conversationOf(service.gateway({ pacing: false }));
    const onError = (error: unknown) => JSON.stringify(toErrorData(error));

    const { errors } = await shown(turnToUIMessageStream(conversation.stream('Which lamp?'), { onError }));

    const shownError = JSON.parse((errors[0] as Error).message);
    expect(shownError).toMatchObject({ status: 429, message: 'Slow down.', retryAfter: 7_000 });
  });

  test('a page that leaves stops the reply', async () => {
    service.emulator.chat.on('story', 'Once upon a time there was a lighthouse. '.repeat(50));
    const { conversation, store } = conversationOf(service.gateway());

    const reader = turnToUIMessageStream(conversation.stream('Tell me a story.')).getReader();
    for (let type = ''; type !== 'text-delta'; type = (await reader.read()).value?.type ?? '');
    await reader.cancel();

    await expect
      .poll(async () => (await store.load('talk'))?.messages.at(-1))
      .toMatchObject({ role: 'assistant', stopped: true });
  });

  test('a reply that is stopped by its signal ends without an error, and a page that comes back has it from its start', async () => {
    service.emulator.chat.on('story', 'Once upon a time there was a lighthouse. '.repeat(50));
    const { conversation } = conversationOf(service.gateway());
    const stop = new AbortController();
    const reply = conversation.stream('Tell me a story.', { background: true, signal: stop.signal });

    const reader = turnToUIMessageStream(reply).getReader();
    for (let type = ''; type !== 'text-delta'; type = (await reader.read()).value?.type ?? '');
    await reader.cancel();
    const again = shown(turnToUIMessageStream(reply));
    stop.abort();
    const { message, errors } = await again;

    expect(errors).toEqual([]);
    expect(message).toMatchObject({
      id: reply.id,
      parts: [{ type: 'text', text: expect.stringMatching(/^Once/) }],
      metadata: { stopped: true },
    });
  });

  test('the search tool gives the model the messages that match, with ids and dates', async () => {
    const { conversation } = conversationOf(service.gateway());
    const tool = searchTool(conversation, { limit: 2 });

    const { jsonSchema } = ai.asSchema(tool.inputSchema);
    const found = await tool.execute({ query: 'lamp of the pier' }, { abortSignal: new AbortController().signal });

    expect(await jsonSchema).toMatchObject({ type: 'object', properties: { query: { type: 'string' } } });
    const createdAt = '2026-05-03T09:00:00.000Z';
    expect(found[0]).toMatchObject({ id: 'lamp', createdAt, text: 'The pier gets a red lamp.' });
  });
});

test.each([
  [() => searchTool({ search: async () => [] }, { Limit: 3 } as never), 'Limit is unknown; did you mean limit?'],
  [() => searchTool({ search: async () => [] }, { limit: 0 }), 'limit must be a whole number, at least 1.'],
  [() => turnToUIMessageStream({} as never, { showresults: true } as never), 'did you mean showResults?'],
  [() => turnToUIMessageStream({} as never, { onError: 'x' } as never), 'onError must be a function.'],
])('an option that is wrong is an error that says so (%#)', (make, message) => {
  expect(make).toThrow(
    expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(message) }),
  );
});
