import { datesIn, dateTerms, wordsOf } from './words.js';

/** A message that a search found. */
export interface Hit {
  /** Its index in the history. */
  position: number;
  /** The higher, the better. Comparable within one search only. */
  score: number;
  /** For a long message, the passage that was found. */
  excerpt?: string | undefined;
}

/** The parts of a message that are searched. */
interface Searchable {
  content: string;
  name?: string | undefined;
  createdAt?: string | Date | undefined;
}

interface SearchOptions {
  /** The user messages before. They count only if the query says little. */
  previous?: readonly string[] | undefined;
  /** @default 400 */
  limit?: number | undefined;
  /** Only messages before this position. */
  before?: number | undefined;
  /** Only messages after this position. */
  after?: number | undefined;
  /** Whether a message also counts for those beside it and around it. @default true */
  neighbours?: boolean | undefined;
}

/**
 * Searches the messages of a conversation by their words, dates and speakers. A message counts for its own words (BM25),
 * for those of the messages beside it, and for those of its surroundings, because an answer often says nothing of its
 * subject. The passages of a long message are searched one by one.
 *
 * The weights were chosen with bench/conversation.
 */
export class MessageIndex {
  /** For each term the passages that contain it, in order, each times `COUNTS`, plus how often. */
  readonly #terms = new Map<string, number[]>();
  /** Of each passage: its message, its number of words, and its text if the message has several. */
  readonly #positions: number[] = [];
  readonly #lengths: number[] = [];
  readonly #excerpts = new Map<number, string>();
  #words = 0;
  #length = 0;
  #newest: Date | undefined;

  /** The number of messages. */
  get length(): number {
    return this.#length;
  }

  /** Adds messages at the end. */
  append(messages: readonly Searchable[]): void {
    for (const message of messages) this.#add(message);
  }

  /** Forgets all messages from a position on. */
  truncate(length: number): void {
    while (this.#positions.length > 0 && (this.#positions.at(-1) ?? 0) >= length) {
      this.#positions.pop();
      this.#words -= this.#lengths.pop() ?? 0;
      this.#excerpts.delete(this.#positions.length);
    }
    const end = this.#positions.length * COUNTS;
    for (const [term, list] of this.#terms) {
      while (list.length > 0 && (list.at(-1) ?? 0) >= end) list.pop();
      if (list.length === 0) this.#terms.delete(term);
    }
    this.#length = Math.min(this.#length, length);
  }

