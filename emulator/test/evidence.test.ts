import { expect, test } from 'vitest';
import { evidenceOf } from '../inspector/playground/evidence.js';

const prompt = [
  {
    role: 'system' as const,
    content: '# Decisions\n- We write Parquet because finance loads it.\n- Backups run at two.',
  },
  { role: 'user' as const, content: 'We release on Tuesdays. Lunch is ready.' },
  { role: 'user' as const, content: 'When do we release?' },
];

test('finds the passages of the prompt that an answer repeats, and not the question', () => {
  expect(evidenceOf('We release on Tuesdays.', prompt)).toEqual([
    { message: 2, role: 'user', text: 'We release on Tuesdays.' },
  ]);
  expect(evidenceOf('They write Parquet because finance loads it. Backups run at two.', prompt)).toMatchObject([
    { message: 1, text: 'We write Parquet because finance loads it.' },
    { message: 1, text: 'Backups run at two.' },
  ]);
  expect(evidenceOf('Nothing in this conversation answers that.', prompt)).toEqual([]);
  expect(evidenceOf('When do we release?', prompt)).toEqual([]);
});
