import { ConfigurationError, type ToolCall } from '../../index.js';
import { type Content, textOf } from '../content.js';
import type { SentPrompt } from '../model.js';
import { estimate } from './estimate.js';

/** Actual tokens divided by estimated tokens, for each kind of text. */
type Calibration = Partial<Record<TextKind, number>>;

type TextKind = 'latin' | 'eastAsian' | 'other';

/** What is known of a text: its uncorrected count, and whether the estimate is right for it with any tokenizer. */
interface Looked {
  raw: number;
  kind: TextKind;
  isProse: boolean;
}

/** Tokens for the delimiters and the role of a message. */
const TOKENS_PER_MESSAGE = 4;
/** Tokens of an image or a file. Services differ, and count by size. */
const TOKENS_OF_PART = 1_000;
/** For the id of a call and its delimiters, and for its result if it has none. */
const TOKENS_OF_CALL = 30;
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
/** What prose has little of: digits, symbols, and letters of other scripts. */
const NOT_PROSE = /[^\p{Script=Latin}\p{M} .,;:!?'’"“”()\n-]/gu;

/** What the replies of each model have shown, as long as their client is used. */
const CALIBRATIONS = new WeakMap<object, Map<string, Calibration>>();

/** The calibration for a model. All conversations of a client share it. */
export function calibrationOf(gateway: object, model: string): Calibration {
  const ofModels = CALIBRATIONS.get(gateway) ?? new Map<string, Calibration>();
  const calibration = ofModels.get(model) ?? {};
  CALIBRATIONS.set(gateway, ofModels.set(model, calibration));
  return calibration;
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

  constructor(
    countTokens?: (text: string) => number,
    onError: (error: unknown) => void = () => {},
    /** How far the estimate is off. A text of another kind than those measured is counted on the safe side. */
    readonly calibration: Calibration = {},
  ) {
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
    for (const message of messages) {
      // What an image or a call takes is not known.
      if (typeof message.content !== 'string' || message.tool_calls) return;
      const { raw, kind } = this.#look(countedText(message));
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
    Object.assign(this.calibration, Object.fromEntries(changed));
  }

  /** Raises the estimate after the service rejected a prompt as too long. */
  undercounted(): void {
    const raised = (kind: TextKind): number => clamp(Math.max(1, this.calibration[kind] ?? 1) * 1.25);
    Object.assign(this.calibration, { latin: raised('latin'), eastAsian: raised('eastAsian'), other: raised('other') });
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
export function messageTokens(messages: readonly Counted[], count: (text: string) => number): number {
  return messages.reduce((sum, message) => {
    const parts = typeof message.content === 'string' ? 0 : (message.content ?? []).filter(isNoText).length;
    const calls = message.tool_calls?.length ?? 0;
    const text = count(countedText(message));
    return sum + text + TOKENS_PER_MESSAGE + parts * TOKENS_OF_PART + calls * TOKENS_OF_CALL;
  }, 0);
}

/** What is counted of a message. */
interface Counted {
  readonly content?: Content | null | undefined;
  readonly tool_calls?: readonly ToolCall[] | null | undefined;
}

/** All that a model reads of a message as text. */
function countedText(message: Counted): string {
  const tool_calls = message.tool_calls ?? [];
  const text = textOf(message);
  if (tool_calls.length === 0) return text;
  return [text, ...tool_calls.map((call) => `${call.function.name} ${call.function.arguments}`)].join('\n');
}

function isNoText({ type }: { type: string }): boolean {
  return type !== 'text';
}

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
