import { contentTerms } from '../../src/text/terms.js';
import { overlap } from './overlap.js';

/**
 * TextRank as originally published: PageRank on a graph of sentences, weighted by their shared words over the
 * logarithms of their lengths. Returns the best sentence first. Sentences of one word are left out: the logarithm of
 * their length is 0, and "yeah" would win.
 */
export function textRank(all: readonly string[]): string[] {
  const sentences = all.filter((sentence) => new Set(contentTerms(sentence)).size > 1);
  const terms = sentences.map((sentence) => new Set(contentTerms(sentence)));
  const ties = terms.map((a, i) =>
    terms.flatMap((b, j) => {
      const shared = i === j ? 0 : overlap(a, b);
      return shared === 0 ? [] : [{ to: j, weight: shared / (Math.log(a.size) + Math.log(b.size)) }];
    }),
  );
  let ranks = sentences.map(() => 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = sentences.map(() => 1 - DAMPING);
    ties.forEach((targets, from) => {
      const sum = targets.reduce((total, { weight }) => total + weight, 0);
      for (const { to, weight } of targets) next[to] = (next[to] ?? 0) + (DAMPING * (ranks[from] ?? 0) * weight) / sum;
    });
    ranks = next;
  }
  return sentences
    .map((sentence, i) => ({ sentence, i, rank: ranks[i] ?? 0 }))
    .sort((a, b) => b.rank - a.rank || a.i - b.i)
    .map(({ sentence }) => sentence);
}

const ROUNDS = 30;
const DAMPING = 0.85;
