import { nfkc, startOf } from '../../base/unicode.js';

const NOT_ASCII = /[^\p{ASCII}]/u;
const ASCII_WORDS = /[A-Za-z0-9]+/g;
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** A word with a capital may be a name. Not "I", and not a text in capitals. */
const NAME = /^\p{Lu}\p{Ll}/u;
/** The capital of a sentence, which says nothing. */
const SENTENCE = /(?:^|[.!?:…\n])[^\p{L}\p{N}.!?:…\n]*\p{Lu}/gu;
/** Letters of an unknown word by which it is looked for. */
export const BEGINNING = 5;
/** A longer word, such as a key, is cut to so many characters: an index of a database takes no words of any length. */
const LONGEST = 40;
/**
 * The accents of Latin, Greek and Cyrillic letters, and the points of Hebrew and Arabic. In other scripts, marks are vowels. Not
 * what `nfkc` puts between marks, so that they are not sorted as one run later.
 */
const ACCENTS = /[\u0300-\u034e\u0350-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
const ARTICLE = /^(?:[وفبك]?ال|لل)(?=...)/;
/** Letters that Unicode does not take apart into a letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = { ı: 'i', ß: 'ss', ł: 'l', ø: 'o', đ: 'd' };
/** Scripts with few letters, in which two of them are not enough. */
const THREES = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Runs of one kind of script, and what stands between the commonest particles of Chinese and Japanese. */
const PARTS =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}]+|[^\P{L}\p{Script=Latin}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}的了我你是在有吗呢吧着过们のはがをにでと]+|\p{Script=Latin}+|\p{N}+/gu;
/** English endings. At least three letters stay. Not -y after a vowel: "plays" and "play". */
const ENDINGS = /(?<=...)(?:ly|ings?|ied|ies|ed|es|s|e|(?<![aeiou])y)$/;
/** For "planned" and "plan". */
const DOUBLED = /([b-df-hj-np-tv-z])\1$/;
const ORDINAL = /^(\d{1,2})(?:st|nd|rd|th)$/;
/**
 * Letters and digits, with the signs that change their meaning: C++ and C#, -20 and 20, 1.5 and 15, < and >, $ and €, !on
 * and on, 👍 and 👎.
 */
