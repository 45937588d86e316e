import type { Sliced } from '../base/slices.js';

/**
 * Finds the texts that others do not state. Two texts state the same if they have the same words: case, punctuation,
 * articles, English inflection and the order of a list make no difference. The same rule as that of the SDK's receipts.
 */
export function* missingFrom<T>(
  texts: readonly T[],
  others: readonly T[],
  wordsIn: (text: T) => string,
): Sliced<Set<T>> {
  const forms = new WordForms();
  const read = function* (some: readonly T[]): Sliced<string[][]> {
    const found: string[][] = [];
    for (const text of some) {
      yield;
      const words = wordsOf(wordsIn(text));
      for (const word of words) forms.add(word);
      found.push(words);
    }
    return found;
  };
  const [words, stated] = [yield* read(texts), yield* read(others)];
  // Forms are known only when all words are.
  const keyOf = (some: readonly string[]): string => some.map((word) => forms.rootOf(word)).join(' ');
  const known = new Set<string>();
  for (const other of stated) {
    yield;
    known.add(keyOf(other));
  }
  return new Set(texts.filter((_, at) => !known.has(keyOf(words[at] ?? []))));
}

function wordsOf(text: string): string[] {
  const sorted = text.replace(LIST, inOrder);
  return (normalised(sorted) || sorted).split(' ').filter((word) => !/^(?:an?|the)$/.test(word));
}

/** "Redis, Kafka and Postgres" is "Kafka, Postgres and Redis". Two words with a comma between them are no list. */
function inOrder(list: string): string {
  if (/^[^ ]+, [^ ]+$/.test(list)) return list;
  const items = list.split(/(, (?:and |or )?| and | or )/);
  const sorted = items.filter((_, at) => at % 2 === 0).sort((a, b) => compare(a.toLowerCase(), b.toLowerCase()));
  return items.map((item, at) => (at % 2 === 0 ? sorted[at / 2] : item)).join('');
}

/** Compares by code units, so that the order does not depend on the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function normalised(text: string): string {
  return (text.normalize('NFKC').toLowerCase().match(WORDS) ?? []).join(' ');
}

/** Letters and digits, with the signs that change their meaning: C++ and C#, -20 and 20, 1.5 and 15, < and >, $ and €. */
// linear: the next alternative takes the same digits
const WORDS = /(?<![\p{L}\p{N}])[-−](?=\p{N})|\p{N}+(?:[.,:]\p{N}+)+|[\p{L}\p{M}\p{N}]+[+#]*|!=|[\p{Sc}\p{Sm}%‰°]/gu;

/** English words that are forms of each other, directly or by another word: need, needs, needed, needing. */
class WordForms {
  /** For each word another form of it, up to one that stands for all. */
  readonly #next = new Map<string, string>();

  add(word: string): void {
    if (this.#next.has(word)) return;
    this.#next.set(word, word);
    for (const base of basesOf(word)) {
      if (!this.#next.has(base)) this.#next.set(base, base);
      this.#next.set(this.rootOf(base), this.rootOf(word));
    }
  }

  rootOf(word: string): string {
    let root = word;
    for (let next = this.#next.get(root); next !== undefined && next !== root; next = this.#next.get(root)) {
      this.#next.set(root, this.#next.get(next) ?? next); // the next look-up takes half as many steps
      root = next;
    }
    return root;
  }
}

/** The words of which one may be a form. */
function basesOf(word: string): string[] {
  return ENDINGS.flatMap(([ending, base]) => {
    const stem = word.replace(ending, '');
    return stem !== word && IS_WORD.test(stem) ? word.replace(ending, base) : [];
  });
}

/** The endings of English nouns and verbs, and what they stand for. */
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/(?<!s)s$/, ''],
  [/(?<=[oxz]|[cs]h|ss)es$/, ''],
  [/ie[sd]$/, 'y'],
  [/(?<!e)ed$|ing$/, ''],
  [/(?<!e)ed$|ing$/, 'e'],
  [/([bdgklmnprtv])\1(?:ed|ing)$/, '$1'],
];
/** "https" is no form of "http": a word has a vowel. */
const IS_WORD = /^(?=.*[aeiouy])[a-z]{2,}$/;

/** Begins only where a word does: otherwise, a long word would be read again from each of its letters. */
const LIST =
  /(?<![\p{L}\p{M}\p{N}+#-])[\p{L}\p{N}][\p{L}\p{M}\p{N}+#-]*(?:(?:, (?:and |or )?| and | or )[\p{L}\p{N}][\p{L}\p{M}\p{N}+#-]*)+/gu;
