import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sectionScores, writtenSentences } from '../scripts/quality/sections.js';
import { runSync } from '../src/base/slices.js';
import { extract } from '../src/context/compaction/candidates.js';
import { compact } from '../src/context/compaction/compact.js';
import { CONSTRUCTIONS } from '../src/context/compaction/constructions.js';
import { classify } from '../src/context/compaction/cues.js';
import { LanguageLoader } from '../src/text/language.js';

const language = await new LanguageLoader().load();

test('advice of an assistant is no requirement', () => {
  expect(classify('Never store card numbers in the log files.', 'assistant')).toBeUndefined();
});

describe('on 200 sentences written for this test', () => {
  const scores = new Map(sectionScores(writtenSentences(), language).map((score) => [score.section, score] as const));

  test.each(['decisions', 'requirements'])(
    '%s have a precision of at least 0.9 and a recall of at least 0.5',
    (section) => {
      const { labelled = 0, found = 0, right = 0 } = scores.get(section) ?? {};

      expect(labelled).toBeGreaterThan(20);
      expect(right / found).toBeGreaterThanOrEqual(0.9);
      expect(right / labelled).toBeGreaterThanOrEqual(0.5);
    },
  );

  test('every section has a precision of at least 0.8', () => {
    for (const { found, right } of scores.values()) expect(right / found).toBeGreaterThanOrEqual(0.8);
  });
});

/** For each construction, in its order, a sentence that no other recognises first. */
const EXAMPLES = [
  ['openQuestions', "We haven't decided on the colour of the case."],
  ['decisions', 'The team agreed to freeze the API in May.'],
  ['decisions', 'We picked Redis.'],
  ['decisions', 'Decision: the ledger stays in Frankfurt.'],
  ['decisions', 'We are going with Vue.'],
  ['decisions', "Let's use Postgres for the job table."],
  ['decisions', 'We no longer send reminders by SMS.'],
  ['requirements', 'The import must finish within ten minutes.'],
  ['requirements', 'You must not store card numbers.'],
  ['requirements', 'The API has to be backwards compatible.'],
  ['requirements', 'The tone should be friendly but never jokey.'],
  ['requirements', 'Uploads are limited to 25 MB.'],
  ['requirements', 'The budget is 12,000 euros.'],
  ['requirements', 'Never store card numbers in the log files.'],
  ['goals', 'Our goal is to ship the remote control in spring.'],
  ['goals', 'We want to halve the number of support mails.'],
  ['currentPlan', 'Next step: write the migration for the ledger.'],
] as const;

test.each(EXAMPLES)('%s are recognised by their construction: %s', (section, sentence) => {
  expect(classify(sentence, 'user')?.section).toBe(section);
});

test('every construction has an example', () => {
  const firsts = EXAMPLES.map(([, sentence]) => CONSTRUCTIONS.findIndex(({ pattern }) => pattern.test(sentence)));

  expect(firsts).toEqual(CONSTRUCTIONS.map((_, at) => at));
});

/** A word that stands for a number, so that no two statements are alike. */
const word = (i: number) => `k${[...i.toString(6)].map((digit) => 'arelit'[Number(digit)]).join('')}n`;
const STATEMENTS = [
  (i: number) => `We decided to paint boat ${word(i)} in the colour ${word(i + 500)}.`,
  (i: number) => `The gate ${word(i)} must carry at least ${100 + i} visitors of ${word(i + 500)}.`,
  (i: number) => `Our goal is to open pier ${word(i)} for ${word(i + 500)}.`,
];
const TALK = (i: number) =>
  `We stood at gate ${word(i)} all morning, and the crew told us about the storm, the harbour and ${word(i + 500)}. `;

test.each(['light', 'deep', 'aggressive'] as const)(
  'plain talk outranks no decision, requirement or goal at the %s level',
  (level) => {
    const talks = fc.array(fc.oneof(fc.constantFrom(...STATEMENTS), fc.constant(TALK)), {
      minLength: 5,
      maxLength: 80,
    });
    fc.assert(
      fc.property(talks, fc.integer({ min: 1, max: 4 }), (kinds, length) => {
        const contents = kinds.map((kind, i) => (kind === TALK ? TALK(i).repeat(length) : kind(i)));
        const messages = contents.map((content, i) => {
          const source = { id: `m${i}`, role: i % 2 === 0 ? 'user' : 'assistant', content, createdAt: '' };
          const extraction = runSync(extract(source, { split: language.sentences, countTokens: language.countTokens }));
          const tokens = language.countTokens(content) + 4;
          return {
            role: source.role,
            tokens,
            live: true,
            pinned: false,
            summarized: false,
            extraction: () => extraction,
          };
        });

        const { items, folded } = runSync(
          compact(messages, level, { folded: 0, items: [], budget: 0 }, language.countingTokens),
        );

        const isStated = ({ section }: { section: string }) => /decisions|requirements|goals/.test(section);
        const stated = messages.slice(0, folded).flatMap(({ extraction }) =>
          extraction()
            .candidates.map(({ item }) => item)
            .filter(isStated),
        );
        expect(stated).toHaveLength(kinds.slice(0, folded).filter((kind) => kind !== TALK).length);
        const kept = new Set(items.filter(isStated).map(({ text }) => text));
        const missing = stated.filter(({ text }) => !kept.has(text)).map(({ tokens }) => tokens);
        const plain = items.filter((item) => !isStated(item)).reduce((sum, { tokens }) => sum + tokens, 0);
        // What is missing would not fit in the place of all the talk that was kept.
        for (const tokens of missing) expect(plain).toBeLessThan(tokens);
      }),
      { numRuns: 60 },
    );
  },
);

test.each([
  ['decisions', 'The setup could take days, so we decided to run the jobs on two servers.'],
  ['decisions', 'Two formats would cost too much time, so we chose to support only the new one.'],
  ['requirements', 'The old client must not be started, and we must not overwrite its files.'],
])('words about one clause do not change the next, %s: %s', (section, sentence) => {
  expect(classify(sentence, 'user')?.section).toBe(section);
});

test.each([
  "Let's keep going!",
  "Great, let's keep it up and see where we land tomorrow.",
  "Let's take a look at the second column.",
  "Let's use an example with two lists.",
  'It should be at the top.',
  'The script should work now.',
  'The mean should be the same for both.',
  'Customers cannot log in since the update.',
  'They agreed to pay for the new windows.',
  'I must have missed the second message from the printer.',
  'There must be an easier way to peel garlic.',
  'You must be joking, that worked on the first attempt.',
  'At least the garden was dry on Sunday.',
  'That means the tests were green for the wrong reason.',
  'Rubber means we cannot use the solar cell.',
  'If we decide to use Kafka, the group needs a name.',
  'I agree with you on the second point about tables.',
  'Once you have decided, press the green button.',
  'Always here to help!',
  "Let's move to the next slide.",
  'It must be the printer again.',
  'That must be hard for you.',
  'The weather must be lovely there.',
  'The tests must have failed for another reason.',
  'We went for a walk in the park.',
  'We picked up the kids at four.',
  'We are going with our kids to the zoo.',
  "I'll keep your words in mind.",
  'I thought we are going with rubber for the case.',
  'We must stand united.',
  'The government must take responsibility for these delays.',
  'Never give up on your dreams!',
  "We mustn't give up, we must keep trying.",
  'These are things that we must not do.',
  'It should be fine by tomorrow.',
])('a cue word alone assigns no section: %s', (sentence) => {
  expect(classify(sentence, 'user')).toBeUndefined();
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
  expect(classify(sentence, 'user')).toMatchObject({ section: 'decisions', text, reason });
});
