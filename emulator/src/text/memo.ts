/**
 * Caches a result per text, up to a bounded amount of text. There are two generations, and the older one is dropped as
 * a whole: entries deleted one by one from the front of a map leave holes that each later iteration has to skip.
 */
export class Memo<T> {
  #young = new Map<string, T>();
  #old = new Map<string, T>();
  #characters = 0;

  /** The cached result, if there is one. */
  peek(text: string): T | undefined {
    return this.#young.get(text) ?? this.#old.get(text);
  }

  get(text: string, compute: () => T): T {
    const known = this.#young.get(text);
    if (known !== undefined) return known;
    const value = this.#old.get(text) ?? compute();
    this.#young.set(text, value);
    this.#characters += text.length;
    if (this.#characters > GENERATION_CHARACTERS || this.#young.size > GENERATION_ENTRIES) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#characters = 0;
    }
    return value;
  }
}

const GENERATION_CHARACTERS = 8_000_000;
const GENERATION_ENTRIES = 25_000;
