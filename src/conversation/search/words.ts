/**
 * The words of a text, by which a search finds it: without the commonest English endings, and without those that say nothing
 * of a subject. Pairs of characters stand for the words of Korean, which have endings, and of scripts without spaces.
 */
export function wordsOf(text: string): string[] {
  const found: string[] = [];
  const isAscii = !NOT_ASCII.test(text);
  const words = isAscii ? text.toLowerCase().match(ASCII_WORDS) : text.normalize('NFKC').toLowerCase().match(WORDS);
  for (const word of words ?? []) {
    if (!isAscii && UNSPACED.test(word)) addPairs(word, found);
    else if (!STOP_WORDS.has(word)) found.push(stemOf(word));
  }
  return found;
}

const NOT_ASCII = /[^\p{ASCII}]/u;
const ASCII_WORDS = /[a-z0-9]+/g;
const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** `Intl.Segmenter` finds no more than pairs do, and takes twenty times as long. */
function addPairs(run: string, found: string[]): void {
  for (const [part] of run.matchAll(PARTS)) {
    const size = THREES.test(part) ? 3 : 2;
    if (part.length <= size || !UNSPACED.test(part)) found.push(part);
    else for (let i = 0; i + size <= part.length; i += 1) found.push(part.slice(i, i + size));
  }
}

/** Scripts with few letters, in which two of them are not enough. */
const THREES = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Runs of one kind of script, and what stands between the commonest particles of Chinese and Japanese. */
const PARTS =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}]+|[^\P{L}\p{Script=Latin}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}的了我你是在有吗呢吧着过们のはがをにでと]+|\p{Script=Latin}+|\p{N}+/gu;

/** Cuts the commonest endings of English, and those of ordinals. */
function stemOf(word: string): string {
  if (word < 'a') return word.replace(ORDINAL, '$1');
  if (word.length < 4) return word;
  return word.replace(ENDINGS, '').replace(DOUBLED, '$1');
}

/** At least three letters stay. Not -y after a vowel: "plays" and "play". */
const ENDINGS = /(?<=...)(?:ly|ings?|ied|ies|ed|es|s|e|(?<![aeiou])y)$/;
/** "planned" and "plan". */
const DOUBLED = /([b-df-hj-np-tv-z])\1$/;
const ORDINAL = /^(\d{1,2})(?:st|nd|rd|th)$/;

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

/** The terms by which a message is found by its date. They start with @, which no word does. */
export function dateTerms(date: Date): string[] {
  const month = date.getUTCMonth() + 1;
  return [`@${month}-${date.getUTCDate()}`, `@${month}`, `@day${date.getUTCDay()}`, `@${date.getUTCFullYear()}`];
}

/** The terms of the dates that a text names, with their weights. `now` is what "yesterday" and "last Monday" refer to. */
export function datesIn(text: string, now: Date | undefined): Map<string, number> {
  const terms = new Map<string, number>();
  const normal = text.normalize('NFKC').toLowerCase();
  const words = normal.match(/\p{L}+|\d+/gu) ?? [];
  for (const [i, word] of words.entries()) {
    const month = MONTHS.get(word);
    const weekday = WEEKDAYS.get(word);
    if (month !== undefined) {
      const day = [words[i + 1], words[i - 1], words[i - 2], words[i - 3]].find((near) => isDay(near));
      if (day !== undefined) terms.set(`@${month}-${Number(day)}`, DAY);
      else if (BEFORE_MONTH.test(words[i - 1] ?? '')) terms.set(`@${month}`, PERIOD);
    }
    if (weekday !== undefined) {
      terms.set(`@day${weekday}`, PERIOD);
      if (now !== undefined) terms.set(dayBefore(now, (now.getUTCDay() - weekday + 7) % 7 || 7), DAY);
    }
    if (/^(?:19|20)\d\d$/.test(word)) terms.set(`@${word}`, PERIOD);
  }
  for (const [, month, day] of normal.matchAll(ISO_DATE)) terms.set(`@${Number(month)}-${Number(day)}`, DAY);
  for (const [, month = '', day] of normal.matchAll(EAST_ASIAN_DATE)) {
    if (day === undefined) terms.set(`@${numberOf(month)}`, PERIOD);
    else terms.set(`@${numberOf(month)}-${numberOf(day)}`, DAY);
  }
  for (const [day] of normal.matchAll(EAST_ASIAN_WEEKDAY)) terms.set(`@day${SIGNS.indexOf(day) % 7}`, PERIOD);
  if (now !== undefined && YESTERDAY.test(normal)) terms.set(dayBefore(now, 1), DAY);
  return terms;
}

