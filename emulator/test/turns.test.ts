import { expect, test } from 'vitest';
import { Turns } from '../src/completions/turns.js';

/** Keep the thread busy, as counting tokens does. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('work goes on at once while its turn of the event loop is young', async () => {
  const turns = new Turns();
  const order: string[] = [];
  setImmediate(() => order.push('others'));

  for (let i = 0; i < 3; i += 1) {
    await turns.wait();
    order.push('work');
  }

  expect(order).toEqual(['work', 'work', 'work']);
});

test('work waits for another turn when this one has lasted a while', async () => {
  const turns = new Turns();
  const order: string[] = [];
  await turns.wait();
  work(10);
  setImmediate(() => order.push('others'));

  await turns.wait();
  order.push('work');

  expect(order).toEqual(['others', 'work']);
});
