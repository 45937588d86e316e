import type { Sliced } from '../../base/slices.js';
import { type SummaryItem, summaryTokens } from '../../store/summary.js';
import { type Candidate, type Extraction, itemWords, TOKENS_PER_ITEM } from './candidates.js';
import { Coverage } from './coverage.js';
import { excerpt } from './excerpt.js';
import { withoutAnswered, withoutRepeated, withoutRevoked } from './overruled.js';
import { type ReplyKind, repliesTo } from './replies.js';
import { type IndexedCandidate, Selection } from './select.js';

/** A message that a summary may draw on. */
export interface SourceEntry {
  role: string;
  /** In the context in full, so the summary quotes nothing from it. It still revokes, answers and repeats others. */
  isPinned: boolean;
  extraction: () => Extraction;
}

type SourcedCandidate = IndexedCandidate & { message: number };

/**
 * Extractive summaries: each item is a sentence or clause of one message, or an excerpt of the rest of it. All work
 * that does not depend on the size of the summary is done once.
 */
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
    const live = entries.map((entry, message) => ({ entry, message })).filter(({ entry }) => entry !== undefined);
    yield;
    const replies = repliesTo(live.map(({ entry }) => ({ role: entry?.role ?? '', ...replyOf(entry) })));
    for (const [i, { entry, message }] of live.entries()) {
      for (const candidate of entry?.extraction().candidates ?? []) {
        const open = stillOpen(candidate, replies[i] ?? 'nothing');
        if (open !== undefined) found.push({ candidate: open, message });
      }
      yield;
    }
    const remaining = yield* withoutAnswered(yield* withoutRevoked(yield* withoutRepeated(found)));
    const coverage = yield* Coverage.of(remaining.map(({ candidate }) => candidate.terms));
    const candidates = remaining
      .map((entry, at) => ({ ...entry, at }))
      .filter(({ message }) => entries[message]?.isPinned === false);
    const statements = remaining
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

  /** Writes the summary of some messages. It aims at `budget` tokens, and never exceeds `most`. */
  *write(isTaken: (message: number) => boolean, budget: number, most: number): Sliced<SummaryItem[]> {
    const limit = Math.min(budget, most);
    yield;
    const selection = new Selection(
      this.candidates.filter(({ message }) => isTaken(message)),
      this.coverage,
    );
    yield;
    yield* selection.fill(yield* selection.fillSections(budget, limit));
    let items = yield* this.#items(selection.chosen);
    // Pieces cost less together than counted alone, so there is room for more.
    for (let round = 0; round < REFILLS; round += 1) {
      const left = limit - summaryTokens(items);
      if (left < LEAST_REFILL) break;
      const before = selection.chosen.size;
      yield* selection.fill(left);
      if (selection.chosen.size === before) break;
      items = yield* this.#items(selection.chosen);
    }
    // And a little more where gaps between them are marked.
    for (let over = summaryTokens(items) - limit; over > 0; over = summaryTokens(items) - limit) {
      selection.dropLast(over);
      items = yield* this.#items(selection.chosen);
    }
    return items;
  }

  /** Items in the order of the conversation. The pieces of one message form one item. */
  *#items(chosen: ReadonlySet<IndexedCandidate>): Sliced<SummaryItem[]> {
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

function replyOf(entry: SourceEntry | undefined): Pick<Extraction, 'asks' | 'reply'> {
  const { asks = false, reply = 'nothing' } = entry?.extraction() ?? {};
  return { asks, reply };
}

/** Drops a question that was answered, and gives more weight to one that met with doubt. */
function stillOpen(candidate: Candidate, reply: ReplyKind): Candidate | undefined {
  const { item, weight } = candidate;
  if (item.section !== 'openQuestions' || weight >= EXPLICIT || reply === 'nothing') return candidate;
  return reply === 'answer' ? undefined : { ...candidate, weight: EXPLICIT };
}

/** The weight of a question that is explicitly called open. */
const EXPLICIT = 3;
const REFILLS = 4;
/** In tokens. No entry is shorter. */
const LEAST_REFILL = 8;
