import * as ai from 'ai';
import { contextMiddleware, createAiSdkProvider } from 'context-gateway/ai-sdk';
import { createConversation, memoryStore } from 'context-gateway/conversation';
import { beforeEach, expect, test } from 'vitest';
import { emulatedService } from '../helpers/world.js';

const service = emulatedService({});
beforeEach(() => {
  const messages = Array.from({ length: 40 }, (_, n) => ({
    role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content:
      n === 4 ? 'We decided to write the export as Parquet.' : `Message ${n} is about the weather in the harbour town.`,
  }));
  service.emulator.conversations.create({ id: 'conv_1', messages });
});

const conversationOf = (more: object = {}) =>
  createConversation({
    context: service.context(),
    gateway: service.gateway(),
    conversationId: 'conv_1',
    model: 'atlas-small',
    ...more,
  });
const modelWith = (conversation: Parameters<typeof contextMiddleware>[0]) =>
  ai.wrapLanguageModel({
    model: createAiSdkProvider(service.gateway(), { specification: 'v4' })('atlas-small'),
    middleware: contextMiddleware(conversation),
  });
const prompt = 'What did we decide to write?';

test('a model uses the context of a conversation, which stores no messages of its own', async () => {
  await service.context().compact('conv_1', { level: 'aggressive' });
  const store = memoryStore();
  const conversation = conversationOf({ store });

  const { text } = await ai.generateText({ model: modelWith(conversation), instructions: 'Be short.', prompt });
  await conversation.idle();

  expect(text).toContain('Parquet');
  expect(await store.load('conv_1')).toMatchObject({ messages: [] });
  conversation.close();
});

test('a conversation that is too long is compacted after the reply', async () => {
  const conversation = conversationOf({ contextWindow: 200, compaction: true });

  await ai.streamText({ model: modelWith(conversation), prompt }).consumeStream();
  await conversation.idle();

  const paths = service.emulator.requests.map(({ path }) => path);
  expect(paths.indexOf('/api/context/compact')).toBeGreaterThan(paths.indexOf('/v1/chat/completions'));
  conversation.close();
});

test('streamText accepts the instructions and messages of a prepared turn, which stores its reply', async () => {
  await service.context().compact('conv_1', { level: 'aggressive' });
  const store = memoryStore();
  const conversation = conversationOf({ instructions: 'Be short.', store });
  const model = createAiSdkProvider(service.gateway(), { specification: 'v4' })('atlas-small');

  const turn = await conversation.prepare(prompt);
  const { instructions = '', messages } = turn;
  const result = ai.streamText({ model, instructions, messages });
  const text = await result.text;
  await turn.finish(text);

  expect(text).toContain('Parquet');
  const { body } = service.emulator.requests.findLast(({ path }) => path === '/v1/chat/completions') ?? {};
  expect(JSON.parse(body ?? '').messages).toEqual(turn.prompt);
  expect(await store.load('conv_1')).toMatchObject({
    messages: [{ content: prompt }, { id: turn.replyId, content: text }],
  });
  conversation.close();
});

test("a model gets what the app's own older messages say about the question, and a tool's call with its result", async () => {
  const conversation = conversationOf({ context: undefined, conversationId: 'elsewhere', contextWindow: 1_000 });
  const call = { type: 'tool-call' as const, toolCallId: 't1', toolName: 'look', input: { at: 'the tide' } };
  const output = { type: 'text' as const, value: 'low' };
  const result = { type: 'tool-result' as const, toolCallId: 't1', toolName: 'look', output };
  const messages: ai.ModelMessage[] = [
    { role: 'user', content: 'The pier gets a red lamp.' },
    { role: 'assistant', content: 'Noted.' },
    ...Array.from({ length: 120 }, (_, n): ai.ModelMessage[] => [
      { role: 'user', content: `Question ${n} about the weather.` },
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [result] },
      { role: 'assistant', content: 'The tide is low.' },
    ]).flat(),
    { role: 'user', content: 'Which lamp does the pier get?' },
  ];

  await ai.generateText({ model: modelWith(conversation), messages });

  const sent: { role: string; content: string }[] = JSON.parse(service.last.body ?? '').messages;
  expect(sent.length).toBeLessThan(40);
  expect(sent.at(-2)?.content).toContain('The pier gets a red lamp.');
  const roles = sent.slice(0, -2).map(({ role }) => role);
  expect(roles.join(' ')).toMatch(/^(?:user assistant tool assistant ?)+$/);
});

test('older messages that are in no prompt and in no summary are an error for onError, once', async () => {
  const errors: unknown[] = [];
  const settings = { contextWindow: 1_000, onError: (error: unknown) => errors.push(error) };
  const open = () => modelWith(conversationOf(settings));
  const messages: ai.ModelMessage[] = Array.from({ length: 200 }, (_, n) => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: `Remark ${n} on the weather in the harbour town, which was grey.`,
  }));
  messages.push({ role: 'user', content: prompt });

  const model = open();
  await ai.generateText({ model, messages: messages.slice(-5) });
  expect(errors).toEqual([]); // all messages fit
  for (const _ of ['once', 'twice']) await ai.generateText({ model, messages });
  expect(errors).toMatchObject([
    { name: 'ConfigurationError', message: expect.stringMatching(/^\d+ older messages were left out/) },
  ]);

  await service.context().compact('conv_1', { level: 'aggressive' });
  await ai.generateText({ model: open(), messages });
  expect(errors).toHaveLength(1); // a summary has them
});
