import type { Sliced } from '../../base/slices.js';

/**
 * What a conversation talks about, as concepts: its terms, and the pairs of terms that keep standing close together. A
 * concept weighs more the more texts hold it, and less each time it has been taken, so that what is taken next says
 * something else. Sums, products and square roots only: they have the same bits everywhere.
 */
export class Coverage {
  readonly #concepts: readonly Int32Array[];
  readonly #worths: Float64Array;
  #worth: Float64Array;

  private constructor(concepts: readonly Int32Array[], worths: Float64Array) {
    this.#concepts = concepts;
    this.#worths = worths;
    this.#worth = worths.slice();
  }

  static *of(texts: readonly ReadonlySet<string>[]): Sliced<Coverage> {
    const terms = new Numbering<string>();
    const numbered: number[][] = [];
    for (const text of texts) {
      numbered.push([...text].map((term) => terms.of(term)));
      yield;
    }
    const pairs = new Numbering<number>();
    const paired: number[][] = [];
    for (const text of numbered) {
      // What comes once is in no pair that comes twice. Beyond the limit no new pair is looked for.
      const known = text.filter((term) => (terms.counts[term] ?? 0) > 1);
      paired.push(pairs.size < MOST_PAIRS ? closePairs(known, terms.size).map((pair) => pairs.of(pair)) : []);
      yield;
    }
    // A pair that stands in one text only ties nothing together.
    const isShared = (pair: number): boolean => (pairs.counts[pair] ?? 0) > 1;
    const concepts: Int32Array[] = [];
    for (const [i, text] of numbered.entries()) {
      const shared = (paired[i] ?? []).filter(isShared).map((pair) => terms.size + pair);
      concepts.push(Int32Array.from([...text, ...shared]));
      yield;
    }
    const worths = new Float64Array(terms.size + pairs.size);
    yield;
    terms.counts.forEach((count, i) => {
      worths[i] = Math.sqrt(count);
    });
    yield;
    pairs.counts.forEach((count, i) => {
      worths[terms.size + i] = PAIR_WORTH * Math.sqrt(count - 1);
    });
    yield;
    return new Coverage(concepts, worths);
  }

  /** Nothing is taken. */
  clear(): void {
    this.#worth = this.#worths.slice();
  }

  /** What a text would add to what has been taken. It only falls. */
  gain(text: number): number {
    let sum = 0;
    for (const concept of this.#concepts[text] ?? []) sum += this.#worth[concept] ?? 0;
    return sum;
  }

  take(text: number): void {
    for (const concept of this.#concepts[text] ?? []) {
      this.#worth[concept] = (this.#worth[concept] ?? 0) * SAID_AGAIN;
    }
  }
}

const PAIR_WORTH = 2;
const MOST_PAIRS = 300_000;
/** What a concept is still worth each time it is said again. */
const SAID_AGAIN = 0.4;
/** In terms: how far apart the two of a pair may stand. */
const PAIR_REACH = 9;

function closePairs(text: readonly number[], terms: number): number[] {
  const pairs: number[] = [];
  text.forEach((a, i) => {
    for (const b of text.slice(i + 1, i + 1 + PAIR_REACH)) pairs.push(a < b ? a * terms + b : b * terms + a);
  });
  return pairs;
}

/** Numbers from 0 for what comes, and how often each came. */
class Numbering<T> {
  readonly counts: number[] = [];
  readonly #numbers = new Map<T, number>();

  get size(): number {
    return this.counts.length;
  }

  of(value: T): number {
    let number = this.#numbers.get(value);
    if (number === undefined) {
      number = this.counts.length;
      this.#numbers.set(value, number);
      this.counts.push(0);
    }
    this.counts[number] = (this.counts[number] ?? 0) + 1;
    return number;
  }
}
