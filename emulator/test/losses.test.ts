import { describe, expect, test } from 'vitest';
import { readTranscript } from '../inspector/conversations/transcript.js';
import type { Emulator, InspectedConversation } from '../src/index.js';
import { callsTo, TRANSCRIPT, testEmulator } from './support.js';

const begun = (): Emulator => {
  const emulator = testEmulator();
  emulator.conversations.create({ id: 'talk', messages: readTranscript(TRANSCRIPT) });
  return emulator;
};
const look = async (emulator: Emulator): Promise<InspectedConversation> =>
  (await emulator.inspect('talk')) as InspectedConversation;

describe('the losses of a compaction', () => {
  test('are decisions and requirements that the context no longer contains, each with its message', async () => {
    const emulator = begun();
    const before = await look(emulator);
    expect(before.lost).toEqual([]);
    await emulator.compact('talk', 'aggressive');
    const after = await look(emulator);

    const losses = after.lost;

    expect(losses.length).toBeGreaterThan(2);
    const context = JSON.stringify(after.rollingSummary);
    for (const { text, messageId } of losses) {
      expect(context).not.toContain(text);
      expect(before.messages.find(({ id }) => id === messageId)?.content).toContain(text.replace(/\.$/, ''));
    }
    expect(after.receipt?.lost).toEqual(losses);
  });

  test('return with a pin, and are not lost again in the next compaction', async () => {
    const emulator = begun();
    await emulator.compact('talk', 'aggressive');
    const [loss] = (await look(emulator)).lost;
    await callsTo(emulator).context('POST', '/api/context/pin/talk', { messageId: loss?.messageId });

    expect((await look(emulator)).lost).not.toContainEqual(loss);
    await emulator.compact('talk', 'aggressive');
    expect((await look(emulator)).receipt?.lost).not.toContainEqual(loss);
  });

  test('do not include excluded messages', async () => {
    const emulator = begun();
    await emulator.compact('talk', 'aggressive');
    const [loss] = (await look(emulator)).lost;
    await callsTo(emulator).context('PATCH', `/api/context/exclude/talk/${loss?.messageId}`, { exclude: true });

    const { lost, statements, messages } = await look(emulator);
    expect(lost.map(({ text }) => text)).not.toContain(loss?.text);
    await emulator.compact('talk', 'aggressive');
    const live = messages.length - 1;
    expect((await look(emulator)).receipt).toMatchObject({ recognised: statements.length, messages: { live } });
  });
});
