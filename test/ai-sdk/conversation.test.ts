import * as ai from 'ai';
import { contextMiddleware, createAiSdkProvider } from 'context-gateway/ai-sdk';
import { createConversation } from 'context-gateway/conversation';
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
const prompt = 'In which format do we write the export?';

test('a model uses the context of a conversation, which stores no messages of its own', async () => {
  await service.context().compact('conv_1', { level: 'aggressive' });
  const conversation = conversationOf();

  const { text } = await ai.generateText({ model: modelWith(conversation), instructions: 'Be short.', prompt });
  await conversation.idle();

  expect(text).toContain('Parquet');
  expect(conversation.history).toEqual([]);
  conversation.close();
});

test('a conversation that is too long is compacted after the reply', async () => {
  const conversation = conversationOf({ contextWindow: 1_000, compaction: { when: { tokens: 100 } } });

  await ai.streamText({ model: modelWith(conversation), prompt }).consumeStream();
  await conversation.idle();

  const paths = service.emulator.requests.map(({ path }) => path);
  expect(paths.indexOf('/api/context/compact')).toBeGreaterThan(paths.indexOf('/v1/chat/completions'));
  conversation.close();
});

test('streamText accepts the instructions and messages of a built prompt', async () => {
  await service.context().compact('conv_1', { level: 'aggressive' });
  const conversation = conversationOf({ instructions: 'Be short.' });
  const model = createAiSdkProvider(service.gateway(), { specification: 'v4' })('atlas-small');

  const { instructions = '', messages, chatMessages } = await conversation.buildMessages(prompt);
  const result = ai.streamText({ model, instructions, messages });

  expect(await result.text).toContain('Parquet');
  expect(JSON.parse(service.last.body ?? '').messages).toEqual(chatMessages);
  conversation.close();
});
