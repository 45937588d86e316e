import { ConfigurationError } from '../../index.js';
import type { SentPrompt } from '../model.js';

/** Actual tokens divided by estimated tokens, for each kind of text. Plain JSON. */
export type Calibration = Readonly<Partial<Record<TextKind, number>>>;

type TextKind = 'latin' | 'eastAsian' | 'other';

/** What is known of a text: its uncorrected count, and whether the estimate is right for it with any tokenizer. */
interface Looked {
  raw: number;
  kind: TextKind;
  isProse: boolean;
}

/**
 * Counts tokens for one conversation: with the app's `countTokens`, or else with an estimate calibrated by reported
 * usage.
 */
export class TokenCounter {
  readonly estimated: boolean;
  readonly #raw: (text: string) => number;
  /** A cache, because each turn counts the same texts again. */
  readonly #known = new Map<string, Looked>();
  #bytes = 0;
  /** How far the estimate is off. A text of another kind than those measured is counted on the safe side. */
  calibration: Calibration = {};

  constructor(countTokens?: (text: string) => number, onError: (error: unknown) => void = () => {}) {
    this.estimated = countTokens === undefined;
    this.#raw = countTokens === undefined ? estimate : checked(countTokens, onError);
  }

  /** A count on the safe side. Not rounded, because a prompt has many short texts. */
  readonly count = (text: string): number => {
    const looked = this.#look(text);
    return this.estimated ? looked.raw * this.#factor(looked) : looked.raw;
  };

  /** Calibrates the estimate with the actual token count of a prompt. */
  calibrate({ messages, prompt_tokens }: SentPrompt): void {
    const sums: Record<TextKind, number> = { latin: 0, eastAsian: 0, other: 0 };
    for (const { content } of messages) {
      const { raw, kind } = this.#look(content);
      sums[kind] += raw;
    }
    const kinds = Object.keys(sums) as TextKind[]; // the cast is true: the record has these keys and no others
    const all = kinds.reduce((sum, kind) => sum + sums[kind], 0);
    const counted = prompt_tokens - messages.length * TOKENS_PER_MESSAGE;
    if (!this.estimated || all <= 0 || !(counted > 0)) return;
    const factor = clamp(counted / all);
    // In a mixed prompt, it is not known which kind was off, so it can only raise a factor.
    const changed = kinds
      .filter((kind) => sums[kind] > 0)
      .map((kind) => {
        const isMixed = sums[kind] < MOST_OF_A_PROMPT * all;
        const { [kind]: before = isMixed ? 1 : factor } = this.calibration;
        // It rises at once and falls slowly, because the next prompt may be of other texts.
        return [kind, Math.max(factor, isMixed ? before : before + FALL * (factor - before))] as const;
      });
    this.calibration = { ...this.calibration, ...Object.fromEntries(changed) };
  }

  /** Raises the estimate after the service rejected a prompt as too long. */
  undercounted(): void {
    const raised = (kind: TextKind): number => clamp(Math.max(1, this.calibration[kind] ?? 1) * 1.25);
    this.calibration = { latin: raised('latin'), eastAsian: raised('eastAsian'), other: raised('other') };
  }

  #factor({ kind, isProse }: Looked): number {
    const measured = this.calibration[kind];
    if (measured !== undefined) return measured * SAFETY.measured;
    const others = Object.values(this.calibration);
    if (others.length === 0) return isProse ? SAFETY.measured : SAFETY.unknown;
    return Math.max(1, ...others) * SAFETY.new;
  }

  #look(text: string): Looked {
    let known = this.#known.get(text);
    if (known === undefined) {
      known = { raw: this.#raw(text), ...kindOf(text) };
      const bytes = 2 * text.length + ENTRY;
      this.#bytes += bytes;
      if (this.#bytes > MAX_BYTES) {
        this.#known.clear();
        this.#bytes = bytes;
      }
      this.#known.set(text, known);
    }
    return known;
  }
}

/** Counts the tokens of messages, including their delimiters. */
export function messageTokens(messages: readonly { content: string }[], count: (text: string) => number): number {
  return messages.reduce((sum, { content }) => sum + count(content) + TOKENS_PER_MESSAGE, 0);
}

/** Tokens for the delimiters and the role of a message. */
const TOKENS_PER_MESSAGE = 4;
/**
 * Safety factors. `measured`: for a kind of text that was measured, and for prose in Latin letters, for which tokenizers
 * agree. `new`: for other kinds. `unknown`: for them before the first measured prompt.
 */
const SAFETY = { measured: 1.05, new: 1.12, unknown: 1.25 };
/** Share of a prompt's tokens that must be of one kind to measure that kind. */
const MOST_OF_A_PROMPT = 0.8;
/** Share of a difference by which a factor falls. */
const FALL = 0.2;
/** Bytes of an entry of the cache beside its text, and the bound of all. */
const ENTRY = 150;
const MAX_BYTES = 10_000_000;

function clamp(factor: number): number {
  return Math.min(4, Math.max(0.5, factor));
}

