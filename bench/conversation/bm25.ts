/**
 * What an app may write by hand: BM25 over messages with the usual constants (k1 1.2, b 0.75), stems, pairs of
 * characters for Chinese, and stop words. It shares no code with the search that it is compared with.
 */
export class Bm25 {
  readonly #counts: Map<string, number>[];
  readonly #lengths: number[];
  readonly #holders = new Map<string, number>();
  readonly #average: number;

  constructor(texts: readonly string[]) {
    const stems = texts.map(stemsOf);
    this.#lengths = stems.map(({ length }) => length);
    this.#average = this.#lengths.reduce((sum, length) => sum + length, 0) / texts.length;
    this.#counts = stems.map((list) => {
      const counts = new Map<string, number>();
      for (const stem of list) counts.set(stem, (counts.get(stem) ?? 0) + 1);
      return counts;
    });
    for (const counts of this.#counts)
      for (const stem of counts.keys()) this.#holders.set(stem, (this.#holders.get(stem) ?? 0) + 1);
  }

  /** The positions of the texts that share a stem with the query, best first. */
  search(query: string): number[] {
    const stems = new Set(stemsOf(query));
    const scores = this.#counts.map((counts, i) => {
      const norm = 1.2 * (0.25 + (0.75 * (this.#lengths[i] ?? 0)) / this.#average);
      return [...stems].reduce((sum, stem) => {
        const count = counts.get(stem) ?? 0;
        return sum + (this.#rarity(stem) * count * 2.2) / (count + norm);
      }, 0);
    });
    const found = scores.flatMap((score, position) => (score > 0 ? [{ score, position }] : []));
    return found.sort((a, b) => b.score - a.score || b.position - a.position).map(({ position }) => position);
  }

  #rarity(stem: string): number {
    const holders = this.#holders.get(stem) ?? 0;
    return Math.log(1 + (this.#counts.length - holders + 0.5) / (holders + 0.5));
  }
}

function stemsOf(text: string): string[] {
  const runs =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return runs.flatMap((run) => {
    if (!/\p{Script=Han}/u.test(run)) return STOP_WORDS.has(run) ? [] : [stem(run)];
    return run.length === 1 ? [run] : Array.from({ length: run.length - 1 }, (_, i) => run.slice(i, i + 2));
  });
}

function stem(word: string): string {
  if (word.length <= 3) return word;
  return word
    .replace(/(?<=...)(?:ingly|edly|ings|ing|ied|ies|ed|es|ly|s|e|y)$/, '')
    .replace(/([b-df-hj-np-tv-z])\1$/, '$1');
}

const STOP_WORDS = new Set(
  'a an the and or but if of at by for with about to from in on off is am are was were be been being have has had do does did doing will would shall should can could may might must i you he she it we they me him her us them my your his its our their this that these those what which who whom when where why how not no nor so than then too very s t d ll m re ve just also there here as into up down out over'.split(
    ' ',
  ),
);
