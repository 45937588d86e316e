/** Remembers answers by text, up to a bounded amount of text; the oldest go first. */
export class Memo<T> {
  readonly #answers = new Map<string, T>();
  #characters = 0;

  get(text: string, compute: () => T): T {
    const known = this.#answers.get(text);
    if (known !== undefined) return known;
    const answer = compute();
    this.#answers.set(text, answer);
    this.#characters += text.length;
    while (this.#characters > MEMO_CHARACTERS || this.#answers.size > MEMO_ENTRIES) {
      const oldest = this.#answers.keys().next().value;
      if (oldest === undefined) break;
      this.#answers.delete(oldest);
      this.#characters -= oldest.length;
    }
    return answer;
  }
}

const MEMO_CHARACTERS = 16_000_000;
const MEMO_ENTRIES = 50_000;
