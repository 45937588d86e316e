import type { Sliced } from '../../base/slices.js';
import type { SummaryItem } from '../../store/summary.js';
import { plainWords } from './cues.js';
import { type Candidate, EXCERPT, type Offers } from './offers.js';

interface Source extends Candidate {
  message: number;
  /** The numbers of its terms, and of the pairs of terms that stand close together in it. */
  concepts: readonly number[];
}

/** The possible entries of a conversation's summaries. What does not depend on their size is done once. */
interface Sources {
  all: readonly Source[];
  /** For each concept, how often the conversation comes back to it. */
  repeats: readonly number[];
}

/** The candidates of live messages, without answered questions. Of those with the same words, the newest stays. */
export function* sourcesOf(
  messages: readonly { live: boolean; role: string; offers: () => Offers }[],
): Sliced<Sources> {
  const all: Source[] = [];
  const repeats: number[] = [];
  const numbers = new Map<number, number>();
  const numberOf = (concept: number): number => {
    const number = numbers.get(concept) ?? numbers.size;
    numbers.set(concept, number);
    repeats[number] = (repeats[number] ?? -1) + 1;
    return number;
  };
  const seen = new Set<string>();
  // For each speaker, the nearest reply to the messages before it. The nearest of all comes last.
  const replies = new Map<string, Offers['reply']>();
  for (const [message, { live, role, offers }] of [...messages.entries()].reverse()) {
    if (!live) continue;
    const { candidates, reply } = offers();
    const isAnswered = [...replies].findLast(([other]) => other !== role)?.[1] === 'answer';
    for (const candidate of [...candidates].reverse()) {
      yield;
      const { section, text, term = '' } = candidate.item;
      const key = `${section} ${plainWords(`${term} ${text}`) || text}`;
      if (seen.has(key) || (section === 'openQuestions' && isAnswered)) continue;
      seen.add(key);
      const concepts = conceptsOf(candidate.terms, numbers.size < MOST_CONCEPTS ? PAIR_REACH : 0).map(numberOf);
      all.push({ ...candidate, message, concepts });
    }
    if (reply === 'nothing') continue;
    replies.delete(role);
    replies.set(role, reply);
  }
  return { all: all.reverse(), repeats };
}

function conceptsOf(terms: readonly number[], reach: number): number[] {
  const pairs = terms.flatMap((a, i) =>
    terms.slice(i + 1, i + 1 + reach).map((b) => (Math.imul(Math.min(a, b), 31) + Math.max(a, b)) | 0),
  );
  return [...new Set([...terms, ...pairs])];
}

/** The statements of a conversation, those of pinned messages included. */
export function statementsIn({ all }: Sources): SummaryItem[] {
  return all.map(({ item }) => item).filter(({ section }) => !/importantReferences|openQuestions/.test(section));
}

/**
 * Writes a summary of at most `limit` tokens: what the conversation often comes back to, and what is not yet said. Each
 * round takes what adds enough for its tokens, and the next one asks for less. It only uses sums, products and square
 * roots, which give the same bits on every platform.
 */
export function* summaryOf(
  { all, repeats }: Sources,
  isTaken: (message: number) => boolean,
  limit: number,
): Sliced<SummaryItem[]> {
  const worths = Float64Array.from(repeats, Math.sqrt);
  const worth = ({ concepts, item }: Source): number => {
    let sum = 0;
    for (const concept of concepts) sum += worths[concept] ?? 0;
    return sum / Math.sqrt(item.tokens);
  };
  const chosen = new Set<Source>();
  let left = limit;
  for (const { isMeant, share } of SHARES) {
    let room = Math.min(left, limit * share);
    const meant = all.filter((one) => isTaken(one.message) && isMeant(one.item) && !chosen.has(one));
    let rest: { one: Source; most: number }[] = [];
    for (const one of meant) {
      rest.push({ one, most: worth(one) });
      yield;
    }
    let least = rest.reduce((highest, { most }) => Math.max(highest, most), 0);
    for (let round = 1; round <= ROUNDS; round += 1) {
      yield;
      least = round === ROUNDS ? 0 : least * LESS_EACH_ROUND;
      const later: typeof rest = [];
      for (const entry of rest) {
        const { one } = entry;
        if (one.item.tokens > room) continue;
        if (entry.most >= least) {
          entry.most = worth(one); // it only falls
          yield;
        }
        if (entry.most < least) {
          later.push(entry);
          continue;
        }
        chosen.add(one);
        room -= one.item.tokens;
        left -= one.item.tokens;
        for (const concept of one.concepts) worths[concept] = (worths[concept] ?? 0) * SAID_AGAIN;
      }
      rest = later;
    }
  }
  return itemsOf(all.filter((one) => chosen.has(one)));
}

/** The sentences of one message form one item, with `…` where others are left out between them. */
function itemsOf(chosen: readonly Source[]): SummaryItem[] {
  const items: SummaryItem[] = [];
  let last: Source | undefined;
  for (const one of chosen) {
    const open = items.at(-1);
    const { sentence, message, item } = one;
    if (sentence === undefined) items.push(item);
    else if (open !== undefined && last?.sentence !== undefined && last.message === message) {
      open.text += sentence === last.sentence + 1 ? item.text : `${item.text.charAt(0)}…${item.text}`;
      open.tokens += item.tokens;
    } else items.push({ ...item, text: item.text.slice(1) });
    last = one;
  }
  return items;
}

/** In terms: the largest distance within a pair. */
const PAIR_REACH = 8;
/** Beyond it, no further pairs are looked at: they would need too much memory. */
const MOST_CONCEPTS = 500_000;
const ROUNDS = 24;
const LESS_EACH_ROUND = 0.85;
/** The worth of a concept is multiplied by this each time it is said. */
const SAID_AGAIN = 0.3;

/** What is chosen first, and the share of the budget that it may take. */
const SHARES: readonly { isMeant: (item: SummaryItem) => boolean; share: number }[] = [
  { isMeant: ({ section }) => section === 'decisions', share: 1 },
  { isMeant: ({ section }) => /requirements|goals/.test(section), share: 1 },
  { isMeant: ({ type = EXCERPT }) => type !== EXCERPT, share: 0.2 },
  { isMeant: ({ section }) => section !== 'importantReferences', share: 0.1 },
  { isMeant: ({ section }) => section === 'importantReferences', share: 1 },
];
