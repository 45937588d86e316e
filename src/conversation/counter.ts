import { estimateTokens } from './tokens.js';

/**
 * Counts tokens for one conversation: with the app's `countTokens`, or else with an estimate calibrated by reported
 * usage.
 */
export class TokenCounter {
  readonly estimated: boolean;
  readonly #raw: (text: string) => number;
  /** A cache, because each turn counts the same texts again. */
  readonly #known = new Map<string, Known>();
  /** Actual tokens divided by estimated tokens, in the newest prompt whose usage was reported. */
  #factor: number | undefined;

  constructor(countTokens?: (text: string) => number) {
    this.estimated = countTokens === undefined;
    this.#raw = countTokens ?? estimateTokens;
  }

  /**
   * A count on the safe side. A factor below 1 applies only to the texts it was measured on: the next text may be in
   * another language.
   */
  readonly count = (text: string): number => {
    const { raw, factor } = this.#look(text);
    if (!this.estimated) return raw;
    if (factor !== undefined) return Math.ceil(raw * factor * SAFETY.measured);
    const most = this.#factor === undefined ? SAFETY.unknown : Math.max(1, this.#factor) * SAFETY.new;
    return Math.ceil(raw * most);
  };

  /** The likely count. */
  readonly expect = (text: string): number => Math.ceil(this.#look(text).raw * (this.#factor ?? 1) * SAFETY.measured);

  /** Calibrates the estimate with the actual token count of a prompt. */
  calibrate(texts: readonly string[], actual: number): void {
    const raw = texts.reduce((sum, text) => sum + this.#look(text).raw, 0);
    const counted = actual - texts.length * TOKENS_PER_MESSAGE;
    if (!this.estimated || raw <= 0 || counted <= 0) return;
    this.#factor = clamp(counted / raw);
    // The context is counted line by line, and a recovered line may be a former message. So the parts are calibrated
    // too.
    for (const text of texts)
      for (const part of [text, `- ${text}`, ...text.split('\n')]) this.#look(part).factor = this.#factor;
  }

  /** Raises the estimate after the service rejected a prompt as too long. */
  undercounted(): void {
    this.#factor = clamp(Math.max(1, this.#factor ?? 1) * 1.25);
    this.#known.clear();
  }

  #look(text: string): Known {
    let known = this.#known.get(text);
    if (known === undefined) {
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      known = { raw: this.#raw(text), factor: undefined };
      this.#known.set(text, known);
    }
    return known;
  }
}

interface Known {
  raw: number;
  /** The factor of the newest measured prompt that contained the text. */
  factor: number | undefined;
}

/** Tokens for the delimiters and the role of a message. */
export const TOKENS_PER_MESSAGE = 4;
/**
 * Safety factors. `measured`: for texts of a measured prompt. `new`: for other texts, whose estimate may be a tenth too
 * low. `unknown`: before the first measured prompt, when the tokenizer is unknown.
 */
const SAFETY = { measured: 1.05, new: 1.12, unknown: 1.25 };
const MOST_KNOWN = 20_000;

function clamp(factor: number): number {
  return Math.min(2, Math.max(0.5, factor));
}
