/**
 * Takes the best entry first, where values may fall between two takes but never rise: an entry is valued again only
 * when it has come to the top, and goes back in when it is no longer the best. Equal values: the later entry first.
 */
export class FallingQueue {
  readonly #heap: { entry: number; value: number }[];
  readonly #value: (entry: number) => number;

  constructor(entries: readonly number[], value: (entry: number) => number) {
    this.#value = value;
    // A sorted array is a heap.
    this.#heap = entries.map((entry) => ({ entry, value: value(entry) })).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  /** The entry of the highest value, or undefined when all are taken. */
  take(): number | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined) return undefined;
      const value = this.#value(top.entry);
      if (value < top.value) {
        top.value = value;
        this.#sink();
        if (this.#heap[0] !== top) continue;
      }
      const last = this.#heap.pop();
      if (last !== undefined && last !== top) {
        this.#heap[0] = last;
        this.#sink();
      }
      return top.entry;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    for (let at = 0; ; ) {
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
