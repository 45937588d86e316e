import { startOf } from '../../base/unicode.js';
import type { Match } from '../model.js';
import type { Loaded } from './archive.js';
import { datesIn, localTime } from './dates.js';
import { type Holders, type InSlices, Passages, type Term } from './terms.js';
import { BEGINNING, wordsAsked } from './words.js';

/** What is looked for in the messages of a conversation. */
export interface SearchQuery {
  text: string;
  /** The user messages before it, which count only if it says little. */
  previous?: readonly string[];
  limit: number;
  /** How much what stands around a message counts. @default 1 */
  weight?: 0 | 1;
  /** The number of messages to search. @default all */
  until?: number | undefined;
  /** From when "yesterday" counts. */
  now: string;
  /** The user's, in which days begin. @default the time zone that a time is written with */
  timeZone?: string | undefined;
}

/** The best messages for a query, by their positions. They need not be loaded. */
export interface Ranking {
  best: { position: number; score: number; match: Match }[];
  /** From 0 to 1: how much of the query the best message says. Low if what matters is spread over many messages. */
  coverage: number;
}

/** A query with so many words, or fewer, says little. */
const FEW = 2;
/** The usual constants of BM25. A term counts once in a passage: how often it occurs made no difference. */
const K1 = 1.2;
const B = 0.75;
/** Weights of the words in the passages next to this one, and in those one further away. */
const BESIDE = 0.5;
const NEXT_BUT_ONE = 0.25;
/** Weight of the score of the block of passages around this one. The blocks next to it count half. */
const SURROUNDINGS = 0.5;
const BLOCK = 16;
/** The constant of BM25 for blocks, in which a term occurs more often. */
const K_BLOCK = 4;
/** How much a word counts that only begins like one of the query. */
const ALIKE = 0.5;
/** Passages on both sides that count for one. */
const MARGIN = 2;
/** Weight of the words in the two user messages before, if the query says little. */
const PREVIOUS = 0.2;
/** What they count together at most, as a share of what the words of the query count. */
const PREVIOUS_AT_MOST = 0.5;
/** Maximum number of terms to look for. */
const MAX_TERMS = 48;

/**
 * Ranks messages for a query. The score of a message comes from its own words (BM25), and less from those of the messages
 * around it, because an answer often does not name its subject. The passages of a long message are ranked one by one. Nothing if
 * the query has only common words.
 *
 * There is no index: one pass over the texts finds those that may have a word of the query, and only these are taken apart.
 * The weights were chosen with bench/conversation.
 */
export function* rankMessages(messages: Loaded, query: SearchQuery): InSlices<Ranking> {
  const { previous = [], limit, weight = 1, until = messages.length, timeZone } = query;
  const passages = new Passages(messages, timeZone);
  const size = passages.until(until);
  const { words: asked, dates: days } = termsOfQuery(query);
  const words = known(asked, yield* passages.holdersOf(asked), size);
  const dates = yield* passages.datedHolders(days);
  const rare = words.filter(({ list }) => list.length <= Math.max(3, passages.length / 4)).length;
  if (rare === 0 && dates.length === 0) return { best: [], coverage: 0 };
  const terms = [...words, ...dates];
  if (rare < 2 && mayNeedPrevious(asked)) {
    const before = new Set([...wordsOfQuery(previous)].filter((word) => !asked.has(word)));
    const lists = [...(yield* passages.holdersOf(before)).words.values()];
    const weightOf = (all: readonly Term[]): number =>
      all.reduce((sum, { factor, list }) => sum + factor * rarityOf(list.length, passages.length), 0);
    const theirs = weightOf(lists.map((list) => ({ factor: 1, list })));
    const factor = Math.min(PREVIOUS, (PREVIOUS_AT_MOST * weightOf(terms)) / theirs);
    terms.push(...lists.map((list) => ({ factor, list, isBefore: true })));
  }
  const { own, isAsked, blocks, all } = ownScores(passages, terms, size);
  const scores = new Float64Array(size);
  let best = 0;
  for (let i = 0; i < scores.length; i += 1) {
    const block = Math.floor(i / BLOCK) + 1;
    const beside = BESIDE * (at(own, i + 1) + at(own, i + 3)) + NEXT_BUT_ONE * (at(own, i) + at(own, i + 4));
    const around = at(blocks, block) + (at(blocks, block - 1) + at(blocks, block + 1)) / 2;
    scores[i] = at(own, i + MARGIN) + weight * (beside + SURROUNDINGS * around);
    best = Math.max(best, at(own, i + MARGIN));
  }
  return { best: bestOf(passages.positions, { scores, isAsked, limit }), coverage: Math.min(1, best / (all || 1)) };
}

/** Whether a query has so few words that it may refer to the messages before it. */
export function mayNeedPrevious(asked: ReadonlySet<string>): boolean {
  return asked.size <= FEW;
}

