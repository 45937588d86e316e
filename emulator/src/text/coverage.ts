import type { Sliced } from '../base/slices.js';

/**
 * What a conversation talks about, as concepts: its terms, and pairs of terms that repeatedly occur close together. A
 * concept weighs more the more texts contain it, and less each time a chosen text contains it, so that the next choice
 * adds something new. Uses only sums, products and square roots, which are bit-identical on every platform.
 */
export class Coverage {
  #worth: Float64Array;

  private constructor(
    private readonly concepts: readonly Int32Array[],
    private readonly worths: Float64Array,
  ) {
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
      // A term that occurs once cannot be in a pair that occurs twice. Beyond the limit no further text is paired.
      const known = text.filter((term) => (terms.counts[term] ?? 0) > 1);
      paired.push(pairs.size < MOST_PAIRS ? closePairs(known, terms.size).map((pair) => pairs.of(pair)) : []);
      yield;
    }
    // A pair in only one text connects nothing.
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

  /** Forgets all taken texts. */
  clear(): void {
    this.#worth = this.worths.slice();
  }

  /** What a text would add to the taken texts. Between two calls of `clear` it never rises. */
  gain(text: number): number {
    let sum = 0;
    for (const concept of this.concepts[text] ?? []) sum += this.#worth[concept] ?? 0;
    return sum;
  }

  take(text: number): void {
    for (const concept of this.concepts[text] ?? []) {
      this.#worth[concept] = (this.#worth[concept] ?? 0) * SAID_AGAIN;
    }
  }
}

const PAIR_WORTH = 2;
const MOST_PAIRS = 300_000;
/** A concept's worth is multiplied by this each time it is taken. */
const SAID_AGAIN = 0.4;
/** In terms: the largest distance within a pair. */
const PAIR_REACH = 9;

function closePairs(text: readonly number[], terms: number): number[] {
  const pairs: number[] = [];
  text.forEach((a, i) => {
    for (const b of text.slice(i + 1, i + 1 + PAIR_REACH)) pairs.push(a < b ? a * terms + b : b * terms + a);
  });
  return pairs;
}

/** Numbers distinct values from 0, and counts the occurrences of each. */
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
