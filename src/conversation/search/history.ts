import { pauses } from '../../base/pauses.js';
import type { ConversationMessage, FoundMessage, Match } from '../model.js';
import { datesIn, dateTerms, localTime, localTimeOf } from './dates.js';
import { LONG, PASSAGE, passagesOf } from './passages.js';
import { wordsOf } from './words.js';

/** What a search found for a prompt. */
export interface Found {
  /** The best messages first. */
  messages: FoundMessage[];
  /** From 0 to 1: how much of the query the best message says. Low if what matters is spread over many messages. */
  coverage: number;
}

/**
 * The messages of a conversation, and an index for searching them by their words, dates and speakers. The score of a
 * message comes from its own words (BM25), and less from those of the messages around it, because an answer often does
 * not name its subject. The passages of a long message are searched one by one.
 *
 * The weights were chosen with bench/conversation.
 */
export class History {
  #messages: readonly ConversationMessage[];
  /** The number of messages in the index. */
  #length = 0;
  /** For each term the passages that contain it, in order. */
  readonly #terms = new Map<string, number[]>();
  /** Of each passage: its message, and its number of words. */
  readonly #positions: number[] = [];
  readonly #lengths: number[] = [];
  #words = 0;
  readonly #timeZone: string | undefined;

  /** `timeZone`: the user's, in which days begin. By default, they are those that the times are written with. */
  constructor(messages: readonly ConversationMessage[] = [], timeZone?: string) {
    this.#messages = messages;
    this.#timeZone = timeZone;
  }

  get messages(): readonly ConversationMessage[] {
    return this.#messages;
  }

