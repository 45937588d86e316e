import { memoryStore } from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { chatWorld, user } from './world.js';

const searched = async (texts: readonly string[], limit = 5) => {
  const chatter = Array.from({ length: 200 }, (_, i) => `Remark ${i} about the weather.`);
  const store = memoryStore({ talk: [...chatter, ...texts].map((text, at) => user(text, `m${at}`)) });
  return chatWorld().open({ context: undefined, store }).search('pier lamp', { limit });
};

test('shows a sentence that was said twelve times once, with how often', async () => {
  const again = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 'The pier lamp is red.' : 'the pier lamp is RED!'));

  const found = await searched([...again, 'The lamp of the pier gets a new bulb in May.']);

  expect(found.map(({ text, repeated }) => [text, repeated])).toEqual([
    [expect.stringMatching(/red/i), 11],
    ['The lamp of the pier gets a new bulb in May.', undefined],
  ]);
});

test('messages that differ only in numbers follow the others, and are all there', async () => {
  const states = Array.from({ length: 8 }, (_, i) => `Pier lamp: ${i} hours of light.`);

  const found = await searched(
    [...states, 'We chose the lamp for the pier because it is cheap, and because it is red.'],
    9,
  );

  expect(found.map(({ text }) => text).slice(0, 2)).toContain(
    'We chose the lamp for the pier because it is cheap, and because it is red.',
  );
  expect(found).toHaveLength(9);
});
