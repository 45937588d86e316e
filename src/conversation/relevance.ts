import { termsOf } from './terms.js';

/** How well a text answers a question. */
export interface Relevance {
  /** BM25 for texts of about the same length (`b` = 0) in which a term counts once. Only its order means something. */
  score: number;
  /** The share of the question's terms that the text has, rare ones weighing more. 0 to 1. */
  coverage: number;
}

/** Rates texts, as their terms, against a question. */
export function relevanceOf(documents: readonly ReadonlySet<string>[], question: string): Relevance[] {
  const weights = [...termsOf(question)].map((term) => {
    const holders = documents.filter((document) => document.has(term)).length;
    return { term, weight: Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5)) };
  });
  const whole = weights.reduce((sum, { weight }) => sum + weight, 0) || 1;
  return documents.map((document) => {
    const score = weights.reduce((sum, { term, weight }) => sum + (document.has(term) ? weight : 0), 0);
    return { score, coverage: score / whole };
  });
}
