import { nextTurn, now } from './real-timers.js';

/** Work that can pause at each `yield`. Its result does not depend on where it pauses. */
export type Sliced<T> = Generator<undefined, T>;

/** Runs the work to its end without a pause. */
export function runSync<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/**
 * Runs long work a few milliseconds at a time, so that it does not block other streams and requests. Concurrent runs
 * take turns: however many there are, only one slice runs per turn of the event loop.
 */
export class Slices {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: Sliced<T>): Promise<T> {
    for (;;) {
      const slice = this.#last.then(() => oneSlice(work));
      // The next slice, of any work, waits for a turn of the event loop, even if this one failed.
      this.#last = slice.then(nextTurn, nextTurn);
      const step = await slice;
      if (step.done) return step.value;
    }
  }
}

function oneSlice<T>(work: Sliced<T>): IteratorResult<undefined, T> {
  const end = now() + SLICE;
  for (;;) {
    const step = work.next();
    if (step.done || now() >= end) return step;
  }
}

/** In ms. */
const SLICE = 5;