const EXACT_WORDS =
  // linear: the next alternative takes the same digits
  /(?<![\p{L}\p{N}])[-−](?=\p{N})|\p{N}+(?:[.,:]\p{N}+)+|[\p{L}\p{M}\p{N}]+[+#]*|!=|(?<![\p{L}\p{N}!])!(?=\p{L})|[\p{Sc}\p{Sm}\p{So}%‰]/gu;

/**
 * The words of a text, by which a search finds it: without the commonest English endings, and without those that say nothing
 * of a subject, unless they may be names ("Will"). Pairs of characters stand for the words of Korean, which have endings, and of
 * scripts without spaces.
 */
export function wordsIn(text: string, stopWords: ReadonlySet<string> = STOP_WORDS): string[] {
  const found: string[] = [];
  const isAscii = !NOT_ASCII.test(text);
  for (const written of (isAscii ? text.match(ASCII_WORDS) : nfkc(text).match(WORDS)) ?? []) {
    const word = written.toLowerCase();
    if (!isAscii && UNSPACED.test(word)) addPairs(word, found);
    else if (!stopWords.has(word) || NAME.test(written)) addWord(startOf(word, LONGEST), found);
  }
  return found;
}

/** The words that a text asks for. */
export function wordsAsked(text: string): string[] {
  return wordsIn(text.replace(SENTENCE, (start) => start.toLowerCase()));
}

/** The words of a speaker's name, none of which is too common. */
export function wordsOfName(name: string): string[] {
  return wordsIn(name, new Set());
}

/** A word as it is written, and if it has accents also without, so that "Häfen" finds "Hafen", but "Häfen" first. */
function addWord(word: string, found: string[]): void {
  const plain = stemOf(word);
  const folded = NOT_ASCII.test(word) ? stemOf(foldedOf(word)) : plain;
  if (folded === '') return; // a mark alone
  found.push(folded);
  if (folded !== plain) found.push(plain);
}

/** Finds words in texts without taking these apart, which is much slower. */
export class Needles {
  /** Of the words with so many letters. A word that no message has is looked for by it. */
  readonly beginnings = new Set<string>();
  readonly #needles = new Set<string>();

  constructor(words: ReadonlySet<string>) {
    for (const word of words) {
      const beginning = beginningOf(word);
      if (beginning.length >= BEGINNING && !/\d/.test(word)) this.beginnings.add(beginning);
      const needle = unaccented(beginning);
      if (needle !== '') this.#needles.add(needle); // the empty text is everywhere
    }
  }

  /** As `wordsIn`, but at least those that begin like one of the words. */
  in(text: string): string[] {
    const lower = text.toLowerCase();
    const found: string[] = [];
    if (NOT_ASCII.test(lower)) {
      // Between letters of other scripts, words need no space.
      const plain = unaccented(nfkc(text).toLowerCase());
      for (const needle of this.#needles) if (plain.includes(needle)) return wordsIn(text);
      return found;
    }
    for (const needle of this.#needles)
      for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, at + 1)) {
        if (isInWord(lower, at - 1)) continue;
        let end = at + needle.length;
        while (isInWord(lower, end)) end += 1;
        const word = lower.slice(at, Math.min(end, at + LONGEST));
        if (!STOP_WORDS.has(word) || NAME.test(text.slice(at, end))) found.push(stemOf(word));
      }
    return found;
  }
}

/** Whether there is a letter or a digit, in lower case. */
function isInWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

/** The beginning of a word, by which words with other endings are found. Numbers have none. */
export function beginningOf(word: string): string {
  return startOf(word, /\d/.test(word) ? LONGEST : BEGINNING);
}

function unaccented(text: string): string {
  const bare = text.normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return bare.replace(/[ıßłøđ]/g, (letter) => LETTERS[letter] ?? letter);
}

/** Without accents, vowel points and the Arabic article. In Turkish, "KIRMIZI" is "kırmızı". */
function foldedOf(word: string): string {
  return unaccented(word).replace(ARTICLE, '');
}

/** `Intl.Segmenter` finds no more than pairs do, and takes twenty times as long. */
function addPairs(run: string, found: string[]): void {
  for (const [part] of run.matchAll(PARTS)) {
    const size = THREES.test(part) ? 3 : 2;
    if (!UNSPACED.test(part)) addWord(startOf(part, LONGEST), found);
    else if (part.length <= size) found.push(part);
    else
      for (let i = 0; i + size <= part.length; i += 1) {
        if (isHalf(part, i, 0xdc00)) continue; // never half a character
        found.push(part.slice(i, i + size + Number(isHalf(part, i + size - 1, 0xd800))));
      }
  }
}

/** Whether there is a half of a character that UTF-16 writes in two: the first halves begin at 0xd800, the second at 0xdc00. */
function isHalf(text: string, at: number, first: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === first;
}

/** Cuts the commonest endings of English, and those of ordinals. */
function stemOf(word: string): string {
  if (word < 'a') return word.replace(ORDINAL, '$1');
  if (word.length < 4) return word;
  return word.replace(ENDINGS, '').replace(DOUBLED, '$1');
}

const STOP_WORDS = /* @__PURE__ */ new Set(
  /* @__PURE__ */ [
    'a an the and or but if of at by for with about to from in on off is am are was were be been being have has had',
    'do does did doing will would shall should can could may might must i you he she it we they me him her us them',
    'my your his its our their this that these those what which who whom when where why how not no nor so than then',
    'too very s t d ll m re ve just also there here as into up down out over ok okay yes please thank thanks go',
    'der das den dem des ein eine einen einem einer und oder aber ist sind waren haben wird werden ich du',
    'er sie es wir ihr mir mich dir dich uns mein dein unser nicht auch noch nur schon zu mit von für auf im am bei als',
    'wie was wer wo wann warum welche welcher welches danke bitte ja weiter',
    'le la les un une des du de et ou est sont je tu il elle nous vous on mon ma mes ton ta tes notre votre ce cette',
    'que qui quoi quel quelle où quand comment pourquoi pas ne pour avec dans sur au aux en à été merci oui',
    'el los las una unos y o es era fue yo tú ella nosotros mi su sus nuestro nuestra este esta eso qué quién cuál',
    'cuándo dónde cómo por para con del al se lo que gracias sí',
  ].flatMap((words) => words.split(' ')),
);

/** Normalises a text, so that case, punctuation and spaces make no difference. */
export function normalise(text: string): string {
  return (nfkc(text).toLowerCase().match(EXACT_WORDS) ?? []).join(' ');
}
