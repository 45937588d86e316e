import { expect, test } from 'vitest';
import { atLength } from '../../test/helpers/endurance.js';
import { extractiveReply } from '../src/completions/responder.js';
import { language } from './compactable.js';
import { callsTo, PROJECT_TALK, testEmulator } from './support.js';

/** CPU time of the process, in ms. */
function costOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  return process.cpuUsage(began).user / 1_000;
}

test('the tokens of a very long word are counted in less than 3 s of CPU time', () => {
  const cost = costOf(() => {
    for (const unit of ['a', ' ', '=', '𒀀', '한']) language.tokenPieces(unit.repeat(50_000));
  });

  expect(cost).toBeLessThan(3_000);
});

test('a reply from a full context window takes less than 5 s of CPU time', () => {
  const facts = Array.from({ length: 12_000 }, (_, i) => `Fact ${i} is that number ${i * 7} is in group ${i % 13}.`);
  const messages = [
    { role: 'system', content: facts.join(' ') },
    { role: 'user', content: 'Which group is number 700 in?' },
  ] as const;
  extractiveReply(messages, language); // warm
  let said = '';
  const cost = costOf(() => {
    said = extractiveReply(messages, language);
  });

  expect(said).toContain('number 700 is in group');
  expect(cost).toBeLessThan(5_000);
});

test('long text that is not prose is compacted in less than 10 s of CPU time', async () => {
  const units = ['-', ',', ', ', '?', '?"', '.', ' ', 'a ', 'and ', 'the the ', 'a, ', 'w ', '`', '/', 'a/', '#1', 'é'];
  const ends = ['x', '', ' x.'].slice(0, atLength(1, 3));
  const length = atLength(10_000, 30_000);
  const texts = units.flatMap((unit) => ends.map((end) => unit.repeat(length / unit.length) + end));
  const emulator = testEmulator({ limits: { compact: 1_000 } });
  const { context } = callsTo(emulator);
  const began = process.cpuUsage();

  for (const [n, content] of texts.entries()) {
    for (const level of ['light', 'deep', 'aggressive']) {
      const conversationId = `${n}-${level}`;
      emulator.conversations.create({
        id: conversationId,
        messages: [{ role: 'user', content }, ...PROJECT_TALK],
      });
      expect((await context('POST', '/api/context/compact', { conversationId, level })).status).toBe(200);
    }
  }

  expect(process.cpuUsage(began).user).toBeLessThan(10_000_000);
  await emulator.close();
});
