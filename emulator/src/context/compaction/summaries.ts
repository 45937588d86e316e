import TinyQueue from 'tinyqueue';
import type { Sliced } from '../../base/slices.js';
import { type Section, type SummaryItem, summaryTokens } from '../../store/summary.js';
import { Coverage } from '../../text/coverage.js';
import type { Candidate, Extraction } from './candidates.js';
import { EXCERPT, excerpt, itemWords, plainWords, TOKENS_PER_ITEM } from './candidates.js';
import { isQuestion } from './classify.js';

/** A message that a summary may draw on. */
export interface SourceEntry {
  role: string;
  /** In the context in full, so the summary quotes nothing from it. */
  isPinned: boolean;
  extraction: () => Extraction;
}

interface SourcedCandidate {
  candidate: Candidate;
  message: number;
  /** Its index in the coverage. */
  at: number;
}

/**
 * How many entries are valued again for one choice. The choice of almost every one takes fewer than 500. Without a limit, entries
 * that all say the same would take quadratic time.
 */
const MOST_TRIES = 5_000;

/** Extractive summaries. All work that does not depend on the size of the summary is done once. */
export class Summaries {
  private constructor(
    private readonly entries: readonly (SourceEntry | undefined)[],
    private readonly candidates: readonly SourcedCandidate[],
    private readonly coverage: Coverage,
    private readonly countTokens: (text: string) => Sliced<number>,
    /** All explicit statements, including those of pinned messages. */
    readonly statements: SummaryItem[],
  ) {}

  /** Sifts the candidates of live messages. An entry is undefined where a message is excluded. */
  static *of(
    entries: readonly (SourceEntry | undefined)[],
    countTokens: (text: string) => Sliced<number>,
  ): Sliced<Summaries> {
    const found: { candidate: Candidate; message: number }[] = [];
    const seen = new Set<string>();
    // For each speaker the nearest reply to the messages before it.
    const replies = new Map<string, Extraction['reply']>();
    // From the newest message, so that of equal statements the newest stays.
    for (const [message, entry] of [...entries.entries()].reverse()) {
      yield;
      if (entry === undefined) continue;
      const reply = [...replies].findLast(([role]) => role !== entry.role)?.[1];
      for (const candidate of [...entry.extraction().candidates].reverse()) {
        const { section, text, term = '' } = candidate.item;
        const key = `${section} ${plainWords(`${term} ${text}`) || text}`;
        if (seen.has(key) || (section === 'openQuestions' && isQuestion(text) && reply === 'answer')) continue;
        seen.add(key);
        found.push({ candidate, message });
      }
      const own = entry.extraction().reply;
      if (own === 'nothing') continue;
      replies.delete(entry.role);
      replies.set(entry.role, own); // the nearest of all comes last
    }
    found.reverse();
    const coverage = yield* Coverage.of(found.map(({ candidate }) => candidate.terms));
    const candidates = found
      .map((source, at) => ({ ...source, at }))
      .filter(({ message }) => entries[message]?.isPinned === false);
    const statements = found
      .map(({ candidate }) => candidate.item)
      .filter(({ section }) => section !== 'importantReferences' && section !== 'openQuestions');
    return new Summaries(entries, candidates, coverage, countTokens, statements);
  }

  /** Tokens that each message could contribute to a summary. */
  supplies(): number[] {
    const supplies = this.entries.map(() => 0);
    for (const { message, candidate } of this.candidates) {
      supplies[message] = (supplies[message] ?? 0) + candidate.item.tokens;
    }
    return supplies;
  }

