import { Memo } from './memo.js';

/** What the emulator knows about text, loaded when first needed: tokens and sentences. */
export interface Language {
  /** Exact tokens of the o200k encoding; special tokens are plain text. */
  countTokens(text: string): number;
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
  const encode = (text: string): number[] => shortRuns(text).flatMap((part) => encoding.encode(part, asText));
  // compromise publishes its inner methods untyped; the splitter takes a text and its `world`.
  const { one } = nlp.methods() as { one: { tokenize: { splitSentences(text: string, world: object): string[] } } };
  const world = nlp.world();
  const counts = new Memo<number>();
  const splits = new Memo<readonly string[]>();
  return {
    countTokens: (text) =>
      counts.get(text, () => shortRuns(text).reduce((sum, part) => sum + encoding.countTokens(part, asText), 0)),
    tokenPieces: (text, limit = Number.POSITIVE_INFINITY) => {
      const tokens = encode(text);
      const pieces = wholeCharacters(tokens, encoding.decode);
      const count = Math.min(tokens.length, limit);
      return { pieces: pieces.slice(0, count), count, cut: count < tokens.length };
    },
    sentences: (text) =>
      splits.get(text, () => rejoinCode(one.tokenize.splitSentences(text.replace(ENDLESS_MARKS, '$1'), world))),
  };
}

/**
 * The tokenizer needs quadratic time for a word without end (50,000 letters in a row: over a second), so runs of one
 * kind are cut. Ordinary text comes back whole.
 */
function shortRuns(text: string): string[] {
  if (text.length <= LONGEST_RUN || !ENDLESS_RUN.test(text)) return [text];
  const parts: string[] = [];
  let start = 0;
  for (const match of text.matchAll(ENDLESS_RUNS)) {
    let end = match.index + match[0].length;
    // Never between the two halves of a character.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    parts.push(text.slice(start, end));
    start = end;
  }
  parts.push(text.slice(start));
  return parts.filter((part) => part !== '');
}

const LONGEST_RUN = 256;
const ENDLESS_RUN = /[\p{L}\p{M}]{256}|\s{256}|[^\s\p{L}\p{M}\p{N}]{256}/u;
const ENDLESS_RUNS = new RegExp(ENDLESS_RUN.source, 'gu');

/** The splitter tries every one of a row of marks as the end of a sentence: 64 of them say as much as more. */
const ENDLESS_MARKS = /((?:[.!?]){64})[.!?]+/g;

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/**
 * One piece per token. A token may end inside a character; the decoder, which all users of the tokenizer share, keeps
 * such bytes for its next call. So every token goes through it, in order and at once, and nothing is left behind.
 */
function wholeCharacters(tokens: readonly number[], decode: (tokens: number[]) => string): string[] {
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
