import type { Candidate } from './candidates.js';
import { Coverage } from './coverage.js';
import { FallingQueue } from './falling-queue.js';
import type { Section, SummaryItem } from './summary.js';

/**
 * The items that fit, in the order of the conversation. What says outright that it is a decision, a requirement and so
 * on comes first, each section within its share of the budget; the rest of the budget goes to what adds most to that.
 * The whole stays within `most`.
 */
export function selectItems(offered: readonly Candidate[], budget: number, most: number): SummaryItem[] {
  const coverage = new Coverage(offered.map(({ terms }) => terms));
  const value = offered.map((candidate, position) => worth(candidate, offered.length - 1 - position));

  const chosen = new Set<number>();
  let left = Math.min(budget, most);
  const fill = (share: number, isMeant: (candidate: Candidate) => boolean): void => {
    let own = budget * share;
    let taken = 0;
    const entries = [...offered.keys()].filter((position) => {
      const candidate = offered[position];
      return candidate !== undefined && !chosen.has(position) && isMeant(candidate);
    });
    const queue = new FallingQueue(entries, (position) => coverage.gain(position) * (value[position] ?? 0));
    for (let position = queue.take(); position !== undefined; position = queue.take()) {
      const tokens = offered[position]?.item.tokens ?? 0;
      // A small budget leaves room for one of each kind, where it leaves any.
      if (tokens > left || (tokens > own && taken > 0)) continue;
      chosen.add(position);
      coverage.take(position);
      taken += 1;
      own -= tokens;
      left -= tokens;
    }
  };
  for (const { section, share, leastWeight } of SHARES) {
    fill(share, ({ item, weight }) => item.section === section && weight >= leastWeight);
  }
  fill(1, () => true);
  return offered.filter((_, position) => chosen.has(position)).map(({ item }) => item);
}

// Of the budget, and in this order: what each section gets for its outspoken items.
const SHARES: readonly { section: Section; share: number; leastWeight: number }[] = [
  { section: 'decisions', share: 0.5, leastWeight: 3 },
  { section: 'goals', share: 0.12, leastWeight: 3 },
  { section: 'requirements', share: 0.45, leastWeight: 3 },
  { section: 'importantReferences', share: 0.2, leastWeight: 2 },
  { section: 'decisions', share: 0.15, leastWeight: 2 },
  { section: 'definitions', share: 0.08, leastWeight: 2 },
  { section: 'openQuestions', share: 0.08, leastWeight: 2 },
  { section: 'currentPlan', share: 0.08, leastWeight: 2 },
  { section: 'importantReferences', share: 0.04, leastWeight: 0 },
];

/** What each unit of coverage counts for: more for a cue and for what is new, less for each token it costs. */
function worth({ weight, item }: Candidate, age: number): number {
  const perToken = 1 / (Math.sqrt(item.tokens) * Math.sqrt(Math.sqrt(item.tokens)));
  return perToken * (1 + 0.2 * weight) * (1 + 0.2 / (1 + age / RECENT));
}

/** In items: after so many newer ones the bonus for being new has halved. */
const RECENT = 40;
