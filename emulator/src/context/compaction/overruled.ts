import type { Sliced } from '../../base/slices.js';
import { isSimilar, overlap } from '../../text/terms.js';
import type { Candidate } from './candidates.js';

/** Keeps only the newest of several statements of the same thing in the same section. */
export function* withoutRepeated<T extends { candidate: Candidate }>(entries: readonly T[]): Sliced<T[]> {
  const rareFirst = yield* rarestTerms(entries);
  const index = new KeyIndex<Candidate>();
  const kept: T[] = [];
  for (const entry of [...entries].reverse()) {
    yield;
    const { candidate } = entry;
    const keys = rareFirst(candidate).map((term) => `${candidate.item.section} ${term}`);
    if (candidate.item.id !== undefined) keys.push(candidate.item.id);
    if (index.some(keys, (other) => isSame(candidate, other))) continue;
    kept.push(entry);
    index.add(keys, candidate);
  }
  return kept.reverse();
}

function isSame(a: Candidate, b: Candidate): boolean {
  if (a.item.id !== undefined && a.item.id === b.item.id) return true;
  return isSimilar(a.terms, b.terms) && particulars(a.item.text) === particulars(b.item.text);
}

/** The names in a text, and whether it denies something: the terms of a text contain neither. */
function particulars(text: string): string {
  return [NEGATION.test(text), ...new Set(text.match(NAMES))].sort().join(' ');
}

/** Words with a capital letter, except at the beginning of a sentence. */
const NAMES = /(?<=[\p{L}\p{N},;:] )\p{Lu}[\p{L}\p{N}]+/gu;
const NEGATION = /\b(?:not|never|no|none|without|cannot|\w+n['’]t)\b/i;

/**
 * If two sets share four fifths of their terms, the rarest fifth plus one of each set have a term in common. So only
 * sets with such a common term need to be compared.
 */
function* rarestTerms(entries: readonly { candidate: Candidate }[]): Sliced<(candidate: Candidate) => string[]> {
  const counts = new Map<string, number>();
  for (const { candidate } of entries) {
    for (const term of candidate.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    yield;
  }
  const compare = (a: string, b: string): number => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : 1);
  return ({ terms }) => [...terms].sort(compare).slice(0, Math.floor(terms.size / 5) + 1);
}

/** Drops decisions that a later decision revokes. */
export function* withoutRevoked<T extends { candidate: Candidate }>(entries: readonly T[]): Sliced<T[]> {
  const earlier = new KeyIndex<Candidate>();
  const revoked = new Set<Candidate>();
  for (const { candidate } of entries) {
    if (candidate.item.section !== 'decisions') continue;
    yield;
    const terms = [...candidate.terms];
    if (candidate.revises) {
      for (const other of earlier.all(terms)) if (isAbout(candidate, other)) revoked.add(other);
    }
    earlier.add(terms, candidate);
  }
  return entries.filter(({ candidate }) => !revoked.has(candidate));
}

function isAbout(later: Candidate, earlier: Candidate): boolean {
  const shared = overlap(earlier.terms, later.terms);
  return shared >= 2 && shared >= Math.min(earlier.terms.size, later.terms.size) * 0.4;
}

/** Drops questions that a later decision answers: it shares at least half of their terms. */
export function* withoutAnswered<T extends { candidate: Candidate }>(entries: readonly T[]): Sliced<T[]> {
  const later = new KeyIndex<Candidate>();
  const answered = new Set<Candidate>();
  for (const { candidate } of [...entries].reverse()) {
    const { item, terms } = candidate;
    if (item.section === 'decisions') later.add([...terms], candidate);
    if (item.section !== 'openQuestions') continue;
    yield;
    const isAnswer = (decision: Candidate): boolean => {
      const shared = overlap(terms, decision.terms);
      return shared >= 2 && shared * 2 >= terms.size;
    };
    if (later.some([...terms], isAnswer)) answered.add(candidate);
  }
  return entries.filter(({ candidate }) => !answered.has(candidate));
}

/** An index of entries by key. It keeps only the last entries of a common key; comparing all would be quadratic. */
class KeyIndex<T> {
  readonly #byKey = new Map<string, T[]>();

  add(keys: readonly string[], entry: T): void {
    for (const key of keys) {
      const entries = this.#byKey.get(key);
      if (entries === undefined) this.#byKey.set(key, [entry]);
      else if (entries.push(entry) > MOST_PER_KEY) entries.shift();
    }
  }

  all(keys: readonly string[]): Set<T> {
    return new Set(keys.flatMap((key) => this.#byKey.get(key) ?? []));
  }

  some(keys: readonly string[], fits: (entry: T) => boolean): boolean {
    for (const entry of this.all(keys)) if (fits(entry)) return true;
    return false;
  }
}

const MOST_PER_KEY = 32;
