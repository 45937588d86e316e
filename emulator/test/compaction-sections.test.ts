import { describe, expect, test } from 'vitest';
import { labelledChats, sectionScores } from '../scripts/quality/sections.js';
import { classify } from '../src/context/compaction/cues.js';
import { LanguageLoader } from '../src/text/language.js';

const language = await new LanguageLoader().load();

describe('on chats that no rule was tuned on', () => {
  const scores = new Map(
    sectionScores(labelledChats('held-out'), language).map((score) => [score.section, score] as const),
  );

  test.each(['decisions', 'requirements'])(
    '%s have a precision of at least 0.7 and a recall of at least 0.5',
    (section) => {
      const { labelled = 0, found = 0, right = 0 } = scores.get(section) ?? {};

      expect(labelled).toBeGreaterThan(10);
      expect(right / found).toBeGreaterThanOrEqual(0.7);
      expect(right / labelled).toBeGreaterThanOrEqual(0.5);
    },
  );

  test('every section has a precision of at least 0.5', () => {
    for (const { found, right } of scores.values()) expect(right / found).toBeGreaterThanOrEqual(0.5);
  });
});

test.each([
  "Let's keep going!",
  "Great, let's keep it up and see where we land tomorrow.",
  "Let's take a look at the second column.",
  "Let's use an example with two lists.",
  'I must have missed the second message from the printer.',
  'There must be an easier way to peel garlic.',
  'You must be joking, that worked on the first attempt.',
  'At least the garden was dry on Sunday.',
  'That means the tests were green for the wrong reason.',
  'Rubber means we cannot use the solar cell.',
  'If we decide to use Kafka, the group needs a name.',
  'I agree with you on the second point about tables.',
  'Once you have decided, press the green button.',
])('a cue word alone assigns no section: %s', (sentence) => {
  expect(classify(sentence)).toBeUndefined();
});

test.each([
  {
    sentence: 'We decided to drop the cache because it was stale, and we use Postgres for the sessions.',
    text: 'We decided to drop the cache, and we use Postgres for the sessions.',
    reason: 'it was stale',
  },
  {
    sentence: 'We agreed on weekly releases since customers asked for them; the first one is on Tuesday.',
    text: 'We agreed on weekly releases; the first one is on Tuesday.',
    reason: 'customers asked for them',
  },
  {
    sentence: 'We decided to write Parquet because the finance team loads it directly.',
    text: 'We decided to write Parquet.',
    reason: 'the finance team loads it directly',
  },
])('a reason does not swallow the decision after it: $text', ({ sentence, text, reason }) => {
  expect(classify(sentence)).toMatchObject({ section: 'decisions', text, reason });
});