  /** Replaces the messages. The index keeps those that have not changed. */
  update(messages: readonly ConversationMessage[]): void {
    const before = this.#messages;
    let same = 0;
    const most = Math.min(this.#length, messages.length);
    while (same < most && isSame(messages[same], before[same])) same += 1;
    if (same < this.#length) this.#truncate(same);
    this.#messages = messages;
  }

  /** Adds new messages to the index in slices, so that a long history does not block the event loop. */
  async ready(): Promise<void> {
    const pause = pauses();
    while (this.#length < this.#messages.length) {
      this.#append(this.#length + SLICE);
      await pause();
    }
  }

  /** The messages that share words, names or dates with a query, the best first. */
  search(query: string, limit: number): FoundMessage[] {
    return this.around(query, { limit, weight: 0 }).messages;
  }

  /**
   * What a prompt may need for a query: also messages beside those that share its words. `previous`: the user messages
   * before, which count only if the query says little. Nothing if it contains only common words. `weight`: how much what
   * stands around a message counts. `until`: the number of messages to search. `now`: from when "yesterday" counts.
   */
  around(
    query: string,
    { previous = [], limit, weight = 1, until, now = new Date().toISOString() }: AroundOptions,
  ): Found {
    this.#append(this.#messages.length);
    const later = until === undefined ? -1 : this.#positions.findLastIndex((position) => position < until) + 1;
    const size = later < 0 ? this.#positions.length : later;
    const { own, asked, blocks, all } = this.#own(this.#termsOf(query, previous, size, now), size);
    const scores = new Float64Array(size);
    let best = 0;
    for (let i = 0; i < scores.length; i += 1) {
      const block = Math.floor(i / BLOCK) + 1;
      const beside = BESIDE * (at(own, i + 1) + at(own, i + 3)) + NEXT_BUT_ONE * (at(own, i) + at(own, i + 4));
      const around = at(blocks, block) + (at(blocks, block - 1) + at(blocks, block + 1)) / 2;
      scores[i] = at(own, i + MARGIN) + weight * (beside + SURROUNDINGS * around);
      best = Math.max(best, at(own, i + MARGIN));
    }
    return { messages: this.#best(scores, asked, limit), coverage: Math.min(1, best / (all || 1)) };
  }

  /** Each message with the best score of its passages. */
  #best(scores: Float64Array, asked: Uint8Array, limit: number): FoundMessage[] {
    const least = nthLargest(scores.slice(), limit);
    const best = new Map<number, { score: number; match: Match }>();
    for (let i = 0; i < scores.length; i += 1) {
      const score = at(scores, i);
      const position = this.#positions[i] ?? 0;
      if (score < least || score <= (best.get(position)?.score ?? 0)) continue;
      best.set(position, { score, match: asked[i] ? 'words' : 'beside' });
    }
    const sorted = [...best].sort(([a, one], [b, other]) => other.score - one.score || b - a).slice(0, limit);
    const highest = sorted[0]?.[1].score ?? 1;
    const found = sorted.flatMap(([position, { score, match }]) => this.found(position, score / highest, match) ?? []);
    return found.filter(({ match, text }) => match !== 'beside' || this.#saysMore(text));
  }

  /** What is known of a message that a search found, unless it is excluded. */
  found(position: number, score: number, match: Match): FoundMessage | undefined {
    const message = this.#messages[position];
    if (message === undefined || message.excluded === true) return undefined;
    const { id, role, name, content: text } = message;
    const createdAt = localTimeOf(message, this.#timeZone);
    const found = { position } as FoundMessage; // field by field: a search may find a thousand messages
    if (id) found.id = id;
    found.role = role;
    if (name) found.name = name;
    if (createdAt) found.createdAt = createdAt;
    return Object.assign(found, { text, score, match });
  }

  /** Whether a text is long or has a word that few messages have. Others, such as "Noted.", say nothing beside what was found. */
  #saysMore(text: string): boolean {
    if (text.length > SHORT) return true;
    const most = Math.max(3, this.#positions.length / COMMON);
    return wordsOf(text).some((word) => (this.#terms.get(word)?.length ?? 0) <= most);
  }

  #append(end: number): void {
    for (const message of this.#messages.slice(this.#length, end)) this.#add(message);
  }

  /** Forgets all messages from a position on. */
  #truncate(length: number): void {
    while ((this.#positions.at(-1) ?? -1) >= length) {
      this.#positions.pop();
      this.#words -= this.#lengths.pop() ?? 0;
    }
    for (const [term, list] of this.#terms) {
      while ((list.at(-1) ?? -1) >= this.#positions.length) list.pop();
      if (list.length === 0) this.#terms.delete(term);
    }
    this.#length = length;
  }

  #add(message: ConversationMessage): void {
    const { content, name = '' } = message;
    const position = this.#length++;
    const shared = wordsOf(name);
    const time = localTimeOf(message, this.#timeZone);
    if (time !== undefined) shared.push(...dateTerms(time));
    for (const text of content.length > LONG ? passagesOf(content, PASSAGE) : [content]) {
      const words = wordsOf(text);
      const passage = this.#positions.push(position) - 1;
      this.#lengths.push(words.length);
      this.#words += words.length;
      for (const terms of [words, shared]) for (const term of terms) this.#note(term, passage);
    }
  }

  #note(term: string, passage: number): void {
    const list = this.#terms.get(term);
    if (list === undefined) this.#terms.set(term, [passage]);
    else if (list[list.length - 1] !== passage) list.push(passage);
  }

  /** The terms to look for, with the passages that have them. None if the query contains only common words. */
  #termsOf(query: string, previous: readonly string[], size: number, now: string): Term[] {
    const all = this.#positions.length;
    const words = this.#known(new Set(wordsOf(query)), size);
    const rare = words.filter(({ list }) => list.length <= Math.max(3, all / 4)).length;
    const dates = [...datesIn(query, localTime(now, this.#timeZone))].flatMap(
      ([term, factor]) => this.#term(term, factor) ?? [],
    );
    if (rare === 0 && dates.length === 0) return [];
    const asked = new Set(words.map(({ term }) => term));
    const before = rare < 2 ? [...new Set(previous.flatMap(wordsOf))].filter((word) => !asked.has(word)) : [];
    return [...words, ...dates, ...this.#lessThan([...words, ...dates], before)];
  }

  /** Words of the messages before. All of them together count less than what is asked. */
  #lessThan(asked: readonly Term[], before: readonly string[]): Term[] {
    const terms = before.flatMap((word) => this.#term(word, PREVIOUS) ?? []);
    const weightOf = (all: readonly Term[]): number =>
      all.reduce((sum, { factor, list }) => sum + factor * rarityOf(list.length, this.#positions.length), 0);
    const share = Math.min(1, (PREVIOUS_AT_MOST * weightOf(asked)) / (weightOf(terms) || 1));
    return terms.map((term) => ({ ...term, factor: term.factor * share, isBefore: true }));
  }

  #term(term: string, factor: number): Term | undefined {
    const list = this.#terms.get(term);
    return list && { term, factor, list };
  }

  /** A word that no message has is looked for by its beginning: in many languages, words have many endings. Numbers have none. */
  #known(words: ReadonlySet<string>, size: number): Term[] {
    const isUnknown = (word: string): boolean => (this.#terms.get(word)?.[0] ?? size) >= size;
    const unknown = [...words].filter((word) => word.length >= BEGINNING && !/\d/.test(word) && isUnknown(word));
    const beginnings = new Map(unknown.map((word) => [word.slice(0, BEGINNING), new Set<number>()]));
    if (beginnings.size > 0)
      for (const [term, list] of this.#terms) {
        const passages = beginnings.get(term.slice(0, BEGINNING));
        if (passages !== undefined) for (const passage of list) passages.add(passage);
      }
    const alike = [...beginnings].map(([term, passages]) => ({ term, factor: ALIKE, list: [...passages] }));
    return [...[...words].flatMap((word) => this.#term(word, 1) ?? []), ...alike.filter(({ list }) => list.length > 0)];
  }

  /**
   * The scores of the passages by their own words, with a margin on both sides, because reading beyond the end of an array
   * is slow; which of them have a word of the query; the scores of blocks of passages, as if each were one text; and the sum of
   * the weights of the terms.
   */
  #own(terms: readonly Term[], size: number) {
    const every = this.#positions.length;
    const average = this.#words / every || 1;
    const own = new Float64Array(size + 2 * MARGIN);
    const asked = new Uint8Array(size);
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
        const length = (this.#lengths[passage] ?? 0) / average;
        if (isBefore !== true) asked[passage] = 1;
        add(own, passage + MARGIN, isWord ? (weight * (K1 + 1)) / (1 + K1 * (1 - B + B * length)) : weight);
        const block = Math.floor(passage / BLOCK) + 1;
        if (isWord) counts.set(block, (counts.get(block) ?? 0) + 1);
      }
      const ofBlocks = factor * rarityOf(counts.size, blocks.length - 2) * (K_BLOCK + 1);
      for (const [block, count] of counts) add(blocks, block, (ofBlocks * count) / (count + K_BLOCK));
    }
    return { own, asked, blocks, all };
  }
}

interface AroundOptions {
  previous?: readonly string[];
  limit: number;
  weight?: 0 | 1;
  until?: number;
  now?: string | undefined;
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

/** The weight of a term that so many of all texts have, in BM25. */
function rarityOf(holders: number, all: number): number {
  return Math.log(1 + (all - holders + 0.5) / (holders + 0.5));
}

function isSame(one: ConversationMessage | undefined, other: ConversationMessage | undefined): boolean {
  return one === other || (one?.content === other?.content && one?.name === other?.name);
}

/** Messages that are added to an index at once. */
const SLICE = 20;

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
/** Letters of an unknown word by which it is looked for, and how much what is found so counts. */
const ALIKE = 0.5;
const BEGINNING = 5;
/** Passages on both sides that count for one. */
const MARGIN = 2;
/** Weight of the words in the two user messages before, if the query says little. */
const PREVIOUS = 0.2;
/** What they count together at most, as a share of what the words of the query count. */
const PREVIOUS_AT_MOST = 0.5;
/** Maximum number of terms to look for. */
const MAX_TERMS = 48;
