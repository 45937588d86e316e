import { overlap, saysTheSame } from '../terms.js';
import type { Candidate } from './candidates.js';
import { centrality } from './rank.js';
import type { Section, SummaryItem } from './summary.js';

/**
 * The items that fit, in the order of the conversation. Wording comes first: each section's share of the budget is
 * filled by its strongest items, and what is left over goes to the strongest of all. The whole stays within `most`;
 * asked again with what it used as `most`, it gives the same items.
 */
export function selectItems(candidates: readonly Candidate[], budget: number, most: number): SummaryItem[] {
  const standing = withoutAnswered(withoutRevoked(withoutRepeated(candidates)));
  const scores = score(standing);
  const ranked = standing
    .map((candidate, position) => ({ candidate, position, score: scores[position] ?? 0 }))
    .sort((a, b) => b.score - a.score || b.position - a.position);

  const chosen = new Set<number>();
  const spent = new Map<Section, number>();
  let left = Math.min(budget, most);
  const fill = (section: Section | undefined, share: number, leastWeight: number): void => {
    for (const { candidate, position } of ranked) {
      const { section: own, tokens } = candidate.item;
      const used = spent.get(own) ?? 0;
      if (chosen.has(position) || tokens > left || candidate.weight < leastWeight) continue;
      if (section !== undefined && (own !== section || used + tokens > budget * share)) continue;
      chosen.add(position);
      spent.set(own, used + tokens);
      left -= tokens;
    }
  };
  for (const { section, share, leastWeight } of SHARES) fill(section, share, leastWeight);
  fill(undefined, 1, 0);
  return standing.filter((_, position) => chosen.has(position)).map((candidate) => candidate.item);
}

// What was decided and demanded in so many words comes before everything else.
const SHARES: readonly { section: Section; share: number; leastWeight: number }[] = [
  { section: 'decisions', share: 0.5, leastWeight: 3 },
  { section: 'requirements', share: 0.35, leastWeight: 3 },
  { section: 'decisions', share: 0.3, leastWeight: 0 },
  { section: 'requirements', share: 0.2, leastWeight: 0 },
  { section: 'openQuestions', share: 0.1, leastWeight: 0 },
  { section: 'goals', share: 0.1, leastWeight: 0 },
  { section: 'currentPlan', share: 0.1, leastWeight: 0 },
  { section: 'importantReferences', share: 0.12, leastWeight: 0 },
  { section: 'definitions', share: 0.08, leastWeight: 0 },
];

/** Of several wordings of one thing the newest stays. */
function withoutRepeated(candidates: readonly Candidate[]): Candidate[] {
  const kept: Candidate[] = [];
  const byTerm = new Map<string, Candidate[]>();
  for (const candidate of [...candidates].reverse()) {
    const near = new Set<Candidate>();
    for (const term of candidate.terms) {
      for (const other of byTerm.get(`${candidate.item.section} ${term}`) ?? []) near.add(other);
    }
    const repeated = [...near].some(
      (other) =>
        saysTheSame(candidate.terms, other.terms) ||
        (other.item.id !== undefined && other.item.id === candidate.item.id),
    );
    if (repeated) continue;
    kept.push(candidate);
    for (const term of candidate.terms) {
      const key = `${candidate.item.section} ${term}`;
      const list = byTerm.get(key);
      if (list === undefined) byTerm.set(key, [candidate]);
      else list.push(candidate);
    }
  }
  return kept.reverse();
}

/** A decision that a later one takes back is gone. */
function withoutRevoked(candidates: readonly Candidate[]): Candidate[] {
  const decisions = candidates.filter(({ item }) => item.section === 'decisions');
  const revoked = new Set<Candidate>();
  decisions.forEach((later, i) => {
    if (!later.revises) return;
    for (const earlier of decisions.slice(0, i)) {
      const shared = overlap(earlier.terms, later.terms);
      if (shared >= 2 && shared >= Math.min(earlier.terms.size, later.terms.size) * 0.4) revoked.add(earlier);
    }
  });
  return candidates.filter((candidate) => !revoked.has(candidate));
}

/** A question is no longer open once a later decision speaks of most of its terms. */
function withoutAnswered(candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter((candidate, position) => {
    if (candidate.item.section !== 'openQuestions') return true;
    return !candidates
      .slice(position + 1)
      .some(
        ({ item, terms }) =>
          item.section === 'decisions' &&
          overlap(candidate.terms, terms) * 2 >= candidate.terms.size &&
          overlap(candidate.terms, terms) >= 2,
      );
  });
}

function score(candidates: readonly Candidate[]): number[] {
  const central = centrality(candidates.map(({ terms }) => terms));
  return candidates.map(({ weight }, position) => {
    const age = candidates.length - 1 - position;
    return weight * 10 + (central[position] ?? 0) * 6 + 3 * 0.5 ** (age / RECENCY_HALF_LIFE);
  });
}

/** In items: after so many newer ones the bonus for being new has halved. */
const RECENCY_HALF_LIFE = 40;
