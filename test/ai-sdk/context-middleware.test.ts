import * as ai from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { ChatMessage } from 'context-gateway';
import { contextMiddleware } from 'context-gateway/ai-sdk';
import type { Conversation } from 'context-gateway/conversation';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { failureOf } from '../helpers/service.js';
import { emulatedService } from '../helpers/world.js';
import { majors } from './majors.js';

const service = emulatedService({});
const background = { role: 'user', content: 'Background: the key is red.' };

/** The methods that the middleware calls. The real conversation has its own tests. */
const contextMessage = vi.fn<Conversation['contextMessage']>();
const compactWhenDue = vi.fn<Conversation['compactWhenDue']>();
const conversation = { contextMessage, compactWhenDue };
beforeEach(() => {
  contextMessage.mockReset().mockResolvedValue(background);
  compactWhenDue.mockReset();
});

const sentMessages = (): ChatMessage[] => JSON.parse(service.last.body ?? '').messages;

describe.each(majors)('$name', ({ ai, createProvider }) => {
  const model = () =>
    ai.wrapLanguageModel({
      model: createProvider(service.gateway())('atlas-small'),
      middleware: contextMiddleware(conversation),
    });
  const prompt = 'What is red?';

  test('inserts the context for the last question right after the instructions', async () => {
    const messages = [
      { role: 'assistant' as const, content: 'Hello!' },
      { role: 'user' as const, content: 'Hello.' },
      { role: 'user' as const, content: prompt },
    ];
    const abortSignal = new AbortController().signal;
    const { text } = await ai.generateText({ model: model(), system: 'Be short.', messages, abortSignal });

    expect(text).toBe('Background: the key is red.');
    expect(sentMessages()).toEqual([{ role: 'system', content: 'Be short.' }, background, ...messages]);
    expect(contextMessage).toHaveBeenCalledExactlyOnceWith(prompt, { signal: expect.any(AbortSignal) });
  });

  test('inserts the context first if there are no instructions', async () => {
    await ai.generateText({ model: model(), prompt });

    expect(sentMessages()).toEqual([background, { role: 'user', content: prompt }]);
  });

  test('appends the context to the instructions if it is a system message', async () => {
    contextMessage.mockResolvedValue({ ...background, role: 'system' });
    await ai.generateText({ model: model(), system: 'Be short.', prompt });

    expect(sentMessages()).toEqual([
      { role: 'system', content: `Be short.\n\n${background.content}` },
      { role: 'user', content: prompt },
    ]);
  });

  test('sends the messages unchanged if there is no context', async () => {
    contextMessage.mockResolvedValue(undefined);
    await ai.generateText({ model: model(), prompt });

    expect(sentMessages()).toEqual([{ role: 'user', content: prompt }]);
  });

  test('fails the call if contextMessage() rejects', async () => {
    contextMessage.mockRejectedValue(new Error('No context.'));

    expect(await failureOf(ai.generateText({ model: model(), prompt }))).toHaveProperty('message', 'No context.');
    expect(service.emulator.requests).toEqual([]);
  });

  test('calls compactWhenDue() after a plain reply', async () => {
    compactWhenDue.mockImplementation(() => expect(service.emulator.requests).toHaveLength(1));
    await ai.generateText({ model: model(), prompt });

    expect(compactWhenDue).toHaveBeenCalledTimes(1);
  });

  test('calls compactWhenDue() when a streamed reply is complete', async () => {
    const result = ai.streamText({ model: model(), prompt });
    for await (const _ of result.textStream) expect(compactWhenDue).not.toHaveBeenCalled();

    expect(compactWhenDue).toHaveBeenCalledTimes(1);
  });

  test('calls compactWhenDue() when a reply breaks off', async () => {
    const headers = { 'x-emulator-fault': 'error=3' };
    await ai.streamText({ model: model(), prompt, headers, onError: () => {} }).consumeStream();

    expect(compactWhenDue).toHaveBeenCalledTimes(1);
  });

  test('calls compactWhenDue() when the reader cancels, and ends the request', async () => {
    const headers = { 'x-emulator-fault': 'cut=3:stall' };
    const options = {
      prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] }],
      headers,
    };
    const { stream } = await model().doStream(options);
    const reader = stream.getReader();
    for (let type = ''; type !== 'text-delta'; ) type = (await reader.read()).value?.type ?? 'text-delta';
    await reader.cancel();

    expect(compactWhenDue).toHaveBeenCalledTimes(1);
    await vi.waitFor(() => expect(service.last.outcome).toBe('aborted'), { timeout: 30_000 });
  });

  test('does not call compactWhenDue() if the request fails', async () => {
    const headers = { 'x-emulator-fault': '503' };
    await ai.streamText({ model: model(), prompt, headers, maxRetries: 0, onError: () => {} }).consumeStream();

    expect(compactWhenDue).not.toHaveBeenCalled();
  });
});

describe('the middleware with a model of another provider', () => {
  const usage = {
    inputTokens: { total: 5, noCache: 5, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 7, text: 7, reasoning: 0 },
  };
  const call = { type: 'tool-call' as const, toolCallId: 't1', toolName: 'look', input: '{}' };
  const finish = {
    stop: { unified: 'stop', raw: 'stop' },
    tools: { unified: 'tool-calls', raw: 'tool_calls' },
  } as const;

  test('inserts the context for the question of the user into every step of a turn with tools', async () => {
    const inner = new MockLanguageModelV4({
      doGenerate: [
        { content: [{ type: 'text', text: 'Let me look.' }, call], finishReason: finish.tools, usage, warnings: [] },
        { content: [{ type: 'text', text: 'It is red.' }], finishReason: finish.stop, usage, warnings: [] },
      ],
    });
    const model = ai.wrapLanguageModel({ model: inner, middleware: contextMiddleware(conversation) });
    const look = ai.tool({ inputSchema: ai.jsonSchema({ type: 'object' }), execute: () => 'red' });

    await ai.generateText({ model, prompt: 'What is red?', tools: { look }, stopWhen: ai.stepCountIs(2) });

    expect(contextMessage.mock.calls.map(([question]) => question)).toEqual(['What is red?', 'What is red?']);
  });
});
