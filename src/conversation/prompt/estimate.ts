/** What an ASCII character may be a part of: nothing, a word or number, white space, or a run of one symbol. */
const OTHER = 0;
const WORD = 1;
const SPACE = 2;
const SYMBOL = 3;
const VOWELS = Uint8Array.from({ length: 128 }, (_, code) => Number(/[aeiouy]/i.test(String.fromCharCode(code))));
/**
 * Runs of Latin letters and digits, runs of other letters, runs of one symbol, and white space. A single space is
 * skipped, except before a digit, because it belongs to the next token.
 */
const PIECE =
  /(?:[A-Za-z0-9\u00C0-\u024F\u1E00-\u1EFF]|[\u0300-\u036F])+|\s+(?=\d)|\s{2,}|[^\S ]|[\p{L}\p{M}]+|([!-/:-@[-`{-~])\1*|\S/uy;
/** Most words: letters of one case, or digits. */
const ONE_PART = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/;
/** The vocabulary knows English words best. */
const ENGLISH_LETTER = 0.24;
const FOREIGN_LETTER = 0.32;
const ACCENT = 0.52;
/** Random letters for a token: those with six consonants in a row. */
const RANDOM = 1.6;
const ENGLISH = new Set(
  "a and are be but can for have i if in is it not of on or that the this to was we with you your it's i'm".split(' '),
);

/**
 * Estimates the tokens of a text without a tokenizer, as the o200k encoding has them. For a text of one kind, such as prose
 * in any script, code or numbers, the estimate is at most 10 % too low, and usually too high. Text in capitals may have
 * twice as many tokens, and Cantonese a third more. Not rounded, because a prompt has many short texts.
 */
export function estimate(text: string): number {
  const letterCost = isEnglish(text) ? ENGLISH_LETTER : FOREIGN_LETTER;
  let tokens = 0;
  let at = 0;
  while (at < text.length) {
    const end = endOfPiece(text, at);
    if (end > at) {
      tokens += asciiCost(text, at, end, letterCost);
      at = end;
    } else {
      PIECE.lastIndex = at;
      const [piece = ' '] = PIECE.exec(text) ?? [];
      if (piece !== ' ') tokens += cost(piece, letterCost);
      at += piece.length;
    }
  }
  return tokens;
}

const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z0-9]/.test(character)) return WORD;
  if (/\s/.test(character)) return SPACE;
  return /[!-~]/.test(character) ? SYMBOL : OTHER;
});

/** The end of a piece of ASCII. Its start, if it contains other characters, which take a slower way. */
function endOfPiece(text: string, start: number): number {
  const first = text.charCodeAt(start);
  const kind = first < 128 ? KINDS[first] : OTHER;
  if (kind === OTHER) return start;
  for (let end = start + 1; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code > 127) return start;
    if (kind === SYMBOL ? code !== first : KINDS[code] !== kind) return end;
  }
  return text.length;
}

function asciiCost(text: string, start: number, end: number, letterCost: number): number {
  const length = end - start;
  const first = text.charCodeAt(start);
  const kind = KINDS[first];
  if (kind === SYMBOL) return 0.7 + (length - 1) / 4;
  if (kind === SPACE) {
    if (length > 1) return spaceCost(text.slice(start, end));
    return first !== 32 || isDigit(text.charCodeAt(end)) ? 1 : 0; // a single space belongs to the next token, but to no digit
  }
  return wordCost(text, start, end, letterCost) ?? latinCost(text.slice(start, end), letterCost);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** The tokens of a word in small letters, which may begin with a capital, as most do. */
function wordCost(text: string, start: number, end: number, letterCost: number): number | undefined {
  let consonants = 0;
  let most = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code < (at === start ? 65 : 97)) return undefined;
    consonants = VOWELS[code] === 1 ? 0 : consonants + 1;
    if (consonants > most) most = consonants;
  }
  return most >= 6 ? (end - start) / RANDOM : lettersCost(end - start, letterCost);
}

function cost(piece: string, letterCost: number): number {
  if (/^[A-Za-z0-9\u00C0-\u024F\u1E00-\u1EFF]/.test(piece)) return latinCost(piece, letterCost);
  if (/^\s/.test(piece)) return spaceCost(piece);
  if (/^[!-~]/.test(piece)) return 0.7 + (piece.length - 1) / 4;
  let tokens = 0;
  for (const character of piece) tokens += costOf(character.codePointAt(0) ?? 0);
  return /^\p{L}/u.test(piece) ? Math.max(1, tokens) : tokens;
}

/** Runs of one character: a tokenizer joins about 90 spaces, or 16 tabs or line ends. */
function spaceCost(run: string): number {
  let tokens = 0;
  for (let at = 0; at < run.length; ) {
    const same = run.startsWith('\r\n', at) ? '\r\n' : run.charAt(at);
    const start = at;
    while (run.startsWith(same, at)) at += same.length;
    tokens += 0.62 + (at - start) * (SPACES.get(same.charAt(0)) ?? 1);
  }
  return Math.max(1, tokens);
}

const SPACES = new Map([
  [' ', 1 / 90],
  ['\t', 1 / 16],
  ['\n', 1 / 16],
  ['\u00A0', 1 / 8],
  ['\u3000', 1 / 16],
  ['\r', 1 / 8],
]);

function latinCost(run: string, letterCost: number): number {
  if (ONE_PART.test(run)) return partCost(run, letterCost);
  const accents = run.length - run.replace(/[^A-Za-z0-9]+/g, '').length;
  if (accents > 0) return Math.max(1, letterCost * run.length + ACCENT * accents);
  const parts = run.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const mixed = /\d/.test(run) && /[A-Za-z]/.test(run);
  // Ids: a token covers less than two random characters.
  if ((mixed && run.length >= 5) || (parts.length > 3 && run.length < parts.length * 2.5)) {
    return run.length * (/[a-z]/.test(run) ? 0.7 : 0.85);
  }
  return parts.reduce((tokens, part) => tokens + partCost(part, letterCost), 0);
}

function partCost(part: string, letterCost: number): number {
  if (/\d/.test(part)) return Math.ceil(part.length / 3);
  return /[^aeiouy]{6}/i.test(part) ? part.length / RANDOM : lettersCost(part.length, letterCost);
}

function lettersCost(length: number, letterCost: number): number {
  return letterCost === ENGLISH_LETTER ? Math.ceil(length / 6) : Math.max(1, letterCost * length);
}

/** Whether one of eight words is among the commonest of English. */
function isEnglish(text: string): boolean {
  const some = text.length > 2_000 ? text.slice(0, 2_000) : text;
  const words = some.match(/[A-Za-z\u00C0-\u024F']+/g) ?? [];
  const common = words.filter((word) => ENGLISH.has(word.toLowerCase())).length;
  return common * 8 >= words.length;
}

/** The tokens of a character: of a script that the vocabulary does not know, one for each byte of UTF-8. */
function costOf(code: number): number {
  let [low, high] = [0, COSTS.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (code <= (COSTS[middle]?.[0] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return COSTS[low]?.[1] ?? 4;
}

/** The last character of each range, and the tokens of one character in it, with its share of spaces. */
const COSTS: readonly (readonly [last: number, tokens: number])[] = [
  [0x2af, 1], // Latin
  [0x36f, 1.5], // phonetic signs, combining marks
  [0x3ff, 0.62], // Greek
  [0x40f, 0.8], // Cyrillic beside Russian
  [0x44f, 0.4],
  [0x52f, 1],
  [0x590, 0.53], // Armenian
  [0x5c7, 1.6], // Hebrew points, which split words
  [0x5ff, 0.53], // Hebrew
  [0x64a, 0.4], // Arabic
  [0x65f, 1.1], // its vowel signs
  [0x6c5, 0.8], // Persian, Urdu
  [0x6cb, 1.1], // Uyghur
  [0x6d4, 0.75],
  [0x6ff, 1.1],
  [0x8ff, 2.2], // Syriac, Thaana, N'Ko
  [0x9ff, 0.46], // Devanagari, Bengali
  [0xa7f, 0.77], // Gurmukhi
  [0xaff, 0.53], // Gujarati
  [0xb7f, 1.2], // Odia
  [0xd7f, 0.52], // Tamil, Telugu, Kannada, Malayalam
  [0xdff, 0.7], // Sinhala
  [0xe7f, 0.52], // Thai
  [0xfff, 2], // Lao, Tibetan
  [0x109f, 0.75], // Burmese
  [0x10ff, 0.48], // Georgian
  [0x177f, 3.1], // Hangul in parts, Ethiopic, Cherokee, Canadian syllables, runes
  [0x17ff, 0.78], // Khmer
  [0x1fff, 3.1],
  [0x206f, 1], // punctuation
  [0x27ff, 2], // symbols
  [0x2fff, 3], // Braille, Tifinagh, radicals
  [0x303f, 1], // Chinese punctuation
  [0x30ff, 0.85], // Japanese
  [0x4dff, 3],
  [0x9fff, 0.97], // Chinese
  [0xabff, 3.1],
  [0xd7af, 0.92], // Korean
  [0xfaff, 3],
  [0xff9f, 1.75], // Arabic forms, variation selectors, full width, half-width kana
  [0xffff, 2],
  [0x1efff, 4],
  [0x1faff, 2.2], // emoji
  [0x10ffff, 4],
];
