import type { ConversationMessage } from './model.js';

/** A message that matches a query. */
export interface Hit {
  /** Its index in the history. */
  position: number;
  /** The higher, the better. Comparable within one search only. */
  score: number;
  /** For a long message, the part that matches. */
  excerpt?: string | undefined;
}

/** Searches the messages of a conversation (BM25, with term frequency and length). */
export class MessageIndex {
  readonly #postings = new Map<string, { position: number; count: number }[]>();
  readonly #lengths: number[] = [];
  #total = 0;

  get length(): number {
    return this.#lengths.length;
  }

  append(messages: readonly ConversationMessage[]): void {
    for (const message of messages) {
      const position = this.#lengths.length;
      const counts = new Map<string, number>();
      let length = 0;
      for (const term of termsOf(message)) {
        counts.set(term, (counts.get(term) ?? 0) + 1);
        length += 1;
      }
      for (const [term, count] of counts) {
        const list = this.#postings.get(term);
        if (list === undefined) this.#postings.set(term, [{ position, count }]);
        else list.push({ position, count });
      }
      this.#lengths.push(length);
      this.#total += length;
    }
  }

  /** Forgets all messages from a position on. */
  truncate(length: number): void {
    for (const removed of this.#lengths.splice(length)) this.#total -= removed;
    for (const [term, list] of this.#postings) {
      const kept = list.filter(({ position }) => position < length);
      if (kept.length === 0) this.#postings.delete(term);
      else this.#postings.set(term, kept);
    }
  }

  /** The best messages first. `previous` are earlier inputs, which count less. */
  search(
    query: string,
    { previous = [], limit = 100, after = -1 }: { previous?: readonly string[]; limit?: number; after?: number } = {},
  ): Hit[] {
    const weights = new Map<string, number>();
    for (const term of wordsOf(query)) weights.set(term, 1);
    if (![...weights.keys()].some((term) => this.#isRare(term))) return [];
    for (const text of previous) for (const term of wordsOf(text)) if (!weights.has(term)) weights.set(term, 0.2);
    const scores = new Map<number, number>();
    const average = this.#total / Math.max(1, this.length);
    for (const [term, weight] of [...weights].slice(0, MAX_TERMS)) {
      const list = this.#postings.get(term) ?? [];
      const rarity = Math.log(1 + (this.length - list.length + 0.5) / (list.length + 0.5));
      for (const { position, count } of list) {
        if (position <= after) continue;
        const norm = 1.2 * (0.25 + (0.75 * (this.#lengths[position] ?? 0)) / average);
        scores.set(position, (scores.get(position) ?? 0) + (weight * rarity * count * 2.2) / (count + norm));
      }
    }
    return [...scores]
      .map(([position, score]) => ({ position, score }))
      .sort((a, b) => b.score - a.score || b.position - a.position)
      .slice(0, limit);
  }

  #isRare(term: string): boolean {
    const holders = this.#postings.get(term)?.length ?? 0;
    return holders > 0 && holders <= Math.max(3, this.length / 8);
  }
}

const MAX_TERMS = 64;
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

function* termsOf({ content, name, createdAt }: ConversationMessage): Generator<string> {
  yield* wordsOf(content);
  if (name !== undefined) yield* wordsOf(name);
  const date = new Date(createdAt ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return;
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  yield* wordsOf(`${DAYS[date.getUTCDay()]} ${MONTHS[month]} ${day} ${year} ${month + 1}月 ${day}日`);
}

function* wordsOf(text: string): Generator<string> {
  for (const [word] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word)) {
      for (let i = 0; i < word.length - 1; i += 1) yield word.slice(i, i + 2);
      if (word.length === 1) yield word;
    } else if (/^\d+(?:st|nd|rd|th)$/.test(word)) yield word.slice(0, -2);
    else if (!STOP_WORDS.has(word))
      yield word.length > 6 ? word.slice(0, 6) : word.replace(/(?<=..)(?:ies|es|ed|s)$/, '');
  }
}

const STOP_WORDS = new Set(
  'a an the and or that this with for from of to in on at by as is are was were be been have has had will would should can could did does do not but what when where which who why how i you your our we my me they their it its about into all thanks thank please ok okay yes go der die das und ist nicht wir mit für ein eine ich'.split(
    ' ',
  ),
);
