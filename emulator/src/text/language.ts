import { createRequire } from 'node:module';
import { runSync, type Sliced } from '../base/slices.js';
import { Memo } from './memo.js';
import { wholeCharacters } from './parts.js';
import { sentencesOf } from './sentences.js';
import { contentTerms } from './terms.js';

/** Token counts and sentence boundaries. The tokenizer is loaded on first use. */
export interface Language {
  /** The exact token count in the o200k encoding. Special tokens count as plain text. */
  countTokens(text: string): number;
  /** Like `countTokens`, in slices, for a text that may be long. */
  countingTokens(text: string): Sliced<number>;
  /** Cuts the text at its token boundaries, at most `limit` tokens. No piece splits a character. */
  tokenPieces(text: string, limit?: number): TokenPieces;
  sentences(text: string): readonly string[];
  /** Its words that carry meaning. */
  terms(sentence: string): readonly string[];
}

/** A text as the tokens a model would generate for it. */
export interface TokenPieces {
  /** One entry per token. An entry is empty if its token ends inside a character; a later entry then holds it whole. */
  pieces: string[];
  /** The number of tokens in `pieces`. */
  count: number;
  /** True when the limit cut the text. */
  cut: boolean;
}

/** Where the built package has its copy of the one encoding that is used. The whole tokenizer has 30 MB. */
declare const TOKENIZER: string | undefined;

/** Tokens added to each message for its role and delimiters. */
export const TOKENS_PER_MESSAGE = 4;

/** Loads the tokenizer once, and caches their results. One per emulator. */
export class LanguageLoader {
  #language: Language | undefined;

  load(): Language {
    this.#language ??= loadLanguage();
    return this.#language;
  }
}

function loadLanguage(): Language {
  // On demand, because it takes longer than all the rest; at once, because fake timers do not wait for a file.
  const require = createRequire(import.meta.url);
  const file = typeof TOKENIZER === 'string' ? TOKENIZER : 'gpt-tokenizer/encoding/o200k_base';
  const encoding = require(file) as typeof import('gpt-tokenizer/encoding/o200k_base');
  const asText = { disallowedSpecial: new Set<string>() };
  // The tokenizer caches 100,000 words. Once that cache is full, each new word takes a hundred times as long.
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
  const counts = new Memo<number>();
  const splits = new Memo<readonly string[]>();
  const pieces = new Memo<readonly string[]>();
  const terms = new Memo<readonly string[]>();
  return {
    countTokens: (text) => counts.get(text, () => runSync(counting(text))),
    *countingTokens(text) {
      const count = counts.peek(text) ?? (yield* counting(text));
      return counts.get(text, () => count);
    },
    tokenPieces: (text, limit = Number.POSITIVE_INFINITY) => {
      const all = pieces.get(text, () => tokenTexts(encode(text), encoding.decode));
      const count = Math.min(all.length, limit);
      return { pieces: all.slice(0, count), count, cut: count < all.length };
    },
    sentences: (text) => splits.get(text, () => sentencesOf(text)),
    terms: (sentence) => terms.get(sentence, () => contentTerms(sentence)),
  };
}

/**
 * Splits a text into parts whose token counts add up to that of the whole, so that it can be counted in slices. The
 * tokenizer needs quadratic time for a very long word (over a second for 50,000 letters), so long runs of one kind of
 * character are cut as well.
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

/** The last place in the second half that no token spans: after a letter, before a space and another letter. */
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
const RUNS = /[\p{L}\p{M}]+|\s+|[^\s\p{L}\p{N}]+/gu; // a mark may stand in both

/**
 * One piece per token. A token may end inside a character, and the decoder keeps such bytes for its next call. All
 * users of the tokenizer share that decoder, so every token passes through it in order, synchronously, and no bytes
 * remain.
 */
function tokenTexts(tokens: readonly number[], decode: (tokens: number[]) => string): string[] {
  return tokens.map((token) => decode([token]));
}
