import type { ConversationMessage } from './model.js';
import { datesIn, dateTerms, wordsOf } from './words.js';

/** A message that a search found. */
export interface Hit {
  /** Its index in the history. */
  position: number;
  /** The higher, the better. Comparable within one search only. */
  score: number;
}

interface SearchOptions {
  /** The previous user messages. They count only if the query says little. */
  previous?: readonly string[] | undefined;
  /** @default 400 */
  limit?: number | undefined;
  /** Whether a message also counts for those beside it and around it. @default true */
  neighbours?: boolean | undefined;
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
  #newest: Date | undefined;

  constructor(messages: readonly ConversationMessage[] = []) {
    this.#messages = messages;
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

  /** The best messages first. None if the query contains nothing but common words. */
  search(query: string, { previous = [], limit = 400, neighbours = true }: SearchOptions = {}): Hit[] {
    this.#append(this.#messages.length);
    const weights = this.#weights(query, previous);
    if (weights.size === 0) return [];
    const scores = this.#scores(weights, neighbours);
    // Without neighbours, few messages have a score.
    const least = neighbours ? nthLargest(scores.slice(), limit) : 0;
    // The newest messages without a match come last: they fill room that is left.
    const newest = neighbours ? scores.length - limit : scores.length;
    const hits: Hit[] = [];
    for (let i = 0; i < scores.length; i += 1) {
      const score = at(scores, i);
      if (score < least || (score === 0 && i < newest)) continue;
      const position = this.#positions[i] ?? 0;
      const last = hits.at(-1);
      if (last?.position === position) last.score = Math.max(last.score, score);
      else hits.push({ position, score });
    }
    return hits.sort((a, b) => b.score - a.score || b.position - a.position).slice(0, limit);
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

  #add({ content, name = '', createdAt }: ConversationMessage): void {
    const position = this.#length++;
    const shared = wordsOf(name);
    const date = new Date(createdAt ?? Number.NaN);
    if (!Number.isNaN(date.getTime())) {
      shared.push(...dateTerms(date));
      this.#newest = date;
    }
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

  /** The terms to look for. */
  #weights(query: string, previous: readonly string[]): Map<string, number> {
    const words = new Set(wordsOf(query));
    const rare = [...words].filter((word) => this.#isRare(word)).length;
    const dates = [...datesIn(query, this.#newest)].filter(([term]) => this.#terms.has(term));
    if (rare === 0 && dates.length === 0) return new Map();
    const weights = new Map<string, number>();
    if (rare < 2) for (const word of previous.flatMap(wordsOf)) weights.set(word, PREVIOUS);
    for (const word of words) weights.set(word, 1);
    for (const [term, weight] of dates) weights.set(term, weight);
    return weights;
  }

  #isRare(word: string): boolean {
    const { length } = this.#terms.get(word) ?? [];
    return length > 0 && length <= Math.max(3, this.#positions.length / 4);
  }

  /** A score for each passage, above 0 if it contains a term or, with `neighbours`, one near it does. */
  #scores(weights: ReadonlyMap<string, number>, neighbours: boolean): Float64Array {
    const size = this.#positions.length;
    const average = this.#words / size || 1;
    // With a margin on both sides: reading beyond the end of an array is slow.
    const own = new Float64Array(size + 4);
    const blocks = new Float64Array(Math.ceil(size / BLOCK) + 2);
    for (const { list, weight, isWord } of this.#rarest(weights, neighbours ? MAX_TERMS : FEW_TERMS)) {
      let before = -1;
      for (const passage of list) {
        const length = (this.#lengths[passage] ?? 0) / average;
        add(own, passage + 2, isWord ? (weight * (K1 + 1)) / (1 + K1 * (1 - B + B * length)) : weight);
        const block = Math.floor(passage / BLOCK);
        if (isWord && block !== before) add(blocks, block + 1, weight);
        before = block;
      }
    }
    if (!neighbours) return own.subarray(2, size + 2);
    const scores = own.slice(2, size + 2);
    for (let i = 0; i < size; i += 1) {
      const block = Math.floor(i / BLOCK) + 1;
      const beside = BESIDE * (at(own, i + 1) + at(own, i + 3)) + NEXT_BUT_ONE * (at(own, i) + at(own, i + 4));
      const around = at(blocks, block) + (at(blocks, block - 1) + at(blocks, block + 1)) / 2;
      add(scores, i, beside + SURROUNDINGS * around);
    }
    return scores;
  }

  /** The rarest terms, so that a pasted document as a query costs no more than a long message. */
  #rarest(
    weights: ReadonlyMap<string, number>,
    most: number,
  ): { list: readonly number[]; weight: number; isWord: boolean }[] {
    const terms = [...weights].flatMap(([term, factor]) => {
      const list = this.#terms.get(term) ?? [];
      const rarity = Math.log(1 + (this.#positions.length - list.length + 0.5) / (list.length + 0.5));
      return list.length === 0 ? [] : [{ list, weight: factor * rarity, isWord: !term.startsWith('@') }];
    });
    return terms.sort((a, b) => b.weight - a.weight).slice(0, most);
  }
}

function isSame(one: ConversationMessage | undefined, other: ConversationMessage | undefined): boolean {
  return one === other || (one?.content === other?.content && one?.name === other?.name);
}

/** Returns a function to call between slices of work. It lets other events be handled, if the last time is long ago. */
export function pauses(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < MAX_BLOCK) return undefined;
    return new Promise<void>(afterEvents).then(() => {
      began = performance.now();
    });
  };
}

/**
 * A timer takes a millisecond or more, a dozen times for 10,000 messages. Browsers and edge runtimes have nothing else:
 * there, `setImmediate` is missing or throws.
 */
function afterEvents(resolve: () => void): void {
  try {
    globalThis.setImmediate(resolve);
  } catch {
    setTimeout(resolve, 0);
  }
}

/** Messages that are added to an index at once. */
const SLICE = 20;
/** Milliseconds of work before other events are handled. */
const MAX_BLOCK = 8;

/** The nth largest number, or 0 if there are fewer. Sorting all would take most of a search. */
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

/**
 * The paragraphs of a text, short ones together, long ones cut to `size` characters. A block of code or a table stays in
 * one piece.
 */
export function passagesOf(content: string, size: number): string[] {
  const passages = [''];
  for (const paragraph of paragraphsOf(content)) {
    const isWhole = paragraph.length <= size || /^ {0,3}(?:```|~~~|\|)/m.test(paragraph);
    for (const piece of isWhole ? [paragraph] : piecesOf(paragraph, size)) {
      const passage = passages.at(-1) ?? '';
      if (passage.length + piece.length <= size) passages[passages.length - 1] = passage + piece;
      else passages.push(piece);
    }
  }
  return passages.map((passage) => passage.trim()).filter((passage) => passage !== '');
}

/** An empty line does not end a block of code. */
function* paragraphsOf(content: string): Generator<string> {
  let paragraph = '';
  let isCode = false;
  for (const [line] of content.matchAll(/[^\n]*\n|[^\n]+/g)) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode;
    paragraph += line;
    if (isCode || line.trim() !== '') continue;
    yield paragraph;
    paragraph = '';
  }
  yield paragraph;
}

/** Cuts at white space. */
function piecesOf(text: string, size: number): readonly string[] {
  return text.match(new RegExp(`[^]{1,${size}}(?:\\s|$)|[^]{1,${size}}`, 'g')) ?? [];
}

/** Characters above which a message is long, and of its passages. */
export const LONG = 3000;
export const PASSAGE = 1000;

/** The usual constants of BM25. A term counts once in a passage: how often it occurs made no difference. */
const K1 = 1.2;
const B = 0.75;
/** Weights of the words in the passages next to this one, and in those one further away. */
const BESIDE = 0.5;
const NEXT_BUT_ONE = 0.25;
/** Weight of the words in the block of passages around this one. Those in the blocks next to it count half. */
const SURROUNDINGS = 0.35;
const BLOCK = 16;
/** Weight of the words in the two user messages before, if the query says little. */
const PREVIOUS = 0.2;
/** Maximum number of terms to look for, with neighbours and without. */
const MAX_TERMS = 48;
const FEW_TERMS = 12;
