import { setImmediate } from 'node:timers/promises';

/** Work that may be interrupted at each `yield`. What it gives does not depend on where it was. */
export type Sliced<T> = Generator<undefined, T>;

/** Does the work in one go. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/**
 * Does long work a few milliseconds at a time, so that streams and requests beside it do not wait. Works that were begun
 * together take turns: however many there are, one slice runs between two looks at the sockets.
 */
export class Slices {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: Sliced<T>): Promise<T> {
    for (;;) {
      const slice = this.#last.then(() => oneSlice(work));
      // The next slice, of whichever work, waits for a turn of the event loop, and does not care how this one ended.
      this.#last = slice.then(pause, pause);
      const step = await slice;
      if (step.done) return step.value;
    }
  }
}

function oneSlice<T>(work: Sliced<T>): IteratorResult<undefined, T> {
  const end = performance.now() + SLICE;
  for (;;) {
    const step = work.next();
    if (step.done || performance.now() >= end) return step;
  }
}

function pause(): Promise<void> {
  return setImmediate();
}

/** In ms. */
const SLICE = 5;
