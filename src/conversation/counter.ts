import { estimateTokens } from './tokens.js';

/** Counts tokens for one conversation: exactly if the app can, else by an estimate that learns from the usage of replies. */
export class TokenCounter {
  readonly estimated: boolean;
  readonly #raw: (text: string) => number;
  /** Texts are counted again at every turn. */
  readonly #known = new Map<string, Known>();
  /** Of the newest prompt that was measured. */
  #factor: number | undefined;

  constructor(countTokens?: (text: string) => number) {
    this.estimated = countTokens === undefined;
    this.#raw = countTokens ?? estimateTokens;
  }

  /** Tokens to reckon with. A factor below 1 holds for the texts it was learned from only: the next may be of another language. */
  readonly count = (text: string): number => {
    const { raw, factor } = this.#look(text);
    if (!this.estimated) return raw;
    if (factor !== undefined) return Math.ceil(raw * factor * SAFETY.measured);
    const most = this.#factor === undefined ? SAFETY.unknown : Math.max(1, this.#factor) * SAFETY.new;
    return Math.ceil(raw * most);
  };

  /** What is likely. */
  readonly expect = (text: string): number => Math.ceil(this.#look(text).raw * (this.#factor ?? 1) * SAFETY.measured);

  /** What a prompt really had. */
  calibrate(texts: readonly string[], actual: number): void {
    const raw = texts.reduce((sum, text) => sum + this.#look(text).raw, 0);
    const counted = actual - texts.length * TOKENS_PER_MESSAGE;
    if (!this.estimated || raw <= 0 || counted <= 0) return;
    this.#factor = clamp(counted / raw);
    // The context is counted line by line, and what is brought back was a message before.
    for (const text of texts)
      for (const part of [text, `- ${text}`, ...text.split('\n')]) this.#look(part).factor = this.#factor;
  }

  /** The service found a prompt too long that was thought to fit. */
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
  /** Of the newest measured prompt it was in. */
  factor: number | undefined;
}

/** What the bounds and the role of a message cost. */
export const TOKENS_PER_MESSAGE = 4;
/** Of texts that were measured in a prompt; of others, whose estimate may be a tenth too low; of those of a tokenizer that is not known yet. */
const SAFETY = { measured: 1.05, new: 1.12, unknown: 1.25 };
const MOST_KNOWN = 20_000;

function clamp(factor: number): number {
  return Math.min(2, Math.max(0.5, factor));
}
