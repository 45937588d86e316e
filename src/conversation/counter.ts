import { ConfigurationError } from '../index.js';
import { estimateTokens } from './tokens.js';

/** Actual tokens divided by estimated tokens, for each kind of text. Plain JSON. */
export type Calibration = Readonly<Partial<Record<TextKind, number>>>;

type TextKind = 'latin' | 'eastAsian' | 'other';

/**
 * Counts tokens for one conversation: with the app's `countTokens`, or else with an estimate calibrated by reported
 * usage.
 */
export class TokenCounter {
  readonly estimated: boolean;
  readonly #raw: (text: string) => number;
  /** A cache, because each turn counts the same texts again. */
  readonly #known = new Map<string, { raw: number; kind: TextKind }>();
  #characters = 0;
  /** How far the estimate is off. A text of another kind than those measured is counted on the safe side. */
  calibration: Calibration = {};

  constructor(countTokens?: (text: string) => number) {
    this.estimated = countTokens === undefined;
    this.#raw = countTokens === undefined ? estimateTokens : checked(countTokens);
  }

  /** A count on the safe side. */
  readonly count = (text: string): number => {
    const { raw, kind } = this.#look(text);
    return this.estimated ? Math.ceil(raw * this.#factor(kind)) : raw;
  };

  /** Calibrates the estimate with the actual token count of a prompt. */
  calibrate(texts: readonly string[], actual: number): void {
    const sums: Record<TextKind, number> = { latin: 0, eastAsian: 0, other: 0 };
    for (const text of texts) {
      const { raw, kind } = this.#look(text);
      sums[kind] += raw;
    }
    const kinds = Object.keys(sums) as TextKind[]; // the cast is true: the record has these keys and no others
    const all = kinds.reduce((sum, kind) => sum + sums[kind], 0);
    const counted = actual - texts.length * TOKENS_PER_MESSAGE;
    if (!this.estimated || all <= 0 || !(counted > 0)) return;
    const factor = clamp(counted / all);
    // Of a mixed prompt it is not known which kind was off, so that it can only raise a factor.
    const changed = kinds
      .filter((kind) => sums[kind] > 0)
      .map((kind) => {
        const isMost = sums[kind] >= MOST_OF_A_PROMPT * all;
        return [kind, isMost ? factor : Math.max(factor, this.calibration[kind] ?? 1)] as const;
      });
    this.calibration = { ...this.calibration, ...Object.fromEntries(changed) };
  }

  /** Raises the estimate after the service rejected a prompt as too long. */
  undercounted(): void {
    const raised = (kind: TextKind): number => clamp(Math.max(1, this.calibration[kind] ?? 1) * 1.25);
    this.calibration = { latin: raised('latin'), eastAsian: raised('eastAsian'), other: raised('other') };
  }

  #factor(kind: TextKind): number {
    const measured = this.calibration[kind];
    if (measured !== undefined) return measured * SAFETY.measured;
    const others = Object.values(this.calibration);
    return others.length === 0 ? SAFETY.unknown : Math.max(1, ...others) * SAFETY.new;
  }

  #look(text: string): { raw: number; kind: TextKind } {
    let known = this.#known.get(text);
    if (known === undefined) {
      known = { raw: this.#raw(text), kind: kindOf(text) };
      this.#characters += text.length;
      if (this.#characters > MAX_CHARACTERS) {
        this.#known.clear();
        this.#characters = text.length;
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
 * Safety factors. `measured`: for a kind of text that was measured. `new`: for other kinds. `unknown`: before the first
 * measured prompt, when the tokenizer is unknown.
 */
const SAFETY = { measured: 1.05, new: 1.12, unknown: 1.25 };
/** Share of a prompt's tokens that must be of one kind to measure that kind. */
const MOST_OF_A_PROMPT = 0.8;
/** The cache's bound: 4 million characters are 4 to 8 MB. */
const MAX_CHARACTERS = 4_000_000;

function clamp(factor: number): number {
  return Math.min(4, Math.max(0.5, factor));
}

function kindOf(text: string): TextKind {
  const some = text.length > 2_000 ? text.slice(0, 1_000) + text.slice(-1_000) : text;
  const foreign = some.match(/[^\p{ASCII}\p{Script=Latin}\p{P}]/gu)?.length ?? 0;
  if (foreign * 10 < some.length) return 'latin';
  const eastAsian =
    some.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0;
  return eastAsian * 2 >= foreign ? 'eastAsian' : 'other';
}

/** A wrong count would switch the budget off without a word. */
function checked(countTokens: (text: string) => number): (text: string) => number {
  return (text) => {
    const tokens: unknown = countTokens(text);
    if (typeof tokens === 'number' && tokens >= 0 && Number.isFinite(tokens)) return tokens;
    throw new ConfigurationError(
      `countTokens must return a number of tokens, not ${typeof tokens === 'number' ? tokens : 'a promise or another value'}.`,
    );
  };
}