/** What a query asks for: dates with their weights, and words, together at most `MAX_TERMS`. */
export function termsOfQuery({ text, now, timeZone }: SearchQuery): {
  words: ReadonlySet<string>;
  dates: ReadonlyMap<string, number>;
} {
  const dates = datesIn(text, localTime(now, timeZone));
  return { words: wordsOfQuery([text], MAX_TERMS - dates.size), dates };
}

/** The different words of texts: of a pasted document, only the longest, which few messages have. */
export function wordsOfQuery(texts: readonly string[], most = MAX_TERMS): ReadonlySet<string> {
  const all = [...new Set(texts.flatMap(wordsAsked))];
  return new Set(all.length <= most ? all : all.sort((a, b) => b.length - a.length).slice(0, most));
}

/** A word that no message has is looked for by its beginning: in many languages, words have many endings. Numbers have none. */
function known(words: ReadonlySet<string>, holders: Holders, size: number): Term[] {
  const isUnknown = (word: string): boolean => (holders.words.get(word)?.[0] ?? size) >= size;
  const beginnings = new Set([...words].filter(isUnknown).map((word) => startOf(word, BEGINNING)));
  const exact = [...words].map((word) => ({ factor: 1, list: holders.words.get(word) ?? [] }));
  const alike = [...beginnings].map((word) => ({ factor: ALIKE, list: holders.alike.get(word) ?? [] }));
  return [...exact, ...alike].filter(({ list }) => list.length > 0);
}

/**
 * The scores of the passages by their own words, with a margin on both sides, because reading beyond the end of an array
 * is slow; which of them have a word of the query; the scores of blocks of passages, as if each were one text; and the sum of
 * the weights of the terms.
 */
function ownScores({ length: every, lengths, averageLength }: Passages, terms: readonly Term[], size: number) {
  const own = new Float64Array(size + 2 * MARGIN);
  const isAsked = new Uint8Array(size);
  const blocks = new Float64Array(Math.ceil(size / BLOCK) + 2);
  let all = 0;
  // The rarest terms only, so that a pasted document as a query costs no more than a long message.
  const weighted = terms
    .map((term) => ({ ...term, weight: term.factor * rarityOf(term.list.length, every) }))
    .sort((a, b) => b.weight - a.weight);
  for (const { list, factor, weight, isDate = false, isBefore = false } of weighted.slice(0, MAX_TERMS)) {
    all += weight;
    const counts = new Map<number, number>();
    for (const passage of list) {
      if (passage >= size) continue;
      const length = (lengths[passage] ?? 0) / averageLength;
      if (!isBefore) isAsked[passage] = 1;
      add(own, passage + MARGIN, isDate ? weight : (weight * (K1 + 1)) / (1 + K1 * (1 - B + B * length)));
      const block = Math.floor(passage / BLOCK) + 1;
      if (!isDate) counts.set(block, (counts.get(block) ?? 0) + 1);
    }
    const ofBlocks = factor * rarityOf(counts.size, blocks.length - 2) * (K_BLOCK + 1);
    for (const [block, count] of counts) add(blocks, block, (ofBlocks * count) / (count + K_BLOCK));
  }
  return { own, isAsked, blocks, all };
}

/** Each message with the best score of its passages. */
function bestOf(
  positions: Int32Array,
  { scores, isAsked, limit }: { scores: Float64Array; isAsked: Uint8Array; limit: number },
): Ranking['best'] {
  const least = nthLargest(scores.slice(), limit);
  const best = new Map<number, { score: number; match: Match }>();
  for (let i = 0; i < scores.length; i += 1) {
    const score = at(scores, i);
    const position = positions[i] ?? 0;
    if (score < least || score <= (best.get(position)?.score ?? 0)) continue;
    best.set(position, { score, match: isAsked[i] ? 'words' : 'beside' });
  }
  const sorted = [...best].sort(([a, one], [b, other]) => other.score - one.score || b - a).slice(0, limit);
  const highest = sorted[0]?.[1].score ?? 1;
  return sorted.map(([position, { score, match }]) => ({ position, score: score / highest, match }));
}

/** The weight of a term that so many of all texts have, in BM25. */
function rarityOf(holders: number, all: number): number {
  return Math.log(1 + (all - holders + 0.5) / (holders + 0.5));
}

/** The nth largest number, or 0 if there are fewer. Sorting all takes longer than the rest of a search. */
function nthLargest(numbers: Float64Array, n: number): number {
  let from = 0;
  let to = numbers.length - 1;
  while (from < to) {
    const pivot = at(numbers, (from + to) >> 1);
    let left = from;
    let right = to;
    while (left <= right) {
      while (at(numbers, left) > pivot) left += 1;
      while (at(numbers, right) < pivot) right -= 1;
      if (left > right) break;
      [numbers[left], numbers[right]] = [at(numbers, right), at(numbers, left)];
      left += 1;
      right -= 1;
    }
    if (n - 1 <= right) to = right;
    else if (n - 1 >= left) from = left;
    else break;
  }
  return at(numbers, n - 1);
}

function at(numbers: Float64Array, i: number): number {
  return numbers[i] ?? 0;
}

function add(numbers: Float64Array, i: number, value: number): void {
  numbers[i] = at(numbers, i) + value;
}
