import type { ConversationMessage, FoundMessage, Match } from '../model.js';
import { datesIn, dateTerms, localTime, localTimeOf } from './dates.js';
import { LONG, PASSAGE, passagesOf } from './passages.js';
import { BEGINNING, Needles, wordsOf } from './words.js';

/** What a search found for a prompt. */
export interface Found {
  /** The best messages first. */
  messages: FoundMessage[];
  /** From 0 to 1: how much of the query the best message says. Low if what matters is spread over many messages. */
  coverage: number;
}

/** What is looked for in the messages of a conversation. */
export interface Query {
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

/** Work that may pause at each `yield`. */
export type InSlices<T> = Generator<undefined, T>;

/** Does the work without a pause. */
export function atOnce<T>(work: InSlices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/**
 * Finds the messages that a prompt may need for a query: those that share its words, names or dates, and those beside them. The
 * score of a message comes from its own words (BM25), and less from those of the messages around it, because an answer often
 * does not name its subject. The passages of a long message are searched one by one. Nothing if the query has only common words.
 *
 * There is no index: one pass over the texts finds those that may have a word of the query, and only these are taken apart.
 * The weights were chosen with bench/conversation.
 */
export function* searchMessages(messages: readonly ConversationMessage[], query: Query): InSlices<Found> {
  const { text, previous = [], limit, weight = 1, until = messages.length, now, timeZone } = query;
  const passages = new Passages(messages, timeZone);
  const size = passages.until(until);
  const asked = longestOf(wordsOf(text));
  const words = known(asked, yield* passages.holdersOf(asked), size);
  const dates = [...(yield* passages.datedHolders(datesIn(text, localTime(now, timeZone))))];
  const rare = words.filter(({ list }) => list.length <= Math.max(3, passages.length / 4)).length;
  if (rare === 0 && dates.length === 0) return { messages: [], coverage: 0 };
  const terms = [...words, ...dates];
  if (rare < 2) {
    const before = longestOf(previous.flatMap(wordsOf).filter((word) => !asked.has(word)));
    const theirs = (yield* passages.holdersOf(before)).words;
    const all = [...before].map((term) => ({ term, factor: PREVIOUS, list: theirs.get(term) ?? [] }));
    terms.push(
      ...lessThan(
        terms,
        all.filter(({ list }) => list.length > 0),
        passages.length,
      ),
    );
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
  return { messages: bestOf(passages, { scores, isAsked, limit, timeZone }), coverage: Math.min(1, best / (all || 1)) };
}

/** Different words: of a pasted document, only the longest, which few messages have. */
function longestOf(words: readonly string[]): ReadonlySet<string> {
  const all = [...new Set(words)];
  return new Set(all.length <= MAX_TERMS ? all : all.sort((a, b) => b.length - a.length).slice(0, MAX_TERMS));
}

/** What is known of a message that a search found, unless it is excluded. */
export function foundMessage(
  messages: readonly ConversationMessage[],
  position: number,
  { score, match, timeZone }: { score: number; match: Match; timeZone: string | undefined },
): FoundMessage | undefined {
  const message = messages[position];
  if (message === undefined || message.excluded === true) return undefined;
  const { id, role, name, content: text } = message;
  const createdAt = localTimeOf(message, timeZone);
  const found = { position } as FoundMessage; // field by field: a search may find a thousand messages
  if (id) found.id = id;
  found.role = role;
  if (name) found.name = name;
  if (createdAt) found.createdAt = createdAt;
  return Object.assign(found, { text, score, match });
}

/** The messages of a conversation, the long ones in passages. */
class Passages {
  /** Of each passage its message, and its number of characters. */
  readonly positions: number[] = [];
  readonly lengths: number[] = [];
  characters = 0;
  /** The passages of long messages, by their positions. */
  readonly #long = new Map<number, string[]>();
  readonly #names = new Map<string, string[]>();

  constructor(
    readonly messages: readonly ConversationMessage[],
    private readonly timeZone: string | undefined,
  ) {
    for (const [position, { content }] of messages.entries()) {
      if (content.length <= LONG) this.#add(position, content);
      else {
        const passages = passagesOf(content, PASSAGE);
        this.#long.set(position, passages);
        for (const passage of passages) this.#add(position, passage);
      }
    }
  }

  get length(): number {
    return this.positions.length;
  }

  /** How many passages so many messages have. */
  until(messages: number): number {
    return messages >= this.messages.length
      ? this.length
      : this.positions.findLastIndex((position) => position < messages) + 1;
  }

  /** The passages that have words, or as `alike` a word that begins like one of them. */
  *holdersOf(words: ReadonlySet<string>): InSlices<Holders> {
    const holders: Holders = { words: new Map(), alike: new Map() };
    const needles = new Needles(words);
    let passage = 0;
    for (const [position, { content, name }] of this.messages.entries()) {
      if (position % SLICE === 0) yield;
      const ofName = name === undefined ? [] : this.#wordsOfName(name);
      for (const text of this.#long.get(position) ?? [content]) {
        const found = needles.in(text);
        for (const word of ofName.length > 0 ? [...found, ...ofName] : found) {
          if (words.has(word)) note(holders.words, word, passage);
          const beginning = word.slice(0, BEGINNING);
          if (needles.beginnings.has(beginning)) note(holders.alike, beginning, passage);
        }
        passage += 1;
      }
    }
    return holders;
  }

  /** The passages of the days that a query names. */
  *datedHolders(dates: ReadonlyMap<string, number>): InSlices<Term[]> {
    const lists = new Map<string, number[]>();
    for (let passage = 0; dates.size > 0 && passage < this.length; passage += 1) {
      if (passage % SLICE === 0) yield;
      const message = this.messages[this.positions[passage] ?? -1];
      const time = message && localTimeOf(message, this.timeZone);
      if (time !== undefined) for (const term of dateTerms(time)) if (dates.has(term)) note(lists, term, passage);
    }
    return [...dates].flatMap(([term, factor]) => {
      const list = lists.get(term);
      return list === undefined ? [] : { term, factor, list };
    });
  }

  #add(position: number, text: string): void {
    this.positions.push(position);
    this.lengths.push(text.length);
    this.characters += text.length;
  }

  #wordsOfName(name: string): string[] {
    const words = this.#names.get(name) ?? wordsOf(name);
    this.#names.set(name, words);
    return words;
  }
}

interface Holders {
  words: Map<string, number[]>;
  alike: Map<string, number[]>;
}

/** A word, or a date, which starts with @. */
interface Term {
  term: string;
  /** How much it counts. */
  factor: number;
  /** Whether only the messages before the query have it. */
  isBefore?: boolean;
  /** The passages that contain it. */
  list: readonly number[];
}

function note(lists: Map<string, number[]>, term: string, passage: number): void {
  const list = lists.get(term);
  if (list === undefined) lists.set(term, [passage]);
  else if (list[list.length - 1] !== passage) list.push(passage);
}

/** A word that no message has is looked for by its beginning: in many languages, words have many endings. Numbers have none. */
function known(words: ReadonlySet<string>, holders: Holders, size: number): Term[] {
  const isUnknown = (word: string): boolean => (holders.words.get(word)?.[0] ?? size) >= size;
  const beginnings = new Set([...words].filter(isUnknown).map((word) => word.slice(0, BEGINNING)));
  const exact = [...words].map((term) => ({ term, factor: 1, list: holders.words.get(term) ?? [] }));
  const alike = [...beginnings].map((term) => ({ term, factor: ALIKE, list: holders.alike.get(term) ?? [] }));
  return [...exact, ...alike].filter(({ list }) => list.length > 0);
}

/** Words of the messages before. All of them together count less than what is asked. */
function lessThan(asked: readonly Term[], before: readonly Term[], size: number): Term[] {
  const weightOf = (all: readonly Term[]): number =>
    all.reduce((sum, { factor, list }) => sum + factor * rarityOf(list.length, size), 0);
  const share = Math.min(1, (PREVIOUS_AT_MOST * weightOf(asked)) / (weightOf(before) || 1));
  return before.map((term) => ({ ...term, factor: term.factor * share, isBefore: true }));
}

/**
 * The scores of the passages by their own words, with a margin on both sides, because reading beyond the end of an array
 * is slow; which of them have a word of the query; the scores of blocks of passages, as if each were one text; and the sum of
 * the weights of the terms.
 */
function ownScores({ length: every, lengths, characters }: Passages, terms: readonly Term[], size: number) {
  const average = characters / every || 1;
  const own = new Float64Array(size + 2 * MARGIN);
  const isAsked = new Uint8Array(size);
  const blocks = new Float64Array(Math.ceil(size / BLOCK) + 2);
  let all = 0;
  // The rarest terms only, so that a pasted document as a query costs no more than a long message.
  const weighted = terms
    .map((term) => ({ of: term, weight: term.factor * rarityOf(term.list.length, every) }))
    .sort((a, b) => b.weight - a.weight);
  for (const { of, weight } of weighted.slice(0, MAX_TERMS)) {
    const { term, list, factor, isBefore } = of;
    const isWord = !term.startsWith('@');
    all += weight;
    const counts = new Map<number, number>();
    for (const passage of list) {
      if (passage >= size) continue;
      const length = (lengths[passage] ?? 0) / average;
      if (isBefore !== true) isAsked[passage] = 1;
      add(own, passage + MARGIN, isWord ? (weight * (K1 + 1)) / (1 + K1 * (1 - B + B * length)) : weight);
      const block = Math.floor(passage / BLOCK) + 1;
      if (isWord) counts.set(block, (counts.get(block) ?? 0) + 1);
    }
    const ofBlocks = factor * rarityOf(counts.size, blocks.length - 2) * (K_BLOCK + 1);
    for (const [block, count] of counts) add(blocks, block, (ofBlocks * count) / (count + K_BLOCK));
  }
  return { own, isAsked, blocks, all };
}

/** Each message with the best score of its passages. */
function bestOf(
  { messages, positions }: Passages,
  {
    scores,
    isAsked,
    limit,
    timeZone,
  }: { scores: Float64Array; isAsked: Uint8Array; limit: number; timeZone: string | undefined },
): FoundMessage[] {
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
  const found = sorted.flatMap(
    ([position, { score, match }]) =>
      foundMessage(messages, position, { score: score / highest, match, timeZone }) ?? [],
  );
  return withoutFillers(found);
}

/** Without short texts beside what was found that say nothing, such as "Noted.": each of their words stands in many of them. */
function withoutFillers(found: readonly FoundMessage[]): FoundMessage[] {
  const short = new Map(
    found.flatMap((one) => (one.text.length <= SHORT ? [[one, new Set(wordsOf(one.text))] as const] : [])),
  );
  const counts = new Map<string, number>();
  for (const words of short.values()) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(3, short.size / COMMON);
  return found.filter((one) => {
    const words = one.match === 'beside' ? short.get(one) : undefined;
    return words === undefined || [...words].some((word) => (counts.get(word) ?? 0) <= most);
  });
}

/** Messages that are looked at between two pauses. */
const SLICE = 500;

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
/** Characters up to which a message may say nothing. */
const SHORT = 40;
/** A word is common if more than one message of so many has it. */
const COMMON = 20;
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
