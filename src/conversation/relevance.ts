import { termsOf } from './terms.js';

/** How well a text matches a question. */
export interface Relevance {
  /** BM25 for texts of similar length (`b` = 0), counting each term once. Only the order of scores is meaningful. */
  score: number;
  /** The share of the question's terms that the text contains, with rare terms weighted higher. From 0 to 1. */
  coverage: number;
}

/** Rates texts, given with their terms, against a question. */
export function relevanceOf(documents: readonly { terms: ReadonlySet<string> }[], question: string): Relevance[] {
  const weights = [...termsOf(question)].map((term) => {
    const holders = documents.filter(({ terms }) => terms.has(term)).length;
    return { term, weight: Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5)) };
  });
  const whole = weights.reduce((sum, { weight }) => sum + weight, 0) || 1;
  return documents.map(({ terms }) => {
    const score = weights.reduce((sum, { term, weight }) => sum + (terms.has(term) ? weight : 0), 0);
    return { score, coverage: score / whole };
  });
}
