import { estimateTokens } from './tokens.js';

/** Counts tokens for one conversation: exactly if the app can, else by an estimate that learns from the usage of replies. */
export class TokenCounter {
  readonly estimated: boolean;
  readonly #raw: (text: string) => number;
  /** Of texts that are counted again at every turn. */
  readonly #known = new Map<string, number>();
  #factor = 1;
  #calibrated = false;

  constructor(countTokens?: (text: string) => number) {
    this.estimated = countTokens === undefined;
    this.#raw = countTokens ?? estimateTokens;
  }

  /** Tokens to reckon with. */
  readonly count = (text: string): number => {
    const safety = this.estimated ? (this.#calibrated ? SAFETY_WHEN_CALIBRATED : SAFETY) : 1;
    return Math.ceil(this.raw(text) * this.#factor * safety);
  };

  /** As counted or estimated, with nothing learned. */
  raw(text: string): number {
    let tokens = this.#known.get(text);
    if (tokens === undefined) {
      tokens = this.#raw(text);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(text, tokens);
    }
    return tokens;
  }

  /** What a prompt really had. */
  calibrate(texts: readonly string[], actual: number): void {
    const raw = texts.reduce((sum, text) => sum + this.raw(text), 0);
    const counted = actual - texts.length * TOKENS_PER_MESSAGE;
    if (!this.estimated || raw <= 0 || counted <= 0) return;
    this.#factor = clamp(counted / raw);
    this.#calibrated = true;
  }

  /** The service found a prompt too long that was thought to fit. */
  undercounted(): void {
    this.#factor = clamp(this.#factor * 1.25);
    this.#calibrated = false;
  }
}

/** What the bounds and the role of a message cost. */
export const TOKENS_PER_MESSAGE = 4;
const SAFETY = 1.25;
const SAFETY_WHEN_CALIBRATED = 1.05;
const MOST_KNOWN = 5_000;

function clamp(factor: number): number {
  return Math.min(2, Math.max(0.5, factor));
}
