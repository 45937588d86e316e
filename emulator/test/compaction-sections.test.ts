import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chatTalk,
  developerTalk,
  type LabelledSentence,
  ownTalk,
  type SectionScore,
  sectionScores,
  unseenTalk,
} from '../scripts/quality/sections.js';
import { CUES, classify } from '../src/context/compaction/classify.js';
import { compactable, compactSync, LEVELS, language } from './compactable.js';

test('advice of an assistant is no requirement', () => {
  expect(classify('Never store card numbers in the log files.', 'assistant')).toBeUndefined();
});

test.each(CUES)('a cue of $section is in its example: $example', ({ section, pattern, example }) => {
  expect(example).toMatch(pattern);
  expect(classify(example, 'user')?.section).toBe(section);
});

test('the page on compaction shows the first examples of each section, in the order of the cues', () => {
  const page = readFileSync(new URL('../docs/compaction.md', import.meta.url), 'utf8');
  const rows = [...new Set(CUES.map(({ section }) => section))].map((section) => {
    const examples = CUES.filter((cue) => cue.section === section).map(({ example }) => example);
    return `| \`${section}\` | ${examples.slice(0, 4).join(' · ')} |`;
  });

  expect(page).toContain(rows.join('\n'));
});

test('the meaning of a term is separated from it', () => {
  const meaning = { term: 'Manifest', text: 'the list of files with checksums' };
  expect(classify('Manifest means the list of files with checksums.', 'user')).toMatchObject(meaning);
});

describe('of sentences as developers write them', () => {
  const KINDS = ['decisions', 'requirements', 'openQuestions', 'importantReferences', 'definitions', 'goals'];
  test.each([
    { name: 'all', of: 'the tuning half', talk: developerTalk('tuning'), fewest: 40 },
    { name: 'all', of: 'the held-out half', talk: developerTalk('heldOut'), fewest: 40 },
    ...KINDS.map((name) => ({ name, of: 'unseen ones', talk: unseenTalk('developer'), fewest: 10 })),
  ])('of $of, 75 % of $name are found and 85 % of the found are right', ({ name, talk, fewest }) => {
    const { labelled, found, right } = scoreOf(name, talk);

    expect(labelled).toBeGreaterThanOrEqual(fewest);
    expect(right / labelled).toBeGreaterThanOrEqual(0.75);
    expect(right / found).toBeGreaterThanOrEqual(0.85);
  });

  test.each([
    { part: 'plain', decisions: 0.75, requirements: 0.85, wrong: 0.05 },
    { part: 'tuning', decisions: 0.6, requirements: 0.7, wrong: 0.05 },
    { part: 'unseen', decisions: 0.3, requirements: 0.45, wrong: 0.1 },
  ] as const)('of the $part ones, so much is found, and what only looks so is rarely taken', (expected) => {
    const talk = ownTalk(expected.part);
    for (const name of ['decisions', 'requirements'] as const) {
      const { labelled, found, right } = scoreOf(name, talk);
      expect(labelled).toBeGreaterThanOrEqual(50);
      expect(right / labelled, name).toBeGreaterThanOrEqual(expected[name]);
      expect(right / found, name).toBeGreaterThanOrEqual(0.85);
    }
    const others = talk.filter(({ section }) => section === 'none');
    const taken = others.filter(({ text }) => /decisions|requirements/.test(classify(text, 'user')?.section ?? ''));

    expect(taken.length / others.length).toBeLessThanOrEqual(expected.wrong);
  });

  test('private life, reports and exclamations rarely have a section', () => {
    const { found } = scoreOf('all', unseenTalk('other'));

    expect(found).toBeLessThanOrEqual(3);
  });

  test.each([
    ['decisions', 0.85],
    ['requirements', 0.85],
    ['openQuestions', 0.7],
  ])('in chats, most of what is found as %s is right', (name, least) => {
    const { found, right } = scoreOf(name, chatTalk());

    expect(found).toBeGreaterThanOrEqual(10);
    expect(right / found).toBeGreaterThanOrEqual(least);
  });
});

function scoreOf(name: string, sentences: readonly LabelledSentence[]): SectionScore {
  const score = sectionScores(sentences, language).find(({ section }) => section === name);
  if (score === undefined) throw new Error(`no section is called ${name}`);
  return score;
}

/** A word that stands for a number, so that no two statements are alike. */
const word = (i: number) => `k${[...i.toString(6)].map((digit) => 'arelit'[Number(digit)]).join('')}n`;
const STATEMENTS = [
  (i: number) => `We decided to paint boat ${word(i)} in the colour ${word(i + 500)}.`,
  (i: number) => `The gate ${word(i)} must carry at least ${100 + i} visitors of ${word(i + 500)}.`,
  (i: number) => `Our goal is to open pier ${word(i)} for ${word(i + 500)}.`,
];
const TALK = (i: number) =>
  `We stood at gate ${word(i)} all morning, and the crew told us about the storm, the harbour and ${word(i + 500)}. `;

test.each(LEVELS)('plain talk outranks no decision, requirement or goal at the %s level', (level) => {
  const talks = fc.array(fc.constantFrom(...STATEMENTS, TALK, TALK, TALK), { minLength: 5, maxLength: 80 });
  fc.assert(
    fc.property(talks, fc.integer({ min: 1, max: 4 }), (kinds, length) => {
      const contents = kinds.map((kind, i) => (kind === TALK ? TALK(i).repeat(length) : kind(i)));
      const messages = compactable(contents);

      const { items, folded } = compactSync(messages, level);

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
});

test.each([
  ['decisions', 'Let us go with weekly releases.'],
  ['decisions', "We'll use banana yellow for the case."],
  ['decisions', 'The setup could take days, so we decided to run the jobs on two servers.'],
  ['decisions', 'Two formats would cost too much time, so we chose to support only the new one.'],
  ['requirements', 'The old client must not be started, and we must not overwrite its files.'],
])('finds %s in: %s', (section, sentence) => {
  expect(classify(sentence, 'user')?.section).toBe(section);
});

test.each([
  "Let's keep going!",
  'We decided.',
  'You know what I mean?',
  "It's nice, isn't it?",
  'And then we have to',
  "Let's keep it as an open question.",
  'That is still to be decided.',
  'Ten minutes is short for our older customers.',
  'We use it, you know, when we,',
  'The mean should be the same for both.',
  'Customers cannot log in since the update.',
  'They agreed to pay for the new windows.',
  'There must be an easier way to peel garlic.',
  'You must be joking, that worked on the first attempt.',
  'At least the garden was dry on Sunday.',
  'That means the tests were green for the wrong reason.',
  'If we decide to use Kafka, the group needs a name.',
  'I agree with you on the second point about tables.',
  'Once you have decided, press the green button.',
  "Let's move to the next slide.",
  'The tests must have failed for another reason.',
  'We went for a walk in the park.',
  'We picked up the kids at four.',
  'I thought we are going with rubber for the case.',
  'We must stand united.',
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
])('a reason does not swallow the decision after it: $text', ({ sentence, text, reason }) => {
  expect(classify(sentence, 'user')).toMatchObject({ section: 'decisions', text, reason });
});