/** How much a day counts in comparison with a word, and a month, a weekday or a year. */
const DAY = 1.5;
const PERIOD = 0.7;

const BEFORE_MONTH = /^(?:in|im|en|of|since|during|last|this|seit|de|du)$/;
const ISO_DATE = /(?<!\d)\d{4}-(\d\d)-(\d\d)(?!\d)/g;
const EAST_ASIAN_DATE = /(\d{1,2}|[一二三四五六七八九十]{1,2})月(?:(\d{1,2}|[一二三四五六七八九十]{1,3})[日号])?/g;
const EAST_ASIAN_WEEKDAY = /(?<=星期|周|礼拜)[一二三四五六日天]|[日月火水木金土](?=曜)/g;
/** The signs of the weekdays, from Sunday: those of Chinese, then another for its Sunday and those of Japanese. */
const SIGNS = '日一二三四五六天月火水木金土';
const YESTERDAY = /\byesterday\b|\bgestern\b|\bayer\b|昨天|昨日/;

function isDay(word: string | undefined): boolean {
  return word !== undefined && /^\d{1,2}$/.test(word) && Number(word) >= 1 && Number(word) <= 31;
}

function dayBefore(now: Date, days: number): string {
  return dateTerms(new Date(now.getTime() - days * 86_400_000))[0] ?? '';
}

/** 四 is 4, 十二 is 12, 二十一 is 21. */
function numberOf(numeral: string): number {
  if (/^\d/.test(numeral)) return Number(numeral);
  const [tens, ones] = numeral.includes('十') ? numeral.split('十') : ['', numeral];
  const digit = (text: string | undefined): number => (text ? '一二三四五六七八九'.indexOf(text) + 1 : 0);
  return (numeral.includes('十') ? 10 * (digit(tens) || 1) : 0) + digit(ones);
}

const MONTHS = /* @__PURE__ */ numbered(1, [
  'january jan januar janvier enero',
  'february feb februar février febrero',
  'march mar märz mars marzo',
  'april apr avril abril',
  'may mai mayo',
  'june jun juni juin junio',
  'july jul juli juillet julio',
  'august aug août agosto',
  'september sep sept septembre septiembre',
  'october oct oktober okt octobre octubre',
  'november nov novembre noviembre',
  'december dec dezember dez décembre diciembre',
]);

const WEEKDAYS = /* @__PURE__ */ numbered(0, [
  'sunday sonntag dimanche domingo',
  'monday montag lundi lunes',
  'tuesday dienstag mardi martes',
  'wednesday mittwoch mercredi miércoles',
  'thursday donnerstag jeudi jueves',
  'friday freitag vendredi viernes',
  'saturday samstag samedi sábado',
]);

function numbered(first: number, names: readonly string[]): Map<string, number> {
  return new Map(names.flatMap((list, i) => list.split(' ').map((name) => [name, first + i] as const)));
}

/** Normalises a text, so that case, punctuation and spaces make no difference. */
export function normalise(text: string): string {
  return (text.normalize('NFKC').toLowerCase().match(EXACT_WORDS) ?? []).join(' ');
}

/**
 * Letters and digits, with the signs that change their meaning: C++ and C#, -20 and 20, 1.5 and 15, < and >, $ and €, !on
 * and on, 👍 and 👎.
 */
const EXACT_WORDS =
  /(?<![\p{L}\p{N}])[-−](?=\p{N})|\p{N}+(?:[.,:]\p{N}+)+|[\p{L}\p{M}\p{N}]+[+#]*|!=|(?<![\p{L}\p{N}!])!(?=\p{L})|[\p{Sc}\p{Sm}\p{So}%‰]/gu;
