/**
 * What a conversation talks about, as concepts: its terms, and the pairs of terms that keep standing close together. A
 * concept weighs more the more texts hold it, and less each time it has been taken, so that what is taken next says
 * something else. Sums, products and square roots only: they have the same bits everywhere.
 */
export class Coverage {
  readonly #concepts: readonly Int32Array[];
  readonly #worth: number[];

  constructor(texts: readonly ReadonlySet<string>[]) {
    const terms = new Numbering<string>();
    const numbered = texts.map((text) => [...text].map((term) => terms.of(term)));
    const pairs = new Numbering<number>();
    const paired = numbered.map((text) => closePairs(text, terms.size).map((pair) => pairs.of(pair)));
    // A pair that stands in one text only ties nothing together.
    const shared = pairs.counts.map((count) => count > 1);
    this.#concepts = numbered.map((text, i) =>
      Int32Array.from([...text, ...(paired[i] ?? []).filter((pair) => shared[pair]).map((pair) => terms.size + pair)]),
    );
    this.#worth = [
      ...terms.counts.map((count) => Math.sqrt(count)),
      ...pairs.counts.map((count) => PAIR_WORTH * Math.sqrt(count - 1)),
    ];
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
