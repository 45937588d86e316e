import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { extractiveReply } from '../src/completions/responder.js';
import { language } from './compactable.js';

interface Labels {
  context: string[];
  answerable: { question: string; answer: string }[];
  unanswerable: string[];
  instructions: string[];
}

const read = (name: string): Labels => JSON.parse(readFileSync(new URL(`data/${name}.json`, import.meta.url), 'utf8'));
const reply = ({ context }: Labels, question: string) => {
  const messages = [...context, question].map((content) => ({ role: 'user' as const, content }));
  return extractiveReply(messages, language);
};

test.each([
  // The context has no word for what is asked, and the reply says so.
  ['questions', 'Which provider do we use for card payments?'],
  ['fresh-questions', 'What language is the firmware written in?'],
])('of the %s, half of which the context cannot answer, one gets a wrong reply', (name, wrong) => {
  const labels = read(name);
  const { answerable, unanswerable } = labels;
  expect(unanswerable).toHaveLength(answerable.length);

  const failed = [
    ...answerable.filter(({ question, answer }) => reply(labels, question) !== answer).map(({ question }) => question),
    ...unanswerable.filter((question) => !/^The context does not contain that/.test(reply(labels, question))),
  ];

  expect(failed).toEqual([wrong]);
});

test.each(
  ['questions', 'fresh-questions'].map(read).flatMap((labels) => labels.instructions.map((each) => ({ labels, each }))),
)('an instruction gets a reply that says who is speaking: $each', ({ labels, each }) => {
  expect(reply(labels, each)).toMatch(/^This is the built-in model of the emulator: .* --upstream\.$/);
});
