import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const unsupported = () => {
  throw new Error('Not supported in the Edge Runtime.');
};

test.each([
  { setImmediate, because: 'Node' },
  { setImmediate: undefined, because: 'a browser' },
  { setImmediate: unsupported, because: 'an edge function of Next.js' },
])('work that takes long pauses for timers: $because', async ({ setImmediate }) => {
  vi.stubGlobal('setImmediate', setImmediate);
  vi.resetModules();
  const { pauses } = await import('../../src/base/pauses.js');
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const pause = pauses();
  const steps: string[] = [];
  setTimeout(() => steps.push('timer'), 0);

  for (let step = 1; !steps.includes('timer'); step += 1) {
    now += 5; // a pause after every second step
    await pause();
    if (step > 1_000) throw new Error('the timer never ran');
  }
  vi.restoreAllMocks();

  expect(pauses()()).toBeUndefined(); // no pause is due yet
});