function kindOf(text: string): Omit<Looked, 'raw'> {
  const some = text.length > 2_000 ? text.slice(0, 1_000) + text.slice(-1_000) : text;
  const odd = some.match(NOT_PROSE)?.length ?? 0;
  const capitals = some.match(/\p{Lu}/gu)?.length ?? 0; // of which tokenizers know few words
  if (odd * 20 <= some.length && capitals * 3 <= some.length) return { kind: 'latin', isProse: true };
  const foreign = some.match(/[^\p{ASCII}\p{Script=Latin}\p{P}]/gu)?.length ?? 0;
  if (foreign * 10 < some.length) return { kind: 'latin', isProse: false };
  const eastAsian =
    some.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0;
  return { kind: eastAsian * 2 >= foreign ? 'eastAsian' : 'other', isProse: false };
}

/** What prose has little of: digits, symbols, and letters of other scripts. */
const NOT_PROSE = /[^\p{Script=Latin}\p{M} .,;:!?'’"“”()\n-]/gu;

/**
 * With a wrong count, prompts would silently exceed the budget. Tokenizers throw for a text with a special token: once it
 * is stored, every turn would fail.
 */
function checked(countTokens: (text: string) => number, onError: (error: unknown) => void): (text: string) => number {
  return (text) => {
    let tokens: unknown;
    try {
      tokens = countTokens(text);
    } catch (error) {
      onError(error);
      return SAFETY.unknown * estimate(text);
    }
    if (typeof tokens === 'number' && tokens >= 0 && Number.isFinite(tokens)) return tokens;
    throw new ConfigurationError(
      `countTokens must return a number of tokens, not ${typeof tokens === 'number' ? tokens : 'a promise or another value'}.`,
    );
  };
}

/**
 * Estimates the tokens of a text without a tokenizer. It tends to be too high rather than too low. The costs are fitted
 * to the o200k encoding. For a text of one kind (prose in any script, code, JSON, ids, numbers, emoji, white space), the
 * estimate is at most 10 % below the exact count. Text in capitals may have twice as many tokens, and Cantonese, whose
 * characters are rare, a third more.
 *
 * @example
 * ```ts
 * import { estimateTokens } from 'context-gateway/conversation';
 * console.log(estimateTokens('The harbour opens at six.'));
 * ```
 */
export function estimateTokens(text: string): number {
  return Math.ceil(estimate(text));
}

function estimate(text: string): number {
  const letterCost = isEnglish(text) ? ENGLISH_LETTER : FOREIGN_LETTER;
  let tokens = 0;
  for (const piece of text.match(PIECES) ?? []) tokens += cost(piece, letterCost);
  return tokens;
}

/**
 * Runs of Latin letters and digits, runs of other letters, runs of one symbol, and white space. A single space is
 * skipped, except before a digit, because it belongs to the next token.
 */
const PIECES =
  /(?:[A-Za-z0-9\u00C0-\u024F\u1E00-\u1EFF]|[\u0300-\u036F])+|\s+(?=\d)|\s{2,}|[^\S ]|[\p{L}\p{M}]+|([!-/:-@[-`{-~])\1*|\S/gu;

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
  for (const [same] of run.matchAll(/(\r\n|\s)\1*/g)) tokens += 0.62 + same.length * (SPACES.get(same.charAt(0)) ?? 1);
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
  const accents = run.match(/[^A-Za-z0-9]/g)?.length ?? 0;
  if (accents > 0) return Math.max(1, letterCost * run.length + ACCENT * accents);
  const parts = run.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const mixed = /\d/.test(run) && /[A-Za-z]/.test(run);
  // Ids: a token covers less than two random characters.
  if ((mixed && run.length >= 5) || (parts.length > 3 && run.length < parts.length * 2.5)) {
    return run.length * (/[a-z]/.test(run) ? 0.7 : 0.85);
  }
  return parts.reduce((tokens, part) => tokens + partCost(part, letterCost), 0);
}

/** Most words. */
const ONE_PART = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/;

function partCost(part: string, letterCost: number): number {
  if (/\d/.test(part)) return Math.ceil(part.length / 3);
  if (/[^aeiouy]{6}/i.test(part)) return part.length / 1.6; // random
  return letterCost === ENGLISH_LETTER ? Math.ceil(part.length / 6) : Math.max(1, letterCost * part.length);
}

/** The vocabulary knows English words best. */
const ENGLISH_LETTER = 0.24;
const FOREIGN_LETTER = 0.32;
const ACCENT = 0.52;

/** Whether one of eight words is among the commonest of English. */
function isEnglish(text: string): boolean {
  const some = text.length > 2_000 ? text.slice(0, 2_000) : text;
  const words = some.match(/[A-Za-z\u00C0-\u024F']+/g) ?? [];
  const common = words.filter((word) => ENGLISH.has(word.toLowerCase())).length;
  return common * 8 >= words.length;
}

const ENGLISH = new Set(
  "a and are be but can for have i if in is it not of on or that the this to was we with you your it's i'm".split(' '),
);

/** The tokens of a character: of a script that the vocabulary does not know, one for each byte of UTF-8. */
function costOf(code: number): number {
  let [low, high] = [0, COSTS.length - 1];
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
