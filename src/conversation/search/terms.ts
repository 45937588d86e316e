import { startOf } from '../../base/unicode.js';
import { textOf } from '../content.js';
import type { Loaded } from './archive.js';
import { dateTerms, localTimeOf } from './dates.js';
import { LONG, PASSAGE, passagesOf } from './passages.js';
import { BEGINNING, Needles, wordsOfName } from './words.js';

/** Work that may pause at each `yield`. */
export type InSlices<T> = Generator<undefined, T>;

/** The passage of a message that is not loaded. */
const NOT_LOADED = [''];

/** Messages, and characters, that are looked at between two pauses. */
const SLICE = 500;
const SLICE_OF_TEXT = 20_000;

/** What is looked for: a word, the beginning of one, or a date. */
export interface Term {
  /** How much it counts. */
  factor: number;
  /** The passages that have it. */
  list: readonly number[];
  isDate?: boolean;
  /** Whether only the messages before the query have it. */
  isBefore?: boolean;
}

/** The passages that have words, and those with a word that begins like one of them. */
export interface Holders {
  words: Map<string, number[]>;
  alike: Map<string, number[]>;
}

/**
 * The messages of a conversation, the long ones in passages. A message that is not loaded is an empty passage: there may be very
 * many, so the loops over them do nothing else.
 */
export class Passages {
  /** The message of each passage, and the number of its characters. */
  readonly positions: Int32Array;
  readonly lengths: Int32Array;
  /** The average length of the passages after the last message that is not loaded: what a search loads is longer than others. */
  readonly averageLength: number;
  /** The passages of long messages, by their positions. */
  readonly #long = new Map<number, string[]>();
  readonly #names = new Map<string, string[]>();

  constructor(
    readonly messages: Loaded,
    private readonly timeZone: string | undefined,
  ) {
    let length = messages.length;
    let fromNewest = 0;
    for (let position = 0; position < messages.length; position += 1) {
      const message = messages[position];
      if (message === undefined) fromNewest = position + 1;
      else if (message.content.length > LONG || typeof message.content !== 'string') {
        const passages = passagesOf(textOf(message), PASSAGE);
        this.#long.set(position, passages);
        length += passages.length - 1;
      }
    }
    this.positions = new Int32Array(length);
    this.lengths = new Int32Array(length);
    let [passage, characters, newest] = [0, 0, 0];
    for (let position = 0; position < messages.length; position += 1) {
      for (const text of this.#textsOf(position)) {
        this.positions[passage] = position;
        this.lengths[passage] = text.length;
        passage += 1;
        if (position < fromNewest) continue;
        characters += text.length;
        newest += 1;
      }
    }
    this.averageLength = characters / newest || 1;
  }

  /** The passages of a message. */
  #textsOf(position: number): readonly string[] {
    const message = this.messages[position];
    if (message === undefined) return NOT_LOADED;
    return this.#long.get(position) ?? [textOf(message)];
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

  *holdersOf(words: ReadonlySet<string>): InSlices<Holders> {
    const holders: Holders = { words: new Map(), alike: new Map() };
    const needles = new Needles(words);
    let passage = -1;
    let read = 0;
    for (let position = 0; position < this.messages.length; position += 1) {
      if (position % SLICE === 0) yield;
      const name = this.messages[position]?.name;
      const ofName = name === undefined ? [] : this.#wordsOfName(name);
      for (const text of this.#textsOf(position)) {
        passage += 1;
        if (text === '') continue;
        read += text.length;
        if (read > SLICE_OF_TEXT) {
          read = 0;
          yield;
        }
        const found = needles.in(text);
        for (const word of ofName.length > 0 ? [...found, ...ofName] : found) {
          if (words.has(word)) note(holders.words, word, passage);
          const beginning = startOf(word, BEGINNING);
          if (needles.beginnings.has(beginning)) note(holders.alike, beginning, passage);
        }
      }
    }
    return holders;
  }

  /** The passages of the days that a query names, with the weights of these. */
  *datedHolders(dates: ReadonlyMap<string, number>): InSlices<Term[]> {
    const lists = new Map<string, number[]>();
    for (let passage = 0; dates.size > 0 && passage < this.length; passage += 1) {
      if (passage % SLICE === 0) yield;
      const message = this.messages[this.positions[passage] ?? -1];
      const time = message && localTimeOf(message, this.timeZone);
      if (time !== undefined) for (const term of dateTerms(time)) if (dates.has(term)) note(lists, term, passage);
    }
    return [...lists].map(([term, list]) => ({ factor: dates.get(term) ?? 0, list, isDate: true }));
  }

  #wordsOfName(name: string): string[] {
    const words = this.#names.get(name) ?? wordsOfName(name);
    this.#names.set(name, words);
    return words;
  }
}

function note(lists: Map<string, number[]>, term: string, passage: number): void {
  const list = lists.get(term);
  if (list === undefined) lists.set(term, [passage]);
  else if (list[list.length - 1] !== passage) list.push(passage);
}
