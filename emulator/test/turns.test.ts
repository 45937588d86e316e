import { expect, onTestFinished, test, vi } from 'vitest';
import { Turns } from '../src/completions/turns.js';
import { createEmulator } from '../src/index.js';
import { openStream } from './support.js';

test('work continues at once early in a turn of the event loop', async () => {
  const turns = new Turns(() => 0);
  const order: string[] = [];
  setImmediate(() => order.push('others'));

  for (let i = 0; i < 3; i += 1) {
    await turns.wait();
    order.push('work');
  }

  expect(order).toEqual(['work', 'work', 'work']);
});

test('work yields to the event loop after a long turn', async () => {
  let time = 0;
  const turns = new Turns(() => time);
  const order: string[] = [];
  await turns.wait();
  time += 10; // counting tokens, for example
  setImmediate(() => order.push('others'));

  await turns.wait();
  order.push('work');

  expect(order).toEqual(['others', 'work']);
});

test('completions arrive under fake timers, and after them', async () => {
  const emulator = createEmulator({ seed: 'timers' });
  onTestFinished(() => emulator.close());
  const complete = async (): Promise<string> => (await openStream(emulator, 'Hello?')).text();

  vi.useFakeTimers({ toFake: ['setImmediate', 'clearImmediate', 'performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  for (let i = 0; i < 3; i += 1) expect(await complete()).toContain('[DONE]');
  vi.useRealTimers();

  expect(await complete()).toContain('[DONE]');
});