  /** Writes the summary of some messages, of at most `limit` tokens. */
  *write(isTaken: (message: number) => boolean, limit: number): Sliced<SummaryItem[]> {
    const available = this.candidates.filter(({ message }) => isTaken(message));
    const chosen = new Set<SourcedCandidate>();
    this.coverage.clear();
    let left = limit;
    for (const { isMeant, share } of SHARES) {
      const entries = available.filter((entry) => !chosen.has(entry) && isMeant(entry.candidate.item));
      left -= yield* this.#choose(entries, chosen, left, limit * share);
    }
    let items = yield* this.#items(chosen);
    // Joined pieces may also cost less, which leaves room for more.
    for (let before = 0; chosen.size > before; items = yield* this.#items(chosen)) {
      before = chosen.size;
      const free = limit - summaryTokens(items);
      const others = available.filter((entry) => !chosen.has(entry));
      yield* this.#choose(others, chosen, free, free);
    }
    // Joined pieces may cost a little more than they do alone.
    for (const last of [...chosen].reverse()) {
      if (summaryTokens(items) <= limit) break;
      chosen.delete(last);
      items = yield* this.#items(chosen);
    }
    return items;
  }

  /** Chooses the entries that add most for their tokens, and returns the tokens spent. */
  *#choose(
    entries: readonly SourcedCandidate[],
    chosen: Set<SourcedCandidate>,
    left: number,
    share: number,
  ): Sliced<number> {
    const worth = ({ at, candidate: { item } }: SourcedCandidate): number =>
      this.coverage.gain(at) / (Math.sqrt(item.tokens) * Math.sqrt(Math.sqrt(item.tokens)));
    // Worth only falls, so an entry that is still the best after it is valued again is the best.
    // If entries have the same worth, the one with the highest order is next.
    const valued: { entry: SourcedCandidate; value: number; order: number }[] = [];
    for (const [order, entry] of entries.entries()) {
      valued.push({ entry, value: worth(entry), order });
      yield;
    }
    const queue = new TinyQueue(valued, (a, b) => b.value - a.value || b.order - a.order);
    let again = 0;
    let tries = 0;
    let spent = 0;
    for (let top = queue.pop(); top !== undefined; top = queue.pop()) {
      yield;
      const { entry } = top;
      const { tokens } = entry.candidate.item;
      // The first item of a section may exceed its share, so that a small budget still covers several sections.
      if (spent + tokens > left || (spent + tokens > share && spent > 0)) continue;
      const value = worth(entry);
      if (value < (queue.peek()?.value ?? 0) && tries < MOST_TRIES) {
        tries += 1;
        again -= 1;
        queue.push(Object.assign(top, { value, order: again })); // after those of the same worth
        continue;
      }
      tries = 0;
      chosen.add(entry);
      this.coverage.take(entry.at);
      spent += tokens;
    }
    return spent;
  }

  /** Items in the order of the conversation. The pieces of one message form one item. */
  *#items(chosen: ReadonlySet<SourcedCandidate>): Sliced<SummaryItem[]> {
    const items: SummaryItem[] = [];
    const kept = new Map<number, { item: SummaryItem; pieces: Set<number> }>();
    for (const entry of this.candidates) {
      const { candidate, message } = entry;
      if (!chosen.has(entry)) continue;
      if (candidate.piece === undefined) {
        items.push(candidate.item);
        continue;
      }
      const known = kept.get(message) ?? { item: { ...candidate.item }, pieces: new Set() };
      if (!kept.has(message)) items.push(known.item);
      kept.set(message, known);
      known.pieces.add(candidate.piece);
    }
    for (const [message, { item, pieces }] of kept) {
      item.text = excerpt(this.entries[message]?.extraction().pieces ?? [], pieces);
      item.tokens = (yield* this.countTokens(itemWords(item))) + TOKENS_PER_ITEM;
      yield;
    }
    return items;
  }
}

const isIn =
  (...sections: readonly Section[]) =>
  ({ section }: SummaryItem): boolean =>
    sections.includes(section);

/** What is chosen first, and the share of the budget that it may take. Excerpts and values take what is left. */
const SHARES: readonly { isMeant: (item: SummaryItem) => boolean; share: number }[] = [
  { isMeant: isIn('decisions'), share: 1 },
  { isMeant: isIn('requirements', 'goals'), share: 1 },
  {
    isMeant: ({ section, type }) => section === 'importantReferences' && type !== EXCERPT && type !== 'value',
    share: 0.2,
  },
  { isMeant: isIn('definitions', 'openQuestions', 'currentPlan'), share: 0.1 },
  { isMeant: isIn('importantReferences'), share: 1 },
];
