import { overlap, saysTheSame } from '../terms.js';
import type { Candidate } from './candidates.js';

/** Of several wordings of one thing in one section the newest stays. */
export function withoutRepeated(candidates: readonly Candidate[]): Candidate[] {
  const rareFirst = rarestTerms(candidates);
  const byTerm = new Map<string, Candidate[]>();
  const kept: Candidate[] = [];
  for (const candidate of [...candidates].reverse()) {
    const keys = rareFirst(candidate).map((term) => `${candidate.item.section} ${term}`);
    if (candidate.item.id !== undefined) keys.push(candidate.item.id);
    const near = keys.flatMap((key) => byTerm.get(key) ?? []);
    if (near.some((other) => isSame(candidate, other))) continue;
    kept.push(candidate);
    for (const key of keys) {
      const list = byTerm.get(key);
      if (list === undefined) byTerm.set(key, [candidate]);
      else list.push(candidate);
    }
  }
  return kept.reverse();
}

function isSame(a: Candidate, b: Candidate): boolean {
  return saysTheSame(a.terms, b.terms) || (a.item.id !== undefined && a.item.id === b.item.id);
}

/**
 * Two sets that share four fifths of their terms share one of the rarest fifth and one more of either, so only those
 * need to be compared.
 */
function rarestTerms(candidates: readonly Candidate[]): (candidate: Candidate) => string[] {
  const counts = new Map<string, number>();
  for (const { terms } of candidates) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const compare = (a: string, b: string): number => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : 1);
  return ({ terms }) => [...terms].sort(compare).slice(0, Math.floor(terms.size / 5) + 1);
}

/** A decision that a later one takes back is gone. */
export function withoutRevoked(candidates: readonly Candidate[]): Candidate[] {
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

/** A question is no longer open once a later decision speaks of half of its terms. */
export function withoutAnswered(candidates: readonly Candidate[]): Candidate[] {
  const decisions = candidates
    .map((candidate, position) => ({ position, terms: candidate.terms, section: candidate.item.section }))
    .filter(({ section }) => section === 'decisions');
  return candidates.filter(({ item, terms }, position) => {
    if (item.section !== 'openQuestions') return true;
    return !decisions.some((decision) => {
      if (decision.position < position) return false;
      const shared = overlap(terms, decision.terms);
      return shared >= 2 && shared * 2 >= terms.size;
    });
  });
}
