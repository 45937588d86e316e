import { tool } from 'context-gateway';
import { type ConversationOptions, createConversation, memoryStore, textOf } from 'context-gateway/conversation';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { engines } from '../helpers/engines.js';
import { emulatedService } from '../helpers/world.js';

const weather = tool({
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string(), unit: z.enum(['celsius', 'fahrenheit']).default('celsius') }),
  execute: ({ city, unit }) => `7 degrees ${unit} in ${city}.`,
});
const tide = tool({
  name: 'tide',
  description: 'When high tide is in a harbour',
  parameters: z.object({ harbour: z.string() }),
  execute: ({ harbour }) => ({ harbour, high: '12:00' }),
});

/** An agent plays over a real socket. The emulator refuses a prompt in which a call has no result. */
describe.each(engines)('an agent through $engine', ({ options }) => {
  const world = emulatedService(options);
  const talkWith = (more: Partial<ConversationOptions> = {}) => {
    const store = memoryStore();
    const talk = createConversation({
      ...{ gateway: world.gateway(), model: 'atlas-small', conversationId: 'agent', store, tools: [weather, tide] },
      ...more,
    });
    const rolesStored = async () => (await store.load('agent'))?.messages.map(({ role }) => role).join(' ');
    return { talk, rolesStored };
  };

  test.each([true, false])(
    'needs no script: the tools that are asked for run, and the reply has their results (streamed: %s)',
    async (isStreamed) => {
      const { talk, rolesStored } = talkWith();
      const ask = async (question: string) => (isStreamed ? talk.stream(question).final() : talk.send(question));

      const both = await ask('What is the weather in Oslo, and the tide in Bergen?');
      const one = await ask('And the weather in New York, in Fahrenheit?');
      const none = await ask('The harbour opens at six. When does the harbour open?');

      expect(both.text).toBe('7 degrees celsius in Oslo.\n{"harbour":"Bergen","high":"12:00"}');
      expect(one.text).toBe('7 degrees fahrenheit in New York.');
      expect(none.text).toBe('The harbour opens at six.');
      expect(await rolesStored()).toBe(
        'user assistant tool tool assistant user assistant tool assistant user assistant',
      );
      expect(world.emulator.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    },
  );

  test('plays a script step by step, again for each question', async () => {
    const call = (name: string, args: object) => ({ tool_calls: [{ function: { name, arguments: args } }] });
    world.emulator.chat.on('sail', [
      { content: 'I look.', ...call('get_weather', { city: 'Bergen' }) },
      call('tide', { harbour: 7 }),
      call('tide', { harbour: 'Bergen' }),
      'Sail at noon.',
    ]);
    const { talk, rolesStored } = talkWith();

    const reply = talk.stream('When do we sail?');
    const parts: string[] = [];
    for await (const { type } of reply.parts()) if (type !== 'text') parts.push(type);
    const again = await talk.send('And when do we sail tomorrow?');

    expect(parts.join(' ')).toBe('call result call result call result');
    expect(reply.text).toBe('I look.\n\nSail at noon.');
    expect(again.text).toBe('Sail at noon.');
    expect(again.messages.filter(({ role }) => role === 'tool').map(textOf)).toEqual([
      '7 degrees celsius in Bergen.',
      expect.stringMatching(/^Error: the arguments do not match: harbour: /),
      '{"harbour":"Bergen","high":"12:00"}',
    ]);
    const turn = 'user assistant tool assistant tool assistant tool assistant';
    expect(await rolesStored()).toBe(`${turn} ${turn}`);
  });

  test('waits for a person, whose answer is the result', async () => {
    const { talk } = talkWith({ tools: [tool({ name: 'delete_file', description: 'Deletes a file' })] });

    const turn = await talk.send('Delete the file notes.txt');
    const next = await talk.send([
      { role: 'tool', tool_call_id: String(turn.toolCalls?.[0]?.id), content: 'Allowed, and done.' },
    ]);

    expect(turn).toMatchObject({ text: '', toolCalls: [{ function: { name: 'delete_file' } }] });
    expect(next.text).toBe('Allowed, and done.');
  });
});
