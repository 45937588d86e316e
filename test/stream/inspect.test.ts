import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { readAll } from './bench.js';
import { streamOf } from './canned.js';
import { RHINE, text } from './script.js';

test('an inspected stream shows its state and metrics, and none of its text', async () => {
  const stream = await streamOf(RHINE);
  expect(inspect(stream)).toMatch(/stream: 'open'.*chunks: 0/s);

  await readAll(stream);

  expect(inspect(stream)).toMatch(/stream: 'complete'.*chunks: 3/s);
  expect(inspect(stream, { depth: 20, showHidden: true })).not.toContain('Rhine');
});

test('an inspected stream that failed shows the name of its error', async () => {
  const stream = await streamOf(text('The Rhine.'));

  await readAll(stream);

  expect(inspect(stream)).toMatch(/stream: 'StreamTruncatedError'.*chunks: 1/s);
  expect(inspect(stream, { depth: 20, showHidden: true })).not.toContain('Rhine');
});
