import type { Sliced } from '../../base/slices.js';
import type { Section } from '../../store/summary.js';
import { type Candidate, EXCERPT } from './candidates.js';
import type { Coverage } from './coverage.js';
import { LazyPriorityQueue } from './lazy-priority-queue.js';

/** A candidate, and its index in the coverage. */
export interface IndexedCandidate {
  candidate: Candidate;
  at: number;
}

/**
 * Chooses the items that fit. Explicit decisions, requirements and so on come first, each section within its share of
 * the budget. The rest of the budget goes to the items that add most.
 */
export class Selection {
  readonly chosen = new Set<IndexedCandidate>();
  readonly #candidates: readonly IndexedCandidate[];
  readonly #coverage: Coverage;

  constructor(candidates: readonly IndexedCandidate[], coverage: Coverage) {
    this.#candidates = candidates;
    this.#coverage = coverage;
    coverage.clear();
  }

  /** Chooses explicit items, each section within its share of the budget. Returns the tokens left. */
  *fillSections(budget: number, limit: number): Sliced<number> {
    let left = limit;
    for (const { sections, share, leastWeight } of SHARES) {
      const isMeant = ({ candidate: { item, weight } }: IndexedCandidate): boolean =>
        sections.includes(item.section) && item.type !== EXCERPT && weight >= leastWeight;
      const positions = [...this.#candidates.entries()].flatMap(([position, entry]) =>
        isMeant(entry) ? [position] : [],
      );
      left -= yield* this.#fill(positions, left, budget * share);
    }
    return left;
  }

  /** Chooses the items that add most, up to `limit` tokens. */
  *fill(limit: number): Sliced<void> {
    yield* this.#fill([...this.#candidates.keys()], limit, limit);
  }

  /** Takes back what was chosen last, and so adds least, until at least this many tokens are free. */
  dropLast(tokens: number): void {
    let free = 0;
    for (const entry of [...this.chosen].reverse()) {
      if (free >= tokens) return;
      this.chosen.delete(entry);
      free += entry.candidate.item.tokens;
    }
  }

  *#fill(positions: readonly number[], limit: number, share: number): Sliced<number> {
    yield;
    const candidates = this.#candidates;
    const isFree = (position: number): boolean => {
      const entry = candidates[position];
      return entry !== undefined && !this.chosen.has(entry);
    };
    const entries = positions.filter(isFree);
    const queue = yield* LazyPriorityQueue.of(entries, (position) => {
      const entry = candidates[position];
      if (entry === undefined) return 0;
      return this.#coverage.gain(entry.at) * worth(entry.candidate);
    });
    let spent = 0;
    for (let position = yield* queue.take(); position !== undefined; position = yield* queue.take()) {
      const entry = candidates[position];
      const tokens = entry?.candidate.item.tokens ?? 0;
      // The first item of a section may exceed its share, so that a small budget still covers several sections.
      if (entry === undefined || spent + tokens > limit || (spent + tokens > share && spent > 0)) continue;
      this.chosen.add(entry);
      this.#coverage.take(entry.at);
      spent += tokens;
    }
    return spent;
  }
}

/**
 * In this order, the explicit items of these sections, and the share of the budget they get. Nothing outranks what was
 * decided, required or aimed at.
 */
const SHARES: readonly { sections: readonly Section[]; share: number; leastWeight: number }[] = [
  { sections: ['decisions'], share: 1, leastWeight: 2 },
  { sections: ['requirements', 'goals'], share: 1, leastWeight: 2 },
  { sections: ['importantReferences'], share: 0.2, leastWeight: 2 },
  { sections: ['definitions', 'openQuestions', 'currentPlan'], share: 0.2, leastWeight: 2 },
];

/** The worth of a unit of coverage: higher for strong cues, lower for long items. */
function worth({ weight, item }: Candidate): number {
  return (1 + 0.2 * weight) / (Math.sqrt(item.tokens) * Math.sqrt(Math.sqrt(item.tokens)));
}
