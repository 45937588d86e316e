import type { ConversationMessage } from 'context-gateway/conversation';
import { describe, expect, test } from 'vitest';
import { AT_LENGTH } from '../helpers/endurance.js';
import { alone, user } from './alone.js';
import { memory, pin, summary } from './samples.js';
import { cannedContext, chatWorld, smallTalk } from './world.js';

describe('odd text', () => {
  test('text with a lone surrogate in a pin, a stored message or a stopped reply does not fail the next turn', async () => {
    const world = chatWorld();
    cannedContext(world, {
      pins: [pin('Pinned \ud83d.', 'x')],
      summary: summary({ goals: ['A goal \udc00.'] }),
      memory: [memory('fact', 'k', 'A fact \ud800.')],
    });
    const conversation = world.open({
      history: [user('Old \ud83d message about the lamp.'), ...smallTalk(80)],
      budget: 850,
    });

    const turn = await conversation.prepare('Hello?');
    await turn.finish({ content: 'A stopped reply \ud83d', stopped: true });
    await conversation.send('What about the lamp?');

    expect(JSON.stringify(world.prompts[0])).not.toMatch(/\\ud[89ab]|\\ud[cdef]/);
  });

  test.runIf(AT_LENGTH)('text of 200,000 messages is no RangeError', async () => {
    const { recalledFor } = alone([user('The pier gets a red lamp.'), ...smallTalk(200_000)]);

    expect(await recalledFor('Which lamp does the pier get?')).toContain('red lamp');
  });

  test('text from a service that leaves out a section is no TypeError', async () => {
    const world = chatWorld();
    const context = world.context.withOptions({ validation: 'report' });
    const rollingSummary = { version: 1, goals: null, decisions: [null, 1] };
    world.answer('/api/context?', { success: true, context: { rollingSummary, metadata: {} } }, { status: 200 });

    const { report } = await world.open({ context }).send('Hello?');

    expect(report.summaryVersion).toBe(1);
  });

  test('text that the caller changes after the call is stored as it was', async () => {
    const { conversation, store } = alone([]);
    const input = [user('Before.')];

    const turn = conversation.send(input);
    (input[0] as ConversationMessage).content = 'After.';
    input.push(user('More.'));
    await turn;

    expect((await store.load('talk'))?.messages.map(({ content }) => content)[0]).toBe('Before.');
  });
});
