import { expect, test } from 'vitest';
import type { Runtime } from '../../src/base/runtime.js';
import { CallTimeouts, LiveCalls } from '../../src/request/timeouts.js';

/** A page: while it is frozen, time passes, and no timer fires. */
function page() {
  let now = 0;
  const timers = new Map<number, { at: number; run: () => void }>();
  const runtime = {
    now: () => now,
    setTimer: (run: () => void, ms: number) => {
      const id = timers.size + 1;
      timers.set(id, { at: now + ms, run });
      return id;
    },
    clearTimer: (id: number) => void timers.set(id, { at: Number.POSITIVE_INFINITY, run: () => {} }),
  } as unknown as Runtime;
  const fire = (): void => {
    for (const [id, { at, run }] of [...timers]) {
      if (at > now) continue;
      timers.set(id, { at: Number.POSITIVE_INFINITY, run: () => {} });
      run();
    }
  };
  const pass = (ms: number): void => {
    for (let at = 0; at < ms; at += 4) {
      now += 4;
      fire();
    }
  };
  const freeze = (ms: number): void => {
    now += ms;
    fire();
  };
  return { runtime, pass, freeze };
}

/** A stream of a page with an idle timeout of two seconds, and whether it has ended. */
function stream() {
  const { runtime, ...time } = page();
  const timeouts = new CallTimeouts(runtime, new LiveCalls(), undefined, 2_000);
  const ended: string[] = [];
  timeouts.follow({ progress: { phase: 'stream', sent: 'yes' }, cancel: ({ name }) => ended.push(name) });
  timeouts.startIdle();
  timeouts.progressed();
  return { ...time, timeouts, ended };
}

test('a stream whose page was frozen may take as long to deliver what has arrived, thirty seconds at most', () => {
  const { pass, freeze, timeouts, ended } = stream();
  freeze(20_000);
  pass(17_000);
  expect(ended).toEqual([]);
  timeouts.progressed();
  pass(1_900);
  expect(ended).toEqual([]);
  pass(200);
  expect(ended).toEqual(['APITimeoutError']);
});

test.each([
  { frozen: 3_000, silent: 3_500 },
  { frozen: 3_600_000, silent: 30_500 },
])('a stream that stays silent after its page was frozen for $frozen ms ends after $silent', ({ frozen, silent }) => {
  const { pass, freeze, ended } = stream();
  freeze(frozen);
  pass(silent - 1_600);
  expect(ended).toEqual([]);
  pass(1_700);
  expect(ended).toEqual(['APITimeoutError']);
});
