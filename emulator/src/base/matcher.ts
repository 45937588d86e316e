/**
 * Finds texts in another that is read one character at a time, in linear time (Aho and Corasick). A state is what fits so far:
 * the longest end of the text that is the beginning of one of the texts.
 */
export class Matcher<Found> {
  /** By state. State 0 is the beginning of all. */
  readonly #codes = [0];
  readonly #children = [0];
  readonly #siblings = [0];
  /** By state, the next shorter end that fits. */
  readonly #shorter = [0];
  readonly #first: number[] = new Array(128).fill(0);
  readonly depth = [0];
  /** The length of the longest text. */
  longest = 0;
  /** By state, what was found. */
  readonly found: (Found | undefined)[] = [undefined];

  /** Texts as codes of characters. Something is `found` by the length of what fits of them. */
  constructor(texts: Iterable<{ codes: readonly number[]; found: (length: number) => Found | undefined }>) {
    for (const { codes, found } of texts) {
      this.longest = Math.max(this.longest, codes.length);
      let state = 0;
      for (const [i, code] of codes.entries()) {
        state = this.#child(state, code) || this.#add(state, code);
        this.found[state] ??= found(i + 1);
      }
    }
    for (let child = this.#children[0] ?? 0; child !== 0; child = this.#siblings[child] ?? 0)
      this.#first[this.#codes[child] ?? 0] = child;
    const queue = [0];
    for (const state of queue)
      for (let child = this.#children[state] ?? 0; child !== 0; child = this.#siblings[child] ?? 0) {
        const shorter = state === 0 ? 0 : this.next(this.#shorter[state] ?? 0, this.#codes[child] ?? 0);
        this.#shorter[child] = shorter;
        this.found[child] ??= this.found[shorter];
        queue.push(child);
      }
  }

  /** The state after one more character. */
  next(state: number, code: number): number {
    let from = state;
    while (from !== 0) {
      const child = this.#child(from, code);
      if (child !== 0) return child;
      from = this.#shorter[from] ?? 0;
    }
    return this.#first[code] ?? 0;
  }

  #child(state: number, code: number): number {
    let child = this.#children[state] ?? 0;
    while (child !== 0 && this.#codes[child] !== code) child = this.#siblings[child] ?? 0;
    return child;
  }

  #add(state: number, code: number): number {
    const child = this.#codes.push(code) - 1;
    this.#siblings.push(this.#children[state] ?? 0);
    this.#children.push(0);
    this.#children[state] = child;
    this.#shorter.push(0);
    this.depth.push((this.depth[state] ?? 0) + 1);
    this.found.push(undefined);
    return child;
  }
}
