import { expect, test } from 'vitest';
import { extractiveReply } from '../src/completions/responder.js';
import type { ChatMessage } from '../src/upstream/model-source.js';
import { language } from './compactable.js';

const answer = (...contents: string[]) => {
  const last = contents.length - 1;
  const messages = contents.map((content, i): ChatMessage => ({ role: i === last ? 'user' : 'system', content }));
  return extractiveReply(messages, language);
};

const WHO_SPEAKS =
  'This is the built-in model of the emulator: it only quotes sentences that answer a question. For real replies, connect a model with --upstream.';

const NO_ANSWER = 'The context does not contain that: no sentence has the rarest word of the question.';

test.each([
  {
    because: 'the sentence with the most rare words of the question wins',
    contents: ['The team is in Graz. The budget is 12 euros. The team likes lunch.', 'What is the budget of the team?'],
    says: 'The budget is 12 euros.',
  },
  {
    because: 'the last question counts',
    contents: ['The case is yellow. The battery lasts a year.', 'What about the case? How long does the battery last?'],
    says: 'The battery lasts a year.',
  },
  {
    because: 'list markers are removed',
    contents: ['Decisions:\n- We keep invoices in PostgreSQL.\n- Lunch is at noon.', 'Where do we keep invoices?'],
    says: 'We keep invoices in PostgreSQL.',
  },
  {
    because: 'the speakers of recalled messages are removed, and other brackets are not',
    contents: [
      '[3 May 2026, user] We keep invoices in PostgreSQL.\n[Ana] Invoices are sent on Fridays.\n[x] Invoices are free.',
      'What about invoices?',
    ],
    says: 'We keep invoices in PostgreSQL. Invoices are sent on Fridays. [x] Invoices are free.',
  },
  {
    because: 'a question does not answer a question',
    contents: ['Which colour has the case? The case has a yellow colour.', 'Which colour has the case?'],
    says: 'The case has a yellow colour.',
  },
  { because: 'no sentence matches', contents: ['The case is yellow.', 'Who won?'], says: NO_ANSWER },
  {
    because: 'headings and tags are not sentences',
    contents: ['<context-1>\nDecisions\n- We keep invoices in PostgreSQL.\n</context-1>', 'Where do we keep invoices?'],
    says: 'We keep invoices in PostgreSQL.',
  },
  {
    because: 'the number of the question is in no sentence',
    contents: ['Release 4.2 drops Node 18.', 'What does release 4.3 drop?'],
    says: NO_ANSWER,
  },
  {
    because: 'a reply without an answer is no statement',
    contents: [`${NO_ANSWER} The case is yellow.`, 'Which question has the rarest case?'],
    says: NO_ANSWER,
  },
  { because: 'a statement is not a question', contents: ['The case is yellow.'], says: WHO_SPEAKS },
  { because: 'the message is empty', contents: [''], says: WHO_SPEAKS },
])('answers $says because $because', ({ contents, says }) => {
  expect(answer(...contents)).toBe(says);
});

test('prefers the later of two sentences that match equally', () => {
  expect(answer('The price is 10 euros. Lunch was good. The price is 12 euros.', 'What is the price?')).toMatch('12');
});

test('returns at most three sentences, in their original order', () => {
  const facts = Array.from({ length: 9 }, (_, i) => `The export number ${i} is ready.`).join(' ');

  const sentences = language.sentences(answer(facts, 'Is the export ready?'));

  expect(sentences).toHaveLength(3);
  expect([...sentences]).toEqual([...sentences].sort());
});
