/**
 * TextRank: how central each sentence is, between 0 and 1. Two sentences are tied by the rare terms they share; an
 * inverted index that leaves out very frequent terms keeps the work nearly linear.
 */
export function centrality(sentences: readonly ReadonlySet<string>[]): number[] {
  const edges = sharedTermEdges(sentences);
  const outgoing = edges.map((targets) => [...targets.values()].reduce((sum, weight) => sum + weight, 0));
  let ranks = sentences.map(() => 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = sentences.map(() => 1 - DAMPING);
    edges.forEach((targets, from) => {
      const share = (DAMPING * (ranks[from] ?? 0)) / (outgoing[from] || 1);
      for (const [to, weight] of targets) next[to] = (next[to] ?? 0) + share * weight;
    });
    ranks = next;
  }
  const highest = ranks.reduce((max, rank) => Math.max(max, rank), 0) || 1;
  return ranks.map((rank) => rank / highest);
}

function sharedTermEdges(sentences: readonly ReadonlySet<string>[]): Map<number, number>[] {
  const index = new Map<string, number[]>();
  sentences.forEach((terms, i) => {
    for (const term of terms) {
      const postings = index.get(term);
      if (postings === undefined) index.set(term, [i]);
      else postings.push(i);
    }
  });
  const edges = sentences.map(() => new Map<number, number>());
  for (const postings of index.values()) {
    if (postings.length < 2 || postings.length > MOST_POSTINGS) continue;
    const weight = Math.log(1 + sentences.length / postings.length);
    for (let i = 0; i < postings.length; i += 1) {
      for (let j = i + 1; j < postings.length; j += 1) {
        const a = postings[i] ?? 0;
        const b = postings[j] ?? 0;
        const tie = weight / Math.log(2 + (sentences[a]?.size ?? 0) + (sentences[b]?.size ?? 0));
        edges[a]?.set(b, (edges[a]?.get(b) ?? 0) + tie);
        edges[b]?.set(a, (edges[b]?.get(a) ?? 0) + tie);
      }
    }
  }
  return edges;
}

const ROUNDS = 12;
const DAMPING = 0.85;
const MOST_POSTINGS = 60;
