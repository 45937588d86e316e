import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CUES, statementIn } from '../src/context/compaction/cues.js';
import { compactable, compactSync, LEVELS } from './compactable.js';

const ALL = Object.entries(CUES).flatMap(([section, cues]) => cues.map((cue) => ({ section, cue })));

test('there are at most forty cues, and the page on compaction lists each with its section', () => {
  const page = readFileSync(new URL('../docs/compaction.md', import.meta.url), 'utf8');

  expect(ALL.length).toBeLessThanOrEqual(40);
  for (const [section, cues] of Object.entries(CUES)) {
    const shown = cues.map((cue) => (cue.startsWith('^ ') ? `${cue.slice(2)} (at the beginning)` : cue));
    expect(page).toContain(`| \`${section}\` | ${shown.join(' · ')} |`);
  }
});

test.each(ALL)('"$cue" puts a sentence into $section', ({ section, cue }) => {
  const sentence = cue.startsWith('^ ') ? `${cue.slice(2)} open the harbour gate.` : `Harbour ${cue} boat with a gate.`;

  const short = sentence.replace('we are', "we're").replace('we will', 'We’ll');

  expect(statementIn(section === 'definitions' ? sentence.replace('we mean', 'we mean a') : short)?.section).toBe(
    section,
  );
});

test.each([
  ['openQuestions', 'Which region should the replica live in?'],
  ['openQuestions', 'It is still unclear who owns the billing service.'],
  ['decisions', "Okay, so we've decided to run the jobs on two servers."],
  ['decisions', 'The committee agreed to freeze the interface in May.'],
  ['requirements', 'The old client must not be started, and its files stay as they are.'],
  ['requirements', 'Never store card numbers in the log files.'],
  ['goals', 'Our goal is to ship the remote control in spring.'],
  ['currentPlan', "I'll open a pull request for the docs tomorrow."],
])('finds %s in: %s', (section, sentence) => {
  expect(statementIn(sentence)?.section).toBe(section);
});

test.each([
  "Let's keep going!",
  'We decided.',
  'You know what I mean?',
  "It's nice, isn't it?",
  'Ten minutes is short for our older customers.',
  'There must be an easier way to peel garlic.',
  'You must be joking, that worked on the first attempt.',
  'If we decide to use Kafka, the group needs a name.',
  'Perhaps the board agreed on another day.',
  'I have decided to learn the cello.',
  'That means the tests were green for the wrong reason.',
  "Let's move to the next slide.",
  'Never give up on your dreams!',
  'We stood at the gate all morning, and the crew told us about the storm.',
])('has no section: %s', (sentence) => {
  expect(statementIn(sentence)?.section).toBeUndefined();
});

test('a definition is a term and its meaning, a decision has the reason that ends it', () => {
  expect(statementIn('By backlog we mean every issue without an owner.')).toEqual({
    section: 'definitions',
    term: 'backlog',
    text: 'every issue without an owner',
  });
  expect(statementIn('We decided to drop the cache because it was stale.')).toEqual({
    section: 'decisions',
    text: 'We decided to drop the cache.',
    reason: 'it was stale',
  });
  const twice = 'We decided to drop the cache because it was stale, and we use Postgres for the sessions.';
  expect(statementIn(twice)).toEqual({ section: 'decisions', text: twice });
});

/** The half of the sentences that was not read while the cues were chosen. */
test('of sentences as developers write them, 45 % are found, and 85 % of the found are right', () => {
  const read = (name: string) => JSON.parse(readFileSync(new URL(`data/${name}`, import.meta.url), 'utf8'));
  const talk: { text: string; section: string }[] = [
    ...read('developer-talk.json').heldOut,
    ...read('unseen-talk.json').developer,
    ...read('unseen-talk.json').other,
  ].filter(({ section }) => section !== 'importantReferences');
  const stated = talk.filter(({ section }) => section !== 'none');

  const found = talk.filter(({ text }) => statementIn(text) !== undefined);

  const right = found.filter(({ text, section }) => statementIn(text)?.section === section);
  expect(right.length / stated.length).toBeGreaterThanOrEqual(0.45);
  expect(right.length / found.length).toBeGreaterThanOrEqual(0.85);
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

test.each(LEVELS)('plain talk outranks no decision, requirement or goal at the %s level', (level) => {
  const talks = fc.array(fc.constantFrom(...STATEMENTS, TALK, TALK, TALK), { minLength: 5, maxLength: 80 });
  fc.assert(
    fc.property(talks, fc.integer({ min: 1, max: 4 }), (kinds, length) => {
      const contents = kinds.map((kind, i) => (kind === TALK ? TALK(i).repeat(length) : kind(i)));
      const messages = compactable(contents);

      const { items, folded } = compactSync(messages, level);

      const isStated = ({ section }: { section: string }) => /decisions|requirements|goals/.test(section);
      const stated = messages.slice(0, folded).flatMap(({ offers }) =>
        offers()
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
