import { TOKENS_PER_ITEM } from '../../src/context/compaction/candidates.js';
import { TOKENS_PER_MESSAGE } from '../../src/text/language.js';
import { textRank } from './text-rank.js';

/** A simple method to keep part of a conversation within a number of tokens. */
export interface Baseline {
  name: string;
  keep: (messages: readonly string[], tokens: number) => string[];
}

export interface Text {
  countTokens: (text: string) => number;
  sentences: (text: string) => readonly string[];
}

/** Three baselines: the newest messages, the oldest messages, and the most central sentences. */
export function baselines(text: Text): Baseline[] {
  const ranked = new Map<readonly string[], string[]>();
  const central = (messages: readonly string[]): string[] => {
    const known = ranked.get(messages) ?? textRank(messages.flatMap((message) => text.sentences(message)));
    ranked.set(messages, known);
    return known;
  };
  const message = (content: string): number => text.countTokens(content) + TOKENS_PER_MESSAGE;
  const sentence = (content: string): number => text.countTokens(content) + TOKENS_PER_ITEM;
  return [
    { name: 'last', keep: (messages, tokens) => untilFull([...messages].reverse(), tokens, message) },
    { name: 'first', keep: (messages, tokens) => untilFull(messages, tokens, message) },
    { name: 'TextRank', keep: (messages, tokens) => allThatFit(central(messages), tokens, sentence) },
  ];
}

function untilFull(texts: readonly string[], tokens: number, cost: (text: string) => number): string[] {
  let left = tokens;
  const end = texts.findIndex((text) => {
    left -= cost(text);
    return left < 0;
  });
  return end === -1 ? [...texts] : texts.slice(0, end);
}

function allThatFit(texts: readonly string[], tokens: number, cost: (text: string) => number): string[] {
  let left = tokens;
  return texts.filter((text) => {
    if (cost(text) > left) return false;
    left -= cost(text);
    return true;
  });
}