  /** The best messages first. None if the query contains nothing but common words. */
  search(query: string, options: SearchOptions = {}): Hit[] {
    const { previous = [], limit = 400, before = this.#length, after = -1, neighbours = true } = options;
    const weights = this.#weights(query, previous);
    if (weights.size === 0) return [];
    const from = this.#passageOf(after + 1);
    const scores = this.#scores(weights, neighbours).subarray(from, this.#passageOf(before));
    const least = leastOf(scores, limit);
    const hits: Hit[] = [];
    for (let i = 0; i < scores.length; i += 1) {
      const score = at(scores, i);
      if (score <= 0 || score < least) continue;
      const excerpt = this.#excerpts.get(from + i);
      hits.push({ position: this.#positions[from + i] ?? 0, score, ...(excerpt !== undefined && { excerpt }) });
    }
    return hits.sort((a, b) => b.score - a.score || b.position - a.position).slice(0, limit);
  }

  /** The first passage of the message at a position, or of one after it. */
  #passageOf(position: number): number {
    if (this.#excerpts.size === 0) return Math.min(position, this.#length); // each message is one passage
    const index = this.#positions.findIndex((other) => other >= position);
    return index === -1 ? this.#positions.length : index;
  }

  #add({ content, name, createdAt }: Searchable): void {
    const position = this.#length++;
    const shared = name === undefined ? [] : wordsOf(name);
    const date = new Date(createdAt ?? Number.NaN);
    if (!Number.isNaN(date.getTime())) {
      shared.push(...dateTerms(date));
      this.#newest = date;
    }
    const passages = passagesOf(content);
    for (const text of passages) {
      const passage = this.#positions.length;
      const words = wordsOf(text);
      for (const word of words) this.#count(word, passage);
      for (const term of shared) this.#count(term, passage);
      this.#positions.push(position);
      this.#lengths.push(words.length);
      this.#words += words.length;
      if (passages.length > 1) this.#excerpts.set(passage, text);
    }
  }

  #count(term: string, passage: number): void {
    const list = this.#terms.get(term);
    if (list === undefined) {
      this.#terms.set(term, [passage * COUNTS + 1]);
      return;
    }
    const last = list[list.length - 1] ?? 0;
    if (last < passage * COUNTS) list.push(passage * COUNTS + 1);
    else if (last % COUNTS < COUNTS - 1) list[list.length - 1] = last + 1;
  }

  /** The terms to look for. */
  #weights(query: string, previous: readonly string[]): Map<string, number> {
    const weights = new Map<string, number>();
    for (const word of wordsOf(query)) if (this.#terms.has(word)) weights.set(word, 1);
    const rare = [...weights.keys()].filter((word) => this.#isRare(word)).length;
    const dates = [...datesIn(query, this.#newest)].filter(([term]) => this.#terms.has(term));
    if (rare === 0 && dates.length === 0) return new Map();
    for (const [term, weight] of dates) weights.set(term, weight);
    if (rare > 1) return weights;
    const earlier = previous.flatMap(wordsOf).filter((word) => this.#terms.has(word) && !weights.has(word));
    for (const word of earlier) weights.set(word, PREVIOUS);
    return weights;
  }

  #isRare(term: string): boolean {
    return (this.#terms.get(term)?.length ?? 0) <= Math.max(3, this.#positions.length / 4);
  }

  /** A score for each passage, above 0 if it contains a term or, with `neighbours`, one near it does. */
  #scores(weights: ReadonlyMap<string, number>, neighbours: boolean): Float64Array {
    const size = this.#positions.length;
    const average = this.#words / size || 1;
    const count = Math.ceil(size / BLOCK);
    // Arrays with a margin on both sides: reading beyond the end of one is slow.
    const own = new Float64Array(size + 4);
    const blocks = new Float64Array(count + 2);
    for (const { list, weight, isWord } of this.#rarest(weights, neighbours ? MAX_TERMS : FEW_TERMS)) {
      const counts = neighbours ? new Float64Array(count + 2) : NONE;
      for (const entry of list) {
        const passage = Math.floor(entry / COUNTS);
        const times = entry % COUNTS;
        const length = (this.#lengths[passage] ?? 0) / average;
        add(own, passage + 2, isWord ? weight * saturated(times, K1 * (1 - B + B * length)) : weight);
        if (isWord && neighbours) add(counts, Math.floor(passage / BLOCK) + 1, times);
      }
      for (let i = 1; neighbours && i <= count; i += 1) {
        const times = at(counts, i) + (at(counts, i - 1) + at(counts, i + 1)) / 2;
        if (times > 0) add(blocks, i, weight * saturated(times, 1));
      }
    }
    const scores = own.slice(2, size + 2);
    for (let i = 0; neighbours && i < size; i += 1) {
      const beside = BEFORE * at(own, i + 1) + AFTER * at(own, i + 3) + NEXT_BUT_ONE * (at(own, i) + at(own, i + 4));
      const score = at(scores, i) + beside + SURROUNDINGS * between(blocks, (i + 0.5) / BLOCK + 0.5);
      scores[i] = score / ((this.#lengths[i] ?? 0) + EXTRA_WORDS) ** COST;
    }
    return scores;
  }

  /** The rarest terms, so that a pasted document as a query costs no more than a long message. */
  #rarest(
    weights: ReadonlyMap<string, number>,
    most: number,
  ): { list: readonly number[]; weight: number; isWord: boolean }[] {
    const terms = [...weights].map(([term, factor]) => {
      const list = this.#terms.get(term) ?? [];
      const rarity = Math.log(1 + (this.#positions.length - list.length + 0.5) / (list.length + 0.5));
      return { list, weight: factor * rarity, isWord: !term.startsWith('@') };
    });
    return terms.sort((a, b) => b.weight - a.weight).slice(0, most);
  }
}

/**
 * A score that at least `limit` of the scores reach, and hardly more. Counting them in classes is ten times as fast as
 * sorting them.
 */
function leastOf(scores: Float64Array, limit: number): number {
  if (scores.length <= limit) return 0;
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  const classes = new Uint32Array(CLASSES + 1);
  for (const score of scores) {
    const i = Math.floor((score / most) * CLASSES);
    classes[i] = (classes[i] ?? 0) + 1;
  }
  let i = CLASSES;
  for (let count = classes[i] ?? 0; count < limit && i > 0; count += classes[i] ?? 0) i -= 1;
  return (i / CLASSES) * most;
}

const CLASSES = 1024;
const NONE = new Float64Array(0);

function at(numbers: Float64Array, i: number): number {
  return numbers[i] ?? 0;
}

function add(numbers: Float64Array, i: number, value: number): void {
  numbers[i] = at(numbers, i) + value;
}

/** Grows from 1 to at most `1 + most`, ever more slowly. */
function saturated(count: number, most: number): number {
  return (count * (K1 + 1)) / (count + most);
}

/** A value between those of two blocks, so that a score does not jump where a block ends. */
function between(blocks: Float64Array, place: number): number {
  const i = Math.floor(place);
  const share = place - i;
  return (1 - share) * at(blocks, i) + share * at(blocks, i + 1);
}

/**
 * A message as it is or, if it is long, its paragraphs, short ones together. A block of code or a table stays in one
 * piece.
 */
export function passagesOf(content: string): string[] {
  if (content.length <= LONG) return [content];
  const passages: string[] = [];
  let passage = '';
  for (const paragraph of paragraphsOf(content)) {
    if (passage !== '' && passage.length + paragraph.length > PASSAGE) {
      passages.push(passage.trim());
      passage = '';
    }
    passage += paragraph;
  }
  return [...passages, passage.trim()].filter((text) => text !== '');
}

function* paragraphsOf(content: string): Generator<string> {
  let paragraph = '';
  let isCode = false;
  for (const [line] of content.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const isFence = /^ {0,3}(?:```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    const isTable = line.startsWith('|');
    if (!isCode && !isFence && !isTable && line.length > PASSAGE) {
      yield paragraph;
      paragraph = '';
      for (let i = 0; i < line.length; i += PASSAGE) yield line.slice(i, i + PASSAGE);
      continue;
    }
    paragraph += line;
    if (isCode || line.trim() !== '') continue;
    yield paragraph;
    paragraph = '';
  }
  yield paragraph;
}

/** Characters from which a message is long, and about those of a passage. */
const LONG = 3000;
const PASSAGE = 1000;

/** No term is counted more often in one passage. */
const COUNTS = 16;
/** The usual constants of BM25. */
const K1 = 1.2;
const B = 0.75;
/** What the words of the passages before and after count, and of those beside them. An answer follows its question. */
const BEFORE = 0.75;
const AFTER = 0.25;
const NEXT_BUT_ONE = 0.25;
/** What the surroundings count: the block of so many passages, and half of the blocks beside it. */
const SURROUNDINGS = 0.35;
const BLOCK = 16;
/** A long passage takes the room of others: its score is divided by this power of its words and some more. */
const COST = 0.3;
const EXTRA_WORDS = 50;
/** What the words of the two user messages before count, if the query says little. */
const PREVIOUS = 0.2;
/** Terms that are looked for. */
const MAX_TERMS = 48;
/** For a statement or a message that others repeat, fewer are enough. */
const FEW_TERMS = 12;
