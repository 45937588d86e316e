import type { SummaryEntry } from '../model.js';
import { compare } from '../prompt/entries.js';
import { normalise } from '../search/words.js';

/** Characters of a text that is no statement any more. It is compared as it is. */
const LONG = 4_000;
/** Not the A of "plan A", which has a capital within a sentence. */
const ARTICLES = /(?<![\p{L}\p{M}\p{N}])(?:(?:an?|the)|(?<=^|[.!?] )(?:An?|The))(?= [\p{L}\p{N}])/gu;
/** Begins only where a word does: otherwise, a long word would be read again from each of its letters. */
const LIST =
  /(?<![\p{L}\p{M}\p{N}+#-])[\p{L}\p{N}][\p{L}\p{M}\p{N}+#-]*(?:(?:, (?:and |or )?| and | or )[\p{L}\p{N}][\p{L}\p{M}\p{N}+#-]*)+/gu;
/** Letters of an English word. The expressions below take quadratic time. */
const LONGEST = 40;
/** "https" is no form of "http": a word has a vowel. */
const IS_WORD = /^(?=.*[aeiouy])[a-z]{2,}$/;

/**
 * The entries of each of two lists that the other does not state: none of its entries has the same words. Case, punctuation,
 * articles, English inflection and the order of a list make no difference.
 */
export function differences<Entry extends SummaryEntry, Other extends SummaryEntry>(
  entries: readonly Entry[],
  others: readonly Other[],
): [missing: Entry[], added: Other[]] {
  const forms = new WordForms();
  const texts = [entries, others].map((list) => list.map((entry) => wordsOf(entry, forms)));
  // Forms are known only when all words are.
  const [keys = [], otherKeys = []] = texts.map((list) =>
    list.map((words) => words.map((word) => forms.rootOf(word)).join(' ')),
  );
  const [stated, known] = [new Set(otherKeys), new Set(keys)];
  return [
    entries.filter((_, at) => !stated.has(keys[at] ?? '')),
    others.filter((_, at) => !known.has(otherKeys[at] ?? '')),
  ];
}

function wordsOf({ term, text }: SummaryEntry, forms: WordForms): string[] {
  const whole = term === undefined ? text : `${term} ${text}`;
  if (whole.length > LONG) return [whole];
  const sorted = /, | and | or /.test(whole) ? whole.replace(LIST, (list) => inOrder(list)) : whole;
  const rest = normalise(sorted.replace(ARTICLES, ' '));
  const words = (rest || normalise(sorted) || sorted).split(' ');
  for (const word of words) forms.add(word);
  return words;
}

/** "Redis, Kafka and Postgres" is "Kafka, Postgres and Redis". Two words with a comma between them are no list. */
function inOrder(list: string): string {
  if (/^[^ ]+, [^ ]+$/.test(list)) return list;
  if (list.includes(' and ') && list.includes(' or ')) return list; // "A, and B or C" is not "C, and A or B"
  const items = list.split(/(, (?:and |or )?| and | or )/);
  const sorted = items.filter((_, at) => at % 2 === 0).sort((a, b) => compare(a.toLowerCase(), b.toLowerCase()));
  return items.map((item, at) => (at % 2 === 0 ? sorted[at / 2] : item)).join('');
}

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
  if (word.length > LONGEST || !IS_WORD.test(word)) return [];
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
  // linear: only for words of at most 40 letters
  [/(?<!e|^[^aeiouy]*[aeiouy][^aeiouywx])ed$|(?<!^[^aeiouy]*[aeiouy][^aeiouywx])ing$/, ''], // not "rated" for "rat"
  [/(?<!e)ed$|ing$/, 'e'],
  [/([bdgklmnprtv])\1(?:ed|ing)$/, '$1'],
];
