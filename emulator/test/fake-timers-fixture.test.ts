import { afterEach, expect, vi } from 'vitest';
import { test } from '../src/testing/vitest.js';

afterEach(() => void vi.useRealTimers());

const params = { model: 'atlas-small', messages: [{ role: 'user' as const, content: 'Why Parquet?' }] };

// This file has its own process, in which nothing is loaded yet: fake timers do not wait for a file.
test('the first completions of the fixture end under fake timers', async ({ emulator, gateway }) => {
  vi.useFakeTimers();
  emulator.faults.add({ respond: { status: 429, retryAfter: 30 } });
  emulator.chat.on('Parquet', 'Finance loads it directly.');

  const both = Promise.all([
    gateway.chat.completions.create(params),
    gateway.chat.completions.create({ ...params, stream: true }).then((stream) => stream.finalCompletion()),
  ]);
  await vi.runAllTimersAsync();
  vi.useRealTimers();

  const completion = { choices: [{ message: { content: 'Finance loads it directly.' } }] };
  expect(await both).toMatchObject([completion, completion]);
});
