import { atOnce, type Sliced } from '../base/slices.js';
import { Memo } from './memo.js';
import { parts, wholeCharacters } from './parts.js';

/** What the emulator knows about text, loaded when first needed: tokens and sentences. */
export interface Language {
  /** Exact tokens of the o200k encoding; special tokens are plain text. */
  countTokens(text: string): number;
  /** The same, for a text that may be long. */
  countingTokens(text: string): Sliced<number>;
  /** The text cut at its tokens, at most `limit` of them; no piece breaks a character. */
  tokenPieces(text: string, limit?: number): TokenPieces;
  sentences(text: string): readonly string[];
}

/** A text as the tokens that would be generated for it. */
export interface TokenPieces {
  /** One entry per token; empty where the token ends inside a character, which then comes whole with a later one. */
  pieces: string[];
  /** Tokens used. */
  count: number;
  /** True when the limit cut the text. */
  cut: boolean;
}

/** Tokens added for the framing of one message (its role and its bounds). */
export const TOKENS_PER_MESSAGE = 4;

/** Loads the tokenizer and the sentence splitter once, and remembers what they said. Lives as long as its emulator. */
export class LanguageLoader {
  #language: Promise<Language> | undefined;

  load(): Promise<Language> {
    this.#language ??= loadLanguage();
    return this.#language;
  }
}

async function loadLanguage(): Promise<Language> {
  const [encoding, { default: nlp }] = await Promise.all([
    import('gpt-tokenizer/encoding/o200k_base'),
    import('compromise/one'),
  ]);
  const asText = { disallowedSpecial: new Set<string>() };
  // The tokenizer remembers 100,000 words, and once it is full each new one takes a hundred times as long.
  let sinceCleared = 0;
  const fresh = (text: string): string => {
    sinceCleared += text.length;
    if (sinceCleared > CHARACTERS_REMEMBERED) {
      encoding.clearMergeCache();
      sinceCleared = 0;
    }
    return text;
  };
  const encode = (text: string): number[] => [...chunks(text)].flatMap((part) => encoding.encode(fresh(part), asText));
  function* counting(text: string): Sliced<number> {
    let sum = 0;
    for (const part of chunks(text)) {
      sum += encoding.countTokens(fresh(part), asText);
      yield;
    }
    return sum;
  }
  // compromise publishes its inner methods untyped; the splitter takes a text and its `world`.
  const { one } = nlp.methods() as { one: { tokenize: { splitSentences(text: string, world: object): string[] } } };
  const world = nlp.world();
  const split = (text: string): string[] => rejoinCode(one.tokenize.splitSentences(text, world));
  const counts = new Memo<number>();
  const splits = new Memo<readonly string[]>();
  return {
    countTokens: (text) => counts.get(text, () => atOnce(counting(text))),
    *countingTokens(text) {
      const count = counts.peek(text) ?? (yield* counting(text));
      return counts.get(text, () => count);
    },
    tokenPieces: (text, limit = Number.POSITIVE_INFINITY) => {
      const tokens = encode(text);
      const pieces = tokenTexts(tokens, encoding.decode);
      const count = Math.min(tokens.length, limit);
      return { pieces: pieces.slice(0, count), count, cut: count < tokens.length };
    },
    sentences: (text) =>
      splits.get(text, () =>
        [...parts(text, LONGEST_SPLIT)].flatMap((part) => split(part.replace(ENDLESS_MARKS, '$1'))),
      ),
  };
}

/**
 * A text in parts that have as many tokens as the whole, so that it can be counted in slices. The tokenizer needs
 * quadratic time for a word without end (50,000 letters in a row: over a second), so runs of one kind are cut too.
 */
function* chunks(text: string): Generator<string> {
  let at = 0;
  while (text.length - at > CHUNK) {
    const window = text.slice(at, at + CHUNK);
    const part = wholeCharacters(window, lastBoundary(window));
    yield* shortRuns(part);
    at += part.length;
  }
  yield* shortRuns(text.slice(at));
}

/** The last place in the second half where no token goes across: between a letter and a space before another letter. */
function lastBoundary(text: string): number {
  for (let at = text.length - 2; at > text.length / 2; at -= 1) {
    if (text.charAt(at) === ' ' && /[a-z] [a-z]/i.test(text.slice(at - 1, at + 2))) return at;
  }
  return text.length;
}

function* shortRuns(text: string): Generator<string> {
  if (text.length <= LONGEST_RUN) {
    if (text !== '') yield text;
    return;
  }
  let start = 0;
  for (const { 0: run, index } of text.matchAll(RUNS)) {
    for (let rest = run.length, from = index; rest > LONGEST_RUN; ) {
      const length = wholeCharacters(text.slice(from, from + LONGEST_RUN), LONGEST_RUN).length;
      yield text.slice(start, from + length);
      start = from + length;
      rest -= length;
      from = start;
    }
  }
  if (start < text.length) yield text.slice(start);
}

const CHARACTERS_REMEMBERED = 200_000;
const CHUNK = 8192;
const LONGEST_RUN = 256;
const RUNS = /[\p{L}\p{M}]+|\s+|[^\s\p{L}\p{M}\p{N}]+/gu;

/** In characters: the splitter needs quadratic time for some texts. */
const LONGEST_SPLIT = 4000;
/** The splitter tries every one of a row of marks as the end of a sentence: 64 of them say as much as more. */
const ENDLESS_MARKS = /((?:[.!?]){64})[.!?]+/g;

/**
 * One piece per token. A token may end inside a character; the decoder, which all users of the tokenizer share, keeps
 * such bytes for its next call. So every token goes through it, in order and at once, and nothing is left behind.
 */
function tokenTexts(tokens: readonly number[], decode: (tokens: number[]) => string): string[] {
  return tokens.map((token) => decode([token]));
}

/** A full stop inside back-ticks does not end a sentence. */
function rejoinCode(sentences: string[]): string[] {
  const joined: string[] = [];
  let open = '';
  for (const sentence of sentences) {
    open += sentence;
    if (open.split('`').length % 2 === 0 && open.length < 2000) continue;
    if (open.trim() !== '') joined.push(open.trim());
    open = '';
  }
  if (open.trim() !== '') joined.push(open.trim());
  return joined;
}
