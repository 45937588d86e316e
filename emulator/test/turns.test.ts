import { expect, test } from 'vitest';
import { Turns } from '../src/completions/turns.js';

/** Blocks the thread, as counting tokens does. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('work continues at once early in a turn of the event loop', async () => {
  const turns = new Turns();
  const order: string[] = [];
  setImmediate(() => order.push('others'));

  for (let i = 0; i < 3; i += 1) {
    await turns.wait();
    order.push('work');
  }

  expect(order).toEqual(['work', 'work', 'work']);
});

test('work yields to the event loop after a long turn', async () => {
  const turns = new Turns();
  const order: string[] = [];
  await turns.wait();
  work(10);
  setImmediate(() => order.push('others'));

  await turns.wait();
  order.push('work');

  expect(order).toEqual(['others', 'work']);
});
