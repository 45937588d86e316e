import { setMaxListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { whenAborted } from '../src/base/aborts.js';

test('a function is called for the first signal, unless its end has come before', () => {
  const [one, other, ended] = [new AbortController(), new AbortController(), new AbortController()];
  const listener = vi.fn(() => ended.abort());
  whenAborted([one.signal, other.signal], listener, ended.signal);

  one.abort();
  other.abort();

  expect(listener).toHaveBeenCalledTimes(1);
});

test('what has ended is not called, although its memory was collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const closed = new AbortController();
  setMaxListeners(0, closed.signal);
  const listener = vi.fn();
  const ends = Array.from({ length: 50 }, () => new AbortController());
  for (const { signal } of ends) whenAborted([closed.signal], () => listener(), signal);
  for (let i = 0; i < 5; i += 1) {
    collect();
    await new Promise(setImmediate);
  }

  for (const end of ends) end.abort();
  closed.abort();

  expect(listener).not.toHaveBeenCalled();
});
