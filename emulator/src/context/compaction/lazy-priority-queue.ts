import type { Sliced } from '../../base/slices.js';

/**
 * A priority queue for values that may fall between two takes but never rise. An entry is revalued only when it reaches
 * the top, and goes back if it is no longer the best. Of equal values, the later entry comes first.
 */
export class LazyPriorityQueue {
  readonly #heap: { entry: number; value: number }[] = [];
  readonly #value: (entry: number) => number;

  private constructor(value: (entry: number) => number) {
    this.#value = value;
  }

  static *of(entries: readonly number[], value: (entry: number) => number): Sliced<LazyPriorityQueue> {
    const queue = new LazyPriorityQueue(value);
    for (const entry of entries) {
      queue.#heap.push({ entry, value: value(entry) });
      yield;
    }
    for (let at = Math.floor(entries.length / 2) - 1; at >= 0; at -= 1) {
      queue.#sink(at);
      yield;
    }
    return queue;
  }

  /** Removes and returns the entry with the highest value; undefined when the queue is empty. */
  *take(): Sliced<number | undefined> {
    for (;;) {
      yield;
      const top = this.#heap[0];
      if (top === undefined) return undefined;
      const value = this.#value(top.entry);
      if (value < top.value) {
        top.value = value;
        this.#sink(0);
        if (this.#heap[0] !== top) continue;
      }
      const last = this.#heap.pop();
      if (last !== undefined && last !== top) {
        this.#heap[0] = last;
        this.#sink(0);
      }
      return top.entry;
    }
  }

  #sink(from: number): void {
    const heap = this.#heap;
    for (let at = from; ; ) {
      let best = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        const [here, there] = [heap[best], heap[child]];
        if (here !== undefined && there !== undefined && isBefore(there, here)) best = child;
      }
      const [here, there] = [heap[at], heap[best]];
      if (best === at || here === undefined || there === undefined) return;
      heap[at] = there;
      heap[best] = here;
      at = best;
    }
  }
}

function isBefore(a: { entry: number; value: number }, b: { entry: number; value: number }): boolean {
  return a.value === b.value ? a.entry > b.entry : a.value > b.value;
}
