import { inspect } from 'node:util';
import { readChatCompletionStream } from 'context-gateway';
import { expect, test } from 'vitest';
import { readAll } from './bench.js';
import { RHINE, text } from './script.js';

const open = (events: string) =>
  readChatCompletionStream(new Response(events, { headers: { 'content-type': 'text/event-stream' } }));

test('an inspected stream shows its state and metrics, and none of its text', async () => {
  const stream = await open(RHINE);
  expect(inspect(stream)).toMatch(/stream: 'open'.*chunks: 0/s);

  await readAll(stream);

  expect(inspect(stream)).toMatch(/stream: 'complete'.*chunks: 3/s);
  expect(inspect(stream, { depth: 20, showHidden: true })).not.toContain('Rhine');
});

test('an inspected stream that failed shows the name of its error', async () => {
  const stream = await open(text('The Rhine.'));

  await readAll(stream);

  expect(inspect(stream)).toMatch(/stream: 'StreamTruncatedError'.*chunks: 1/s);
  expect(inspect(stream, { depth: 20, showHidden: true })).not.toContain('Rhine');
});
