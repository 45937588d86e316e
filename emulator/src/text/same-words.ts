import type { Sliced } from '../base/slices.js';

/**
 * Finds the texts that others do not state. Two texts state the same if they have the same words: case, punctuation,
 * articles, English inflection and the order of a list make no difference. The same rule as `diffSummaries` of the SDK.
 */
export function* missingFrom<T>(
  texts: readonly T[],
  others: readonly T[],
  wordsIn: (text: T) => string,
): Sliced<Set<T>> {
  const byLength = new Map<number, string[][]>();
  for (const other of others) {
    yield;
    const words = wordsOf(wordsIn(other));
    const same = byLength.get(words.length);
    if (same === undefined) byLength.set(words.length, [words]);
    else same.push(words);
  }
  const missing = new Set<T>();
  for (const text of texts) {
    yield;
    const words = wordsOf(wordsIn(text));
    const isStated = byLength
      .get(words.length)
      ?.some((other) => words.every((word, at) => isSameWord(word, other[at] ?? '')));
    if (!isStated) missing.add(text);
  }
  return missing;
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
const WORDS = /(?<![\p{L}\p{N}])[-−](?=\p{N})|\p{N}+(?:[.,:]\p{N}+)+|[\p{L}\p{M}\p{N}]+[+#]*|!=|[\p{Sc}\p{Sm}%‰°]/gu;

/** Whether two words are equal but for an English ending: need, needs, needed, needing. */
function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  return one[0] === other[0] && basesOf(one).some((base) => basesOf(other).includes(base));
}

/** A word, and the words of which it may be a form. */
function basesOf(word: string): string[] {
  const bases = ENDINGS.flatMap(([ending, base]) => {
    const stem = word.replace(ending, '');
    return stem !== word && IS_WORD.test(stem) ? word.replace(ending, base) : [];
  });
  return [word, ...bases];
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

const LIST = /[\p{L}\p{N}][\p{L}\p{M}\p{N}+#-]*(?:(?:, (?:and |or )?| and | or )[\p{L}\p{N}][\p{L}\p{M}\p{N}+#-]*)+/gu;
